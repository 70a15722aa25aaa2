#include "interference/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "interference/json_field.h"

namespace berth::interference {
namespace {

constexpr double kDecades = 100.0;     // max/min from which a positive counter enters as log10
constexpr double kFarthest = 1e6;      // standard deviations; beyond is cut
constexpr double kFullDevice = 100.0;  // per cent

std::optional<std::size_t> find(const std::vector<std::string>& names, std::string_view name) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return std::nullopt;
  return static_cast<std::size_t>(it - names.begin());
}

// "mem_used" and "mem_total": how much there is of what is used.
std::string capacity_name(std::string_view parameter) {
  const std::size_t at = parameter.find("used");
  if (at == std::string_view::npos) return {};
  std::string out(parameter);
  return out.replace(at, 4, "total");
}

bool is_percentage(std::string_view parameter) {
  for (const std::string_view word : {"util", "percent", "pct", "occupancy", "efficiency"}) {
    if (parameter.find(word) != std::string_view::npos) return true;
  }
  return parameter == "sm" || parameter == "mem";
}

double at(const std::vector<double>& values, std::optional<std::size_t> slot) {
  return slot ? values[*slot] : kMissingValue;
}

}  // namespace

std::string_view mode_name(Mode mode) {
  return mode == Mode::kSolo ? "solo" : "measured";
}

// Where the map's parameters stand in a data set.
struct FeatureMap::Columns {
  std::vector<std::optional<std::size_t>> solo;
  std::vector<std::optional<std::size_t>> co;
  std::vector<std::optional<std::size_t>> shared;
};

Result<FeatureMap> FeatureMap::make(const Dataset& data, Mode mode) {
  FeatureMap map;
  map.mode_ = mode;
  map.solo_ = data.solo;
  map.co_ = data.co;
  if (mode == Mode::kMeasured) map.shared_ = data.shared;
  if (data.devices.size() > 1) {
    for (std::uint32_t i = 0; i < data.devices.size(); ++i) {
      map.devices_.emplace_back(data.devices.name(i));
    }
  }
  map.many_corunners_ = std::any_of(data.rows.begin(), data.rows.end(),
                                    [](const Row& row) { return row.corunners.size() > 1; });
  if (mode == Mode::kMeasured && map.shared_.empty()) {
    return fail(bad_input(data.source, 1, "shared.<name>",
                          "mode 'measured' needs a parameter of the co-run", "none",
                          "a column shared.<name>; or use --mode solo"));
  }
  if (mode == Mode::kSolo && map.solo_.empty() && map.co_.empty()) {
    return fail(bad_input(data.source, 1, "solo.<name>",
                          "mode 'solo' needs a parameter of the jobs alone", "none",
                          "columns solo.<name> and co.<name>; or use --mode measured"));
  }
  map.list_features();
  return map;
}

void FeatureMap::list_features() {
  features_.clear();
  const auto add = [this](std::string_view prefix, const std::string& parameter, FeatureRole role) {
    features_.push_back(
        {fmt::format("{}.{}", prefix, parameter), category_of(parameter), role, parameter});
  };
  for (const auto& name : devices_) {
    features_.push_back({"device." + name, Category::kOther, FeatureRole::kSubject, {}});
  }
  for (const auto& name : solo_) add("solo", name, FeatureRole::kSubject);
  for (const auto& name : co_) add("co", name, FeatureRole::kPartner);
  if (many_corunners_) {
    features_.push_back({"corunners", Category::kOther, FeatureRole::kPartner, {}});
  }
  for (const auto& name : shared_) {
    add(find(solo_, name) ? "change" : "shared", name, FeatureRole::kCorun);
  }
  for (const auto& name : solo_) {
    if (!find(co_, name)) continue;
    add("sum", name, FeatureRole::kComposed);
    add("max", name, FeatureRole::kComposed);
    add("share", name, FeatureRole::kComposed);
    if (is_percentage(name)) add("headroom", name, FeatureRole::kComposed);
    if (find(solo_, capacity_name(name))) add("overflow", name, FeatureRole::kComposed);
  }
}

