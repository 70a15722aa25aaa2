// Reads a table of co-locations from arbitrary bytes. What is accepted is sound, and gives finite
// or missing features in each mode that it has columns for.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "interference/evaluate.h"

namespace {

using namespace berth::interference;  // NOLINT(google-build-using-namespace)

void require(bool holds) {
  if (!holds) std::abort();
}

void check_mode(const Dataset& data, Mode mode) {
  const auto set = TrainingSet::make(data, mode);
  if (!set) return;
  for (Eigen::Index i = 0; i < set->raw.size(); ++i) require(!std::isinf(set->raw.data()[i]));
  for (const auto& leak : find_leaks(*set)) require(std::isfinite(leak.correlation));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const RateColumn rate : {RateColumn::kRequired, RateColumn::kOptional}) {
    const auto result = parse_dataset("fuzz.csv", bytes, rate);
    if (!result) {
      require(result.error().exit_code() == 2);
      continue;
    }
    require(!result->data.rows.empty());
    for (const Row& row : result->data.rows) {
      require(row.rate > -1.0 || std::isnan(row.rate) || rate == RateColumn::kOptional);
      require(!row.corunners.empty() && row.co.size() == row.corunners.size());
      require(row.index < result->data.file_rows);
    }
    check_mode(result->data, Mode::kSolo);
    check_mode(result->data, Mode::kMeasured);
    if (rate == RateColumn::kRequired && result->data.rows.size() < 200) {
      (void)make_folds(result->data, "pair", berth::Rng(1));
      (void)make_folds(result->data, "job", berth::Rng(1));
    }
  }
  return 0;
}
