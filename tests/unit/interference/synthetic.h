// Invented co-locations with a known law, for tests.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"

namespace berth::interference {

struct SyntheticOptions {
  int jobs = 10;
  int repeats = 1;     // of every row, exactly
  bool noise = false;  // the rate has nothing to do with the jobs
  bool leak = false;   // a column is the rate in another unit
};

// CSV: two parameters a job; every unordered pair once, both directions.
inline std::string synthetic_csv(const SyntheticOptions& options, Rng rng) {
  std::string out = "device,subject,corunners,solo.sm,solo.rx,co.sm,co.rx";
  out += options.leak ? ",shared.cost,interference_rate\n" : ",interference_rate\n";
  std::vector<double> sm;
  std::vector<double> rx;
  for (int i = 0; i < options.jobs; ++i) {
    sm.push_back(rng.uniform(10, 100));
    rx.push_back(rng.uniform(1, 10));
  }
  const auto add = [&](int a, int b) {
    const double pressure = std::max(0.0, sm[a] + sm[b] - 100.0) / 100.0 + 0.02 * rx[a] * rx[b];
    const double rate = options.noise ? rng.uniform(0, 1) : pressure * rng.uniform(0.98, 1.02);
    std::string line = fmt::format("gpu,j{},j{},{},{},{},{}", a, b, sm[a], rx[a], sm[b], rx[b]);
    if (options.leak) line += fmt::format(",{}", std::pow(1.0 + rate, 3) * 7.0);
    line += fmt::format(",{}\n", rate);
    for (int r = 0; r < options.repeats; ++r) out += line;
  };
  for (int a = 0; a < options.jobs; ++a) {
    for (int b = a; b < options.jobs; ++b) {
      add(a, b);
      if (a != b) add(b, a);
    }
  }
  return out;
}

}  // namespace berth::interference