Result<FeatureMap::Columns> FeatureMap::find_columns(const Dataset& data) const {
  Columns out;
  std::string missing;
  const auto look = [&](const std::vector<std::string>& wanted,
                        const std::vector<std::string>& there, std::string_view prefix) {
    std::vector<std::optional<std::size_t>> slots;
    for (const auto& name : wanted) {
      slots.push_back(find(there, name));
      if (!slots.back() && missing.empty()) missing = fmt::format("{}{}", prefix, name);
    }
    return slots;
  };
  out.solo = look(solo_, data.solo, "solo.");
  out.co = look(co_, data.co, "co.");
  out.shared = look(shared_, data.shared, "shared.");
  if (!missing.empty()) {
    return fail(bad_input(data.source, 1, missing, "a feature of the model is missing", "no column",
                          fmt::format("a column '{}' (empty cells are allowed)", missing)));
  }
  return out;
}

std::vector<double> FeatureMap::compose(const Columns& columns, const Dataset& data,
                                        const Row& row) const {
  std::vector<double> out;
  out.reserve(features_.size());
  for (const auto& name : devices_) {
    out.push_back(data.devices.name(row.device) == name ? 1.0 : 0.0);
  }
  std::vector<double> solo;
  for (const auto slot : columns.solo) solo.push_back(at(row.solo, slot));
  out.insert(out.end(), solo.begin(), solo.end());

  std::vector<double> sum(co_.size(), 0.0);
  std::vector<double> largest(co_.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < co_.size(); ++i) {
    for (const auto& partner : row.co) {
      const double value = at(partner, columns.co[i]);
      sum[i] += value;
      largest[i] = std::isnan(value) ? value : std::max(largest[i], value);
    }
  }
  out.insert(out.end(), sum.begin(), sum.end());
  if (many_corunners_) out.push_back(static_cast<double>(row.corunners.size()));

  for (std::size_t i = 0; i < shared_.size(); ++i) {
    const double value = at(row.shared, columns.shared[i]);
    const auto alone = find(solo_, shared_[i]);
    if (!alone) {
      out.push_back(value);
    } else {
      out.push_back(solo[*alone] != 0.0 ? value / solo[*alone] - 1.0 : kMissingValue);
    }
  }
  for (std::size_t i = 0; i < solo_.size(); ++i) {
    const auto other = find(co_, solo_[i]);
    if (!other) continue;
    const double total = solo[i] + sum[*other];
    out.push_back(total);
    out.push_back(std::isnan(total) ? total : std::max(solo[i], largest[*other]));
    out.push_back(total != 0.0 ? solo[i] / total : 0.5);
    if (is_percentage(solo_[i])) out.push_back(kFullDevice - total);
    if (const auto capacity = find(solo_, capacity_name(solo_[i]))) {
      const double over = total - solo[*capacity];
      out.push_back(std::isnan(over) ? over : std::max(over, 0.0));
    }
  }
  return out;
}

std::vector<double> FeatureMap::compose(const Dataset& data, const Row& row) const {
  const auto columns = find_columns(data);
  return columns ? compose(*columns, data, row)
                 : std::vector<double>(features_.size(), kMissingValue);
}

Result<Matrix> FeatureMap::compose_all(const Dataset& data) const {
  BERTH_TRY(const Columns columns, find_columns(data));
  Matrix out(static_cast<Eigen::Index>(data.rows.size()),
             static_cast<Eigen::Index>(features_.size()));
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const auto values = compose(columns, data, data.rows[i]);
    std::copy(values.begin(), values.end(), out.row(static_cast<Eigen::Index>(i)).data());
  }
  return out;
}

void FeatureMap::save(nlohmann::json& out) const {
  out = {{"mode", mode_name(mode_)}, {"solo", solo_},       {"co", co_},
         {"shared", shared_},        {"devices", devices_}, {"many_corunners", many_corunners_}};
}

Result<FeatureMap> FeatureMap::load(const nlohmann::json& in) {
  FeatureMap map;
  BERTH_TRY(const auto mode, json_field<std::string>(in, "mode"));
  if (mode != mode_name(Mode::kSolo) && mode != mode_name(Mode::kMeasured)) {
    return fail(bad_input({}, 0, "mode", "not valid", printable(mode), "solo or measured"));
  }
  map.mode_ = mode == mode_name(Mode::kSolo) ? Mode::kSolo : Mode::kMeasured;
  BERTH_TRY(map.solo_, json_field<std::vector<std::string>>(in, "solo"));
  BERTH_TRY(map.co_, json_field<std::vector<std::string>>(in, "co"));
  BERTH_TRY(map.shared_, json_field<std::vector<std::string>>(in, "shared"));
  BERTH_TRY(map.devices_, json_field<std::vector<std::string>>(in, "devices"));
  BERTH_TRY(map.many_corunners_, json_field<bool>(in, "many_corunners"));
  map.list_features();
  return map;
}

