// How unlike the jobs of the training rows a job is.
//
// Models of features follow their last slope, or a constant of their own, where no job was seen;
// the further out, the less they say. Distances are between the scaled features of one side of a
// row (the subject's; the co-runners'), and their unit is how far jobs of the training rows usually
// are from the nearest other one: about 1 for a job among them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "interference/features.h"

namespace berth::interference {

class Novelty {
 public:
  // x: scaled features of the training rows.
  void fit(std::span<const Feature> features, const Matrix& x);
  // Of the stranger side of a row; 0 for sides that were seen, or where nothing can be said.
  [[nodiscard]] double of(std::span<const double> x) const;
  // From 1, a row like those seen, towards 0.
  [[nodiscard]] double trust(std::span<const double> x) const;

  void save(nlohmann::json& out) const;
  // Errors: columns that `features` features do not have, parts that do not fit together.
  [[nodiscard]] static Result<Novelty> load(const nlohmann::json& in, std::size_t features);

 private:
  struct Side {
    std::vector<std::size_t> columns;
    std::vector<std::vector<double>> known;  // different states, of these columns
    double unit = 0;                         // median distance to the nearest other; 0: no measure

    [[nodiscard]] double of(std::span<const double> x) const;
  };
  [[nodiscard]] static Side make_side(std::span<const Feature> features, FeatureRole role,
                                      const Matrix& x);

  std::vector<Side> sides_;
};

}  // namespace berth::interference
