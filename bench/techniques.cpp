// Fitting each technique to 1,000 rows of 12 features, and predicting one row.
//   build/release/bench/micro_bench --benchmark_filter=technique
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "interference/technique.h"

namespace {

using namespace berth::interference;  // NOLINT: a benchmark speaks of nothing else

struct Data {
  Matrix x;
  Vector y;
};

Data made_data() {
  berth::Rng rng(3);
  Data data{Matrix(1000, 12), Vector(1000)};
  for (Eigen::Index i = 0; i < 1000; ++i) {
    for (Eigen::Index j = 0; j < 12; ++j) data.x(i, j) = rng.normal();
    data.y[i] = std::sin(2.0 * data.x(i, 0)) + 0.5 * data.x(i, 1) * data.x(i, 1) -
                0.3 * data.x.row(i).mean() + 0.1 * rng.normal();
  }
  return data;
}

void fit(benchmark::State& state, const TechniqueInfo& info) {
  const Data data = made_data();
  for (auto _ : state) {
    const auto model = info.make(info.defaults);
    if (!model->fit(data.x, data.y, berth::Rng(1))) state.SkipWithError("refused");
  }
}

void predict(benchmark::State& state, const TechniqueInfo& info) {
  const Data data = made_data();
  const auto model = info.make(info.defaults);
  if (!model->fit(data.x, data.y, berth::Rng(1))) state.SkipWithError("refused");
  Eigen::Index row = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(model->predict({data.x.row(row).data(), 12}));
    row = (row + 1) % data.x.rows();
  }
}

const bool kRegistered = [] {
  for (const auto& info : all_techniques()) {
    const std::string name(info.name);
    benchmark::RegisterBenchmark(("technique/fit/" + name).c_str(), fit, info)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("technique/predict/" + name).c_str(), predict, info)
        ->Unit(benchmark::kMicrosecond);
  }
  return true;
}();

}  // namespace
