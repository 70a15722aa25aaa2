// One model of the ensemble: a technique with its parameters, the features it sees, fitted.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "interference/features.h"
#include "interference/latent.h"
#include "interference/pair_gp.h"
#include "interference/technique.h"

namespace berth::interference {

inline constexpr std::string_view kPairGpName = "pair-gp";

// What may be fitted: one point of the search.
struct Candidate {
  std::string technique;  // a name of all_techniques(), or kPairGpName
  Params params;
  FeatureView view;
  bool latent = false;  // with the latent factors as features

  // "svr-rbf C=10 all +latent".
  [[nodiscard]] std::string label() const;
};

// The training rows as numbers: scaled features of all kinds, jobs, latent factors.
struct Prepared {
  std::vector<std::size_t> rows;  // in the data set
  Matrix x;                       // row i belongs to rows[i]
  std::vector<LatentFactors> latent;
};

// One row to predict. Everything is scaled as the training rows were.
struct Query {
  std::span<const double> x;
  std::span<const JobIndex> subject;
  std::span<const JobIndex> corunners;
  LatentFactors latent;
};

class Member {
 public:
  // Whether the candidate can see anything in these features.
  [[nodiscard]] static bool possible(const Candidate& candidate, std::span<const Feature> features);
  // target: log(1 + rate) or rate, one for each prepared row.
  [[nodiscard]] static Result<Member> fit(const Candidate& candidate,
                                          std::span<const Feature> features, const Dataset& data,
                                          const Prepared& prepared, const Vector& target, Rng rng);

  [[nodiscard]] double predict(const Query& query) const;
  // As PairGp::predict_without; nothing for other techniques, which must be refitted.
  [[nodiscard]] std::optional<Vector> predict_without(std::span<const std::size_t> held_out) const;
  [[nodiscard]] const Candidate& candidate() const { return candidate_; }

  void save(nlohmann::json& out) const;
  [[nodiscard]] static Result<Member> load(const nlohmann::json& in,
                                           std::span<const Feature> features);

 private:
  void choose_columns(std::span<const Feature> features);
  [[nodiscard]] Status fit_pairs(std::span<const Feature> features, const Dataset& data,
                                 const Prepared& prepared, const Vector& target, Rng rng);

  Candidate candidate_;
  std::vector<std::size_t> columns_;          // of a technique
  std::vector<std::size_t> subject_columns_;  // of the pair model
  std::vector<std::size_t> partner_columns_;
  double mean_ = 0;  // of the target; the technique sees it standardised
  double scale_ = 1;
  std::unique_ptr<Regressor> regressor_;
  std::optional<PairGp> pairs_;
};

}  // namespace berth::interference
