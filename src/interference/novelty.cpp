#include "interference/novelty.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "interference/json_field.h"

namespace berth::interference {
namespace {

constexpr std::size_t kFewestStates = 4;  // below, "usual" means nothing
constexpr std::size_t kMostStates = 500;  // all pairs of them are compared
constexpr double kFamiliar = 2.0;         // up to so many usual distances nothing is strange

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t f = 0; f < a.size(); ++f) sum += (a[f] - b[f]) * (a[f] - b[f]);
  return sum;
}

// The median over the states of the distance to the nearest other one.
double usual_distance(const std::vector<std::vector<double>>& states) {
  std::vector<double> nearest(states.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double squared = squared_distance(states[i], states[j]);
      nearest[i] = std::min(nearest[i], squared);
      nearest[j] = std::min(nearest[j], squared);
    }
  }
  std::sort(nearest.begin(), nearest.end());
  return std::sqrt(nearest[nearest.size() / 2]);
}

}  // namespace

Novelty::Side Novelty::make_side(std::span<const Feature> features, FeatureRole role,
                                 const Matrix& x) {
  Side side;
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (features[f].role == role && !features[f].parameter.empty()) side.columns.push_back(f);
  }
  std::set<std::vector<double>> states;
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    std::vector<double> state;
    for (const std::size_t f : side.columns) state.push_back(x(row, static_cast<Eigen::Index>(f)));
    states.insert(std::move(state));
  }
  // Where every row has a profile of its own, some of them do.
  const std::size_t step = (states.size() + kMostStates - 1) / kMostStates;
  std::size_t i = 0;
  for (const auto& state : states) {
    if (i++ % step == 0) side.known.push_back(state);
  }
  if (side.known.size() >= kFewestStates) side.unit = usual_distance(side.known);
  return side;
}

void Novelty::fit(std::span<const Feature> features, const Matrix& x) {
  sides_.clear();
  for (const FeatureRole role : {FeatureRole::kSubject, FeatureRole::kPartner}) {
    sides_.push_back(make_side(features, role, x));
  }
}

double Novelty::Side::of(std::span<const double> x) const {
  if (!(unit > 0.0)) return 0.0;
  double nearest = std::numeric_limits<double>::infinity();
  for (const auto& state : known) {
    double sum = 0;
    for (std::size_t f = 0; f < columns.size(); ++f) {
      const double gap = state[f] - x[columns[f]];
      sum += gap * gap;
    }
    nearest = std::min(nearest, sum);
  }
  return std::sqrt(nearest) / unit;
}

double Novelty::of(std::span<const double> x) const {
  double out = 0;
  for (const Side& side : sides_) out = std::max(out, side.of(x));
  return out;
}

double Novelty::trust(std::span<const double> x) const {
  const double novelty = of(x);
  return novelty <= kFamiliar ? 1.0 : (kFamiliar / novelty) * (kFamiliar / novelty);
}

void Novelty::save(nlohmann::json& out) const {
  out = nlohmann::json::array();
  for (const Side& side : sides_) {
    out.push_back({{"columns", side.columns}, {"known", side.known}, {"unit", side.unit}});
  }
}

Result<Novelty> Novelty::load(const nlohmann::json& in, std::size_t features) {
  const auto wrong = [](const char* field) {
    return fail(bad_input({}, 0, field, "the parts of the novelty do not fit together"));
  };
  Novelty out;
  if (!in.is_array()) return wrong("novelty");
  for (const auto& entry : in) {
    Side side;
    BERTH_TRY(side.columns, json_field<std::vector<std::size_t>>(entry, "columns"));
    BERTH_TRY(side.known, json_field<std::vector<std::vector<double>>>(entry, "known"));
    BERTH_TRY(side.unit, json_field<double>(entry, "unit"));
    for (const std::size_t column : side.columns) {
      if (column >= features) return wrong("columns");
    }
    for (const auto& state : side.known) {
      if (state.size() != side.columns.size()) return wrong("known");
    }
    out.sides_.push_back(std::move(side));
  }
  return out;
}

}  // namespace berth::interference