std::vector<std::size_t> select_features(std::span<const Feature> features, FeatureView view) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Feature& feature = features[i];
    if (feature.role == FeatureRole::kComposed && !view.composed) continue;
    if (view.corun_only && feature.role != FeatureRole::kCorun) continue;
    if (view.category != Category::kAll && feature.category != view.category) continue;
    out.push_back(i);
  }
  return out;
}

void Scaler::fit(std::span<const Feature> features, const Matrix& raw,
                 std::span<const std::size_t> rows) {
  columns_.assign(features.size(), {});
  std::map<std::string, std::pair<double, double>> range;  // of a parameter, on both sides
  const auto key = [&](std::size_t f) {
    const bool side =
        features[f].role == FeatureRole::kSubject || features[f].role == FeatureRole::kPartner;
    return side && !features[f].parameter.empty() ? features[f].parameter : ":" + features[f].name;
  };
  for (std::size_t f = 0; f < features.size(); ++f) {
    auto& [low, high] =
        range.try_emplace(key(f), std::numeric_limits<double>::infinity(), -1.0).first->second;
    for (const std::size_t row : rows) {
      const double value = raw(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(f));
      if (std::isnan(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  std::vector<double> values;
  for (std::size_t f = 0; f < features.size(); ++f) {
    Column& column = columns_[f];
    const auto [low, high] = range[key(f)];
    column.log = low > 0 && high > kDecades * low;
    values.clear();
    for (const std::size_t row : rows) {
      const double value = raw(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(f));
      if (!std::isnan(value)) values.push_back(column.log ? std::log10(value) : value);
    }
    if (values.empty()) continue;  // never measured: 0 for all
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    column.median = values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
    values.resize(rows.size(), column.median);
    double sum = 0;
    for (const double value : values) sum += value;
    column.mean = sum / static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values) squares += (value - column.mean) * (value - column.mean);
    const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
    // A constant up to rounding says nothing.
    column.scale = deviation > 1e-12 * (1.0 + std::abs(column.mean)) ? deviation : 1.0;
  }
}

void Scaler::apply(std::span<const double> raw, std::span<double> out) const {
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    const Column& column = columns_[f];
    double value = raw[f];
    if (column.log) value = value > 0 ? std::log10(value) : kMissingValue;
    if (std::isnan(value)) value = column.median;
    out[f] = std::clamp((value - column.mean) / column.scale, -kFarthest, kFarthest);
  }
}

Matrix Scaler::apply(const Matrix& raw, std::span<const std::size_t> rows) const {
  Matrix out(static_cast<Eigen::Index>(rows.size()), raw.cols());
  const auto width = static_cast<std::size_t>(raw.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    apply({raw.row(static_cast<Eigen::Index>(rows[i])).data(), width},
          {out.row(static_cast<Eigen::Index>(i)).data(), width});
  }
  return out;
}

void Scaler::save(nlohmann::json& out) const {
  out = nlohmann::json::array();
  for (const Column& c : columns_) {
    out.push_back({{"log", c.log}, {"median", c.median}, {"mean", c.mean}, {"scale", c.scale}});
  }
}

Result<Scaler> Scaler::load(const nlohmann::json& in) {
  if (!in.is_array()) {
    return fail(bad_input({}, 0, "scaling", "not valid", in.type_name(), "a list"));
  }
  Scaler scaler;
  for (const auto& entry : in) {
    Column c;
    BERTH_TRY(c.log, json_field<bool>(entry, "log"));
    BERTH_TRY(c.median, json_field<double>(entry, "median"));
    BERTH_TRY(c.mean, json_field<double>(entry, "mean"));
    BERTH_TRY(c.scale, json_field<double>(entry, "scale"));
    if (!(c.scale > 0)) {
      return fail(bad_input({}, 0, "scaling", "not valid", fmt::format("{}", c.scale), "above 0"));
    }
    scaler.columns_.push_back(c);
  }
  return scaler;
}

}  // namespace berth::interference
