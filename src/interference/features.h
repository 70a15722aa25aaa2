// From a measured co-location to the numbers a model sees, and the scaling of these numbers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interference/category.h"
#include "interference/dataset.h"
#include "interference/technique.h"

namespace berth::interference {

enum class Mode : std::uint8_t {
  kSolo,      // from profiles of the jobs alone: can score jobs that never ran together
  kMeasured,  // with what was measured during the co-run, as in the paper
};
[[nodiscard]] std::string_view mode_name(Mode mode);

enum class FeatureRole : std::uint8_t {
  kSubject,   // of the subject alone; and which device
  kPartner,   // of the co-runners alone, added up; and how many they are
  kCorun,     // of the co-run: change from alone to shared, or the figure itself
  kComposed,  // of both sides: sum, larger one, subject's share, excess over a limit
};

struct Feature {
  std::string name;  // "solo.sm", "co.sm", "change.sm", "sum.sm"
  Category category = Category::kOther;
  FeatureRole role = FeatureRole::kSubject;
  std::string parameter;  // what kSubject and kPartner have in common: "sm"
};

// Which columns become which features. Depends on the data set's columns and devices only, never
// on rates.
class FeatureMap {
 public:
  // Errors: no parameter that the mode can use.
  [[nodiscard]] static Result<FeatureMap> make(const Dataset& data, Mode mode);

  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] std::span<const Feature> features() const { return features_; }
  // Features of one row, kMissingValue where a part is missing.
  [[nodiscard]] std::vector<double> compose(const Dataset& data, const Row& row) const;
  // All rows; a data set read later, with its columns in any order. Errors: a column that the map
  // needs is not there.
  [[nodiscard]] Result<Matrix> compose_all(const Dataset& data) const;

  void save(nlohmann::json& out) const;
  [[nodiscard]] static Result<FeatureMap> load(const nlohmann::json& in);

 private:
  struct Columns;
  [[nodiscard]] Result<Columns> find_columns(const Dataset& data) const;
  [[nodiscard]] std::vector<double> compose(const Columns& columns, const Dataset& data,
                                            const Row& row) const;
  void list_features();

  Mode mode_ = Mode::kSolo;
  std::vector<std::string> solo_;
  std::vector<std::string> co_;
  std::vector<std::string> shared_;
  std::vector<std::string> devices_;  // more than one: a feature each
  bool many_corunners_ = false;
  std::vector<Feature> features_;
};

// Which of the features a model uses.
struct FeatureView {
  Category category = Category::kAll;
  bool composed = false;    // with those of role kComposed
  bool corun_only = false;  // as in the paper: only what was measured during the co-run
};
[[nodiscard]] std::vector<std::size_t> select_features(std::span<const Feature> features,
                                                       FeatureView view);

// Imputation and scaling of each feature, fitted on training rows: log10 where all values are
// positive and span more than two decades (counters; decided for a parameter, so that subject and
// partner agree), the median for what is missing, then mean 0 and standard deviation 1.
class Scaler {
 public:
  void fit(std::span<const Feature> features, const Matrix& raw, std::span<const std::size_t> rows);
  void apply(std::span<const double> raw, std::span<double> out) const;
  [[nodiscard]] Matrix apply(const Matrix& raw, std::span<const std::size_t> rows) const;

  void save(nlohmann::json& out) const;
  [[nodiscard]] static Result<Scaler> load(const nlohmann::json& in);
  [[nodiscard]] std::size_t size() const { return columns_.size(); }

 private:
  struct Column {
    bool log = false;
    double median = 0;  // after the logarithm
    double mean = 0;
    double scale = 1;
  };
  std::vector<Column> columns_;
};

}  // namespace berth::interference
