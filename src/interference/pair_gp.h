// A Gaussian process over pairs: who suffers, and who makes suffer.
//
// The covariance of two rows is a sum of products, one factor for the subject (its own features)
// and one for the co-runners (theirs). A factor is 1, a Matern-3/2 kernel K of the scaled features,
// or the identity D of the jobs themselves:
//   K*1 + 1*K + K*K     what the features say
//   D*1 + 1*D           latent sensitivity of the subject, latent aggressiveness of the co-runner
//   D*K + K*D           a job's own response to features of the other side
// so that a job seen in training is known by name, and a new one by its features alone (its D terms
// are 0). Every feature has its own relevance in the distance, the same on both sides where both
// sides have the same features. Weights, length scales, relevances and the noise maximise the
// marginal likelihood under wide log-normal priors (Rasmussen and Williams 2006, eqs. 5.8 and 5.9;
// leaving out a block: the matrix form of eq. 5.12).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "interference/technique.h"

namespace berth::interference {

// Jobs by number; sorted where several. kNoJob equals no job, not even itself.
using JobIndex = std::uint32_t;
inline constexpr JobIndex kNoJob = 0xFFFFFFFFU;

// One side of one row: scaled features and the jobs they belong to.
struct SideView {
  std::span<const double> features;
  std::span<const JobIndex> jobs;
};

struct PairRow {
  SideView subject;
  SideView partner;
};

class PairGp {
 public:
  static constexpr std::size_t kComponents = 7;
  // Logarithms: the weights (in units of the target's variance), the subject's and the partner's
  // length scale, the noise; then the relevances.
  static constexpr std::size_t kFixedParameters = kComponents + 3;

  // All rows have the same feature counts; finite values only. Above kSearchRows rows the
  // parameters are sought on a random part of that size.
  static constexpr std::size_t kSearchRows = 300;
  struct Options {
    bool same_features = false;  // feature i of the subject and of the partner are one parameter
    bool relevances = false;     // learn them; otherwise all are 1
  };
  [[nodiscard]] Status fit(std::span<const PairRow> rows, Options options, const Vector& y,
                           Rng rng);

  [[nodiscard]] double predict(const PairRow& row) const;
  // What the rows in `held_out` would be predicted by the others, with the same parameters: exact,
  // without a refit. Only on an object that was fitted, not loaded.
  [[nodiscard]] Vector predict_without(std::span<const std::size_t> held_out) const;

  [[nodiscard]] std::size_t rows() const { return subject_.rows(); }
  [[nodiscard]] std::size_t subject_features() const { return subject_.relevance.size(); }
  [[nodiscard]] std::size_t partner_features() const { return partner_.relevance.size(); }

  void save(nlohmann::json& out) const;
  [[nodiscard]] static Result<PairGp> load(const nlohmann::json& in);

 private:
  // The different states of a side, and the rows' states: a job has few, rows are many.
  struct Side {
    std::vector<std::vector<double>> features;
    std::vector<std::vector<JobIndex>> jobs;
    std::vector<std::uint32_t> state;    // of each row
    Eigen::MatrixXd overlap;             // of the jobs of two states
    std::vector<std::size_t> relevance;  // of each feature: its place in theta_

    [[nodiscard]] std::size_t rows() const { return state.size(); }
    // Squared distances of all states, features weighted by their relevances.
    [[nodiscard]] Eigen::MatrixXd distances(std::span<const double> theta) const;
  };
  struct Search;
  void search(const Search& search, int evaluations);
  [[nodiscard]] static Side make_side(std::span<const PairRow> rows, SideView PairRow::*side);
  [[nodiscard]] static Result<Side> load_side(const nlohmann::json& in, std::size_t parameters);
  [[nodiscard]] static Eigen::MatrixXd covariance(const Side& subject, const Side& partner,
                                                  std::span<const double> theta);

  std::vector<double> theta_;
  double mean_ = 0;
  double scale_ = 1;
  Side subject_;
  Side partner_;
  Vector alpha_;
  Vector target_;            // standardised; not saved
  Eigen::MatrixXd inverse_;  // not saved
};

}  // namespace berth::interference
