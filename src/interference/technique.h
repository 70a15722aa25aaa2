// The one small interface behind which every regression technique stands. A technique sees numbers
// only: imputation, scaling, the target's transform and the features belong to the pipeline, which
// fits them on training rows alone.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace berth::interference {

// Rows are samples, columns are features; row-major, so that a row is contiguous.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

// One technique, fitted or to be fitted.
class Regressor {
 public:
  Regressor() = default;
  Regressor(const Regressor&) = delete;
  Regressor& operator=(const Regressor&) = delete;
  Regressor(Regressor&&) = delete;
  Regressor& operator=(Regressor&&) = delete;
  virtual ~Regressor() = default;

  // x: n rows by p >= 1 features, y: n targets, n >= 1, all finite and at most kMaxMagnitude;
  // anything else, or a parameter out of its range, is an Error of kind kUsage. The same data and
  // generator give the same model.
  [[nodiscard]] virtual Status fit(const Matrix& x, const Vector& y, Rng rng) = 0;
  // The target of one row of feature_count() finite values; always finite: where a row is so far
  // away that the arithmetic overflows, the mean of the training targets. Only after fit() or load.
  [[nodiscard]] virtual double predict(std::span<const double> row) const = 0;
  // How many values a row has; 0 before fit().
  [[nodiscard]] virtual std::size_t feature_count() const = 0;
  // Everything predict() needs, as a JSON object; doubles survive the round trip bit by bit.
  virtual void save(nlohmann::json& out) const = 0;
};

// Beyond it, squares and cubes of features would overflow.
inline constexpr double kMaxMagnitude = 1e50;

// Names and values, e.g. {"C", 1}, {"epsilon", 0.01}. What is not named keeps its default; names
// that a technique does not know are ignored.
using Params = std::vector<std::pair<std::string, double>>;

struct TechniqueInfo {
  std::string_view name;     // as typed by the user: "svr-rbf"
  Params defaults;           // every parameter there is
  std::vector<Params> grid;  // a handful of settings for the nested selection; the first: defaults
  std::unique_ptr<Regressor> (*make)(const Params&);
  // Of what save() wrote; kBadInput with the field that is wrong on anything else.
  Result<std::unique_ptr<Regressor>> (*load)(const nlohmann::json&);
  bool of_the_paper = true;  // one of those that AIP compares
};

// In a fixed order: the simple ones first.
[[nodiscard]] std::span<const TechniqueInfo> all_techniques();
// Null when there is no technique of this name.
[[nodiscard]] const TechniqueInfo* find_technique(std::string_view name);

}  // namespace berth::interference
