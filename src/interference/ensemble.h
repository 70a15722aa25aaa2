// The honest predictor: several models, chosen and weighted by how well they predict rows that they
// have not seen, with an interval.
//
// Inside the training rows only: (1) every candidate (technique, hyper-parameters, feature
// category) predicts the log of 1 + rate of held-out parts, grouped by pair or by job; all
// candidates do so on the first parts, the best on all. (2) For new pairs, greedy selection with
// replacement (Caruana et al., ICML 2004) finds the weights of the mean with the least absolute
// error; for new jobs, of whom few are held out so that weights would follow chance, the best of
// each kind count the same. A new job unlike all known ones is left to the pair model more and more
// (novelty.h): it returns to what the co-runners do to jobs in general, while others follow a slope
// to where nothing was seen. (3) The chosen ones are fitted on all training rows. (4) The interval
// is conformal: the held-out errors of the mean, divided by the spread expected there (Vovk et al.,
// "cross-conformal predictors", 2015; Lei et al. 2018).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "interference/features.h"
#include "interference/folds.h"
#include "interference/member.h"
#include "interference/novelty.h"

namespace berth::interference {

inline constexpr double kCoverage = 0.9;  // that intervals promise

// Rates below `low` or above `high` come up in one of ten cases together.
struct Prediction {
  double rate = 0;
  double low = 0;
  double high = 0;
};

// A data set as one mode sees it.
struct TrainingSet {
  const Dataset* data = nullptr;
  FeatureMap map;
  Matrix raw;  // features of each row, before scaling
  Vector rate;

  [[nodiscard]] static Result<TrainingSet> make(const Dataset& data, Mode mode);
};

// Held-out error of a candidate, and its weight in the mean.
struct CandidateScore {
  Candidate candidate;
  double mae = 0;
  double weight = 0;           // where the jobs are like known ones
  double stranger_weight = 0;  // far away from all of them
  bool all_parts = false;      // tried on every part, not only on the first
};

class Ensemble {
 public:
  // `kind`: what will be new when it predicts: the pair, or the job.
  [[nodiscard]] static Result<Ensemble> fit(const TrainingSet& set,
                                            const std::vector<std::size_t>& rows, FoldKind kind,
                                            Rng rng);

  // raw: by FeatureMap::compose of the map that it was fitted with; corunners sorted; jobs by the
  // numbers of the training data set (kNoJob: not in it).
  [[nodiscard]] Prediction predict(std::span<const double> raw, JobIndex subject,
                                   std::span<const JobIndex> corunners) const;

  // Of the member with the largest weight.
  [[nodiscard]] const Candidate& leading() const;
  // The techniques in the mean, joined by +, the heaviest first.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::span<const CandidateScore> scores() const { return scores_; }

  void save(nlohmann::json& out) const;
  [[nodiscard]] static Result<Ensemble> load(const nlohmann::json& in, const FeatureMap& map);

 private:
  struct Search;
  void calibrate(const Vector& target, const Vector& mean, const Vector& squares);

  Scaler scaler_;
  LatentModel latent_;
  Novelty novelty_;  // of the jobs; without sides where they are known
  std::vector<Member> members_;
  std::vector<double> weights_;
  std::vector<double> stranger_weights_;
  double low_target_ = 0;  // predictions are kept near the range of training targets
  double high_target_ = 0;
  double base_spread_ = 1;  // of the log target, where members agree
  double quantile_ = 0;     // of held-out errors over the spread
  std::vector<CandidateScore> scores_;
};

}  // namespace berth::interference
