// A comparison as one page that needs nothing but itself.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/comparison.h"

namespace berth::report {

struct ComparePage {
  std::string title;
  std::string summary;                                     // a paragraph
  std::vector<std::pair<std::string, std::string>> facts;  // what was run, in words
  std::span<const Comparison> tables;                      // those without policies are left out
  double gpus = 0;                                         // of the cluster
};

[[nodiscard]] std::string compare_page(const ComparePage& page);

}  // namespace berth::report
