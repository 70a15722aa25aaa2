// What every technique needs: checks of its input, its parameters, and its numbers in JSON.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "interference/technique.h"

namespace berth::interference {

// The largest number in a model: products of two of them with a feature stay finite, or are caught.
inline constexpr double kMaxModelNumber = 1e200;

// Shapes that fit, at least one row and one feature, finite values up to kMaxMagnitude.
[[nodiscard]] Status check_training_data(const Matrix& x, const Vector& y);

// kUsage unless low <= value <= high.
[[nodiscard]] Status check_parameter(std::string_view name, double value, double low, double high);

// The value of a name, or `fallback` when it is not there.
[[nodiscard]] double parameter(const Params& params, std::string_view name, double fallback);
// The defaults with some values replaced: one point of a grid.
[[nodiscard]] Params with(Params params, const Params& changes);

// Of kernels: 1/(features * variance over all cells); 1 when every cell is the same.
[[nodiscard]] double gamma_scale(const Matrix& x);

[[nodiscard]] inline double finite_or(double value, double fallback) {
  return std::isfinite(value) ? value : fallback;
}

// Reads the fields of one JSON object; every error names the field. Nothing that a damaged file may
// hold gets past it: numbers are finite, counts are bounded.
class FieldReader {
 public:
  explicit FieldReader(const nlohmann::json& object) : object_(object) {}

  [[nodiscard]] Result<double> number(const char* field) const;
  [[nodiscard]] Result<std::int64_t> integer(const char* field, std::int64_t low,
                                             std::int64_t high) const;
  // `size` values, or any number of them when it is negative.
  [[nodiscard]] Result<std::vector<double>> numbers(const char* field,
                                                    std::int64_t size = -1) const;
  [[nodiscard]] Result<std::vector<std::int32_t>> integers(const char* field, std::int64_t size,
                                                           std::int64_t low,
                                                           std::int64_t high) const;
  [[nodiscard]] Result<const nlohmann::json*> array(const char* field) const;

 private:
  [[nodiscard]] Result<const nlohmann::json*> member(const char* field) const;

  const nlohmann::json& object_;
};

// The most features, and the most rows or nodes, that a model file may claim.
inline constexpr std::int64_t kMaxFeatures = 100'000;

[[nodiscard]] Error damaged_model(const char* field, std::string found, std::string expected);

// A JSON array of the values of an Eigen expression or a container.
template <class Values>
[[nodiscard]] nlohmann::json json_array(const Values& values) {
  auto array = nlohmann::json::array();
  for (const auto value : values) array.push_back(value);
  return array;
}

}  // namespace berth::interference
