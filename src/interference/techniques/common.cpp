#include "interference/techniques/common.h"

#include <fmt/format.h>

namespace berth::interference {
namespace {

std::string shown(const nlohmann::json& value) {
  using Handler = nlohmann::json::error_handler_t;
  return printable(value.dump(-1, ' ', false, Handler::replace), 40);
}

bool acceptable(double value) {
  return std::abs(value) <= kMaxMagnitude;  // false for nan
}

bool readable(double value) {
  return std::abs(value) <= kMaxModelNumber;
}

std::string range(std::int64_t low, std::int64_t high) {
  return fmt::format("an integer from {} to {}", low, high);
}

bool is_integer_between(const nlohmann::json& value, std::int64_t low, std::int64_t high) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) {
    return false;
  }
  const auto number = value.get<std::int64_t>();
  return low <= number && number <= high;
}

}  // namespace

Status check_training_data(const Matrix& x, const Vector& y) {
  if (x.rows() < 1 || x.cols() < 1)
    return fail(usage_error("no rows or no features to learn from"));
  if (x.rows() != y.size()) {
    return fail(usage_error(fmt::format("{} rows but {} targets", x.rows(), y.size())));
  }
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    if (!acceptable(y[row])) {
      return fail(usage_error(fmt::format("the target of row {} is not a usable number", row)));
    }
    for (Eigen::Index column = 0; column < x.cols(); ++column) {
      if (acceptable(x(row, column))) continue;
      return fail(
          usage_error(fmt::format("feature {} of row {} is not a usable number", column, row)));
    }
  }
  return {};
}

Status check_parameter(std::string_view name, double value, double low, double high) {
  if (low <= value && value <= high) return {};
  return fail(
      usage_error(fmt::format("{}, expected {} to {}", value, low, high), std::string(name)));
}

double gamma_scale(const Matrix& x) {
  const double mean = x.mean();
  const double variance = (x.array() - mean).square().mean();
  const double gamma = 1.0 / (static_cast<double>(x.cols()) * variance);
  return variance > 0.0 && gamma <= 1e150 ? gamma : 1.0;
}

double parameter(const Params& params, std::string_view name, double fallback) {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  return fallback;
}

Params with(Params params, const Params& changes) {
  for (auto& [key, value] : params) value = parameter(changes, key, value);
  return params;
}

Error damaged_model(const char* field, std::string found, std::string expected) {
  return bad_input({}, 0, field, "damaged model", std::move(found), std::move(expected));
}

Result<const nlohmann::json*> FieldReader::member(const char* field) const {
  if (!object_.is_object()) return fail(damaged_model(field, shown(object_), "an object"));
  const auto found = object_.find(field);
  if (found == object_.end()) return fail(damaged_model(field, "nothing", "this field"));
  return &*found;
}

Result<double> FieldReader::number(const char* field) const {
  BERTH_TRY(const auto* value, member(field));
  if (value->is_number() && readable(value->get<double>())) return value->get<double>();
  return fail(damaged_model(field, shown(*value), "a finite number"));
}

Result<std::int64_t> FieldReader::integer(const char* field, std::int64_t low,
                                          std::int64_t high) const {
  BERTH_TRY(const auto* value, member(field));
  if (is_integer_between(*value, low, high)) return value->get<std::int64_t>();
  return fail(damaged_model(field, shown(*value), range(low, high)));
}

Result<const nlohmann::json*> FieldReader::array(const char* field) const {
  BERTH_TRY(const auto* value, member(field));
  if (value->is_array()) return value;
  return fail(damaged_model(field, shown(*value), "an array"));
}

Result<std::vector<double>> FieldReader::numbers(const char* field, std::int64_t size) const {
  BERTH_TRY(const auto* values, array(field));
  if (size >= 0 && values->size() != static_cast<std::size_t>(size)) {
    return fail(damaged_model(field, fmt::format("{} values", values->size()),
                              fmt::format("{} values", size)));
  }
  std::vector<double> out;
  out.reserve(values->size());
  for (const auto& value : *values) {
    if (!value.is_number() || !readable(value.get<double>())) {
      return fail(damaged_model(field, shown(value), "finite numbers"));
    }
    out.push_back(value.get<double>());
  }
  return out;
}

Result<std::vector<std::int32_t>> FieldReader::integers(const char* field, std::int64_t size,
                                                        std::int64_t low, std::int64_t high) const {
  BERTH_TRY(const auto* values, array(field));
  if (size >= 0 && values->size() != static_cast<std::size_t>(size)) {
    return fail(damaged_model(field, fmt::format("{} values", values->size()),
                              fmt::format("{} values", size)));
  }
  std::vector<std::int32_t> out;
  out.reserve(values->size());
  for (const auto& value : *values) {
    if (!is_integer_between(value, low, high)) {
      return fail(damaged_model(field, shown(value), range(low, high)));
    }
    out.push_back(value.get<std::int32_t>());
  }
  return out;
}

}  // namespace berth::interference
