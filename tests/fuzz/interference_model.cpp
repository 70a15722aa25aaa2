// Reads a model file from arbitrary bytes. What is accepted predicts finite numbers, low <= rate <=
// high, and reads back the same.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "interference/rate_model.h"

namespace {

using namespace berth::interference;  // NOLINT(google-build-using-namespace)

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto model = RateModel::from_text("fuzz.json", bytes);
  if (!model) {
    require(model.error().exit_code() == 2);
    return 0;
  }
  const std::vector<double> raw(model->features().features().size(), 0.5);
  const std::vector<JobIndex> beside{0};
  const Prediction p = model->ensemble().predict(raw, 1, beside);
  require(std::isfinite(p.rate) && std::isfinite(p.low) && std::isfinite(p.high));
  require(p.low <= p.rate && p.rate <= p.high);
  const auto again = RateModel::from_text("again.json", model->to_text());
  require(again.has_value());
  require(again->ensemble().predict(raw, 1, beside).rate == p.rate);
  return 0;
}
