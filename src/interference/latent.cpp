#include "interference/latent.h"

#include <Eigen/Cholesky>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "interference/folds.h"
#include "interference/json_field.h"

namespace berth::interference {
namespace {

// A job's factor counts as if two more rows had none: enough to tame a job seen once.
constexpr double kRidge = 2.0;
constexpr std::size_t kParts = 5;

}  // namespace

void LatentModel::fit(const Dataset& data, std::span<const std::size_t> rows,
                      std::span<const double> target) {
  const auto jobs = static_cast<Eigen::Index>(data.jobs.size());
  double mean = 0;
  for (const double value : target) mean += value / static_cast<double>(target.size());
  // Normal equations; unknowns: the sensitivities, then the aggressivenesses.
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2 * jobs, 2 * jobs);
  Vector b = Vector::Zero(2 * jobs);
  std::vector<Eigen::Index> named;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = data.rows[rows[i]];
    named.assign(1, static_cast<Eigen::Index>(row.subject));
    for (const JobIndex job : row.corunners) named.push_back(jobs + static_cast<Eigen::Index>(job));
    for (const auto p : named) {
      b(p) += target[i] - mean;
      for (const auto q : named) a(p, q) += 1.0;
    }
  }
  a.diagonal().array() += kRidge;
  const Vector solution = a.llt().solve(b);
  sensitivity_.assign(solution.data(), solution.data() + jobs);
  aggressiveness_.assign(solution.data() + jobs, solution.data() + 2 * jobs);
}

LatentFactors LatentModel::of(JobIndex subject, std::span<const JobIndex> corunners) const {
  LatentFactors out;
  if (subject < sensitivity_.size()) out.sensitivity = sensitivity_[subject];
  for (const JobIndex job : corunners) {
    if (job < aggressiveness_.size()) out.aggressiveness += aggressiveness_[job];
  }
  return out;
}

void LatentModel::save(nlohmann::json& out) const {
  out = {{"sensitivity", sensitivity_}, {"aggressiveness", aggressiveness_}};
}

Result<LatentModel> LatentModel::load(const nlohmann::json& in) {
  LatentModel model;
  BERTH_TRY(model.sensitivity_, json_field<std::vector<double>>(in, "sensitivity"));
  BERTH_TRY(model.aggressiveness_, json_field<std::vector<double>>(in, "aggressiveness"));
  return model;
}

std::vector<LatentFactors> cross_fitted(const Dataset& data, const std::vector<std::size_t>& rows,
                                        std::span<const double> target, Rng rng) {
  std::unordered_map<std::size_t, std::size_t> position;  // of a row in `rows`
  for (std::size_t i = 0; i < rows.size(); ++i) position.emplace(rows[i], i);
  std::vector<LatentFactors> out(rows.size());
  const Folding parts = inner_folds(data, rows, FoldKind::kPair, kParts, rng);
  for (const Fold& fold : parts.folds) {
    std::vector<double> values;
    for (const std::size_t row : fold.train) values.push_back(target[position.at(row)]);
    LatentModel model;
    model.fit(data, fold.train, values);
    for (const std::size_t row : fold.test) {
      out[position.at(row)] = model.of(data.rows[row].subject, data.rows[row].corunners);
    }
  }
  return out;
}

}  // namespace berth::interference
