// Latent factors: how sensitive a job is, and how aggressive, learnt from whom it ran beside.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "base/random.h"
#include "interference/dataset.h"

namespace berth::interference {

struct LatentFactors {
  double sensitivity = 0;     // of the subject
  double aggressiveness = 0;  // of the co-runners, added up
};

// log(1 + rate) = mean + sensitivity(subject) + sum of aggressiveness(co-runner), by ridge
// regression; a job that training does not name has 0: the mean job.
class LatentModel {
 public:
  void fit(const Dataset& data, std::span<const std::size_t> rows, std::span<const double> target);
  [[nodiscard]] LatentFactors of(JobIndex subject, std::span<const JobIndex> corunners) const;

  void save(nlohmann::json& out) const;
  [[nodiscard]] static Result<LatentModel> load(const nlohmann::json& in);

 private:
  std::vector<double> sensitivity_;     // by job
  std::vector<double> aggressiveness_;  //
};

// The factors of training rows as features: each row's from a fit without the rows of its pair's
// part (of 5), so that they say no more about its target than those of a new row do.
[[nodiscard]] std::vector<LatentFactors> cross_fitted(const Dataset& data,
                                                      const std::vector<std::size_t>& rows,
                                                      std::span<const double> target, Rng rng);

}  // namespace berth::interference
