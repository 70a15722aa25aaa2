#include "interference/pair_gp.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "interference/json_field.h"
#include "interference/techniques/minimise.h"

namespace berth::interference {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

enum class Factor : std::uint8_t { kOne, kFeatures, kIdentity };
struct Component {
  Factor subject;
  Factor partner;
};
constexpr std::array<Component, PairGp::kComponents> kTable = {{
    {Factor::kFeatures, Factor::kOne},
    {Factor::kOne, Factor::kFeatures},
    {Factor::kFeatures, Factor::kFeatures},
    {Factor::kIdentity, Factor::kOne},
    {Factor::kOne, Factor::kIdentity},
    {Factor::kIdentity, Factor::kFeatures},
    {Factor::kFeatures, Factor::kIdentity},
}};

constexpr std::size_t kSubjectScale = PairGp::kComponents;
constexpr std::size_t kPartnerScale = PairGp::kComponents + 1;
constexpr std::size_t kNoise = PairGp::kComponents + 2;
constexpr double kJitter = 1e-8;
constexpr double kFarthestPrior = 4.0;
constexpr double kSmallestGain = 1e-6;
constexpr std::size_t kFirstRows = 150;
struct Stage {
  std::size_t rows;
  int evaluations;
};
constexpr Stage kStages[] = {{kFirstRows, 40}, {PairGp::kSearchRows, 15}};

// The two kernels of two states of a side.
struct Kernels {
  double features = 0;
  double identity = 0;

  [[nodiscard]] double of(Factor kind) const {
    switch (kind) {
      case Factor::kOne:
        return 1.0;
      case Factor::kFeatures:
        return features;
      case Factor::kIdentity:
        return identity;
    }
    return 0.0;
  }
};

// Matern 3/2 of a squared distance, and its derivative by the squared distance.
double matern(double squared) {
  const double z = std::sqrt(3.0 * squared);
  return (1.0 + z) * std::exp(-z);
}
double matern_slope(double squared) {
  return -1.5 * std::exp(-std::sqrt(3.0 * squared));
}

// Cosine of the two sets' indicator vectors: positive definite, 1 for the same job.
double overlap(std::span<const JobIndex> a, std::span<const JobIndex> b) {
  std::size_t common = 0;
  std::size_t j = 0;
  for (const JobIndex job : a) {
    while (j < b.size() && b[j] < job) ++j;
    if (j < b.size() && b[j] == job && job != kNoJob) {
      ++common;
      ++j;
    }
  }
  if (common == 0) return 0.0;
  return static_cast<double>(common) / std::sqrt(static_cast<double>(a.size() * b.size()));
}

// The logarithms' prior: normal, wide.
struct Prior {
  std::vector<double> mean;
  std::vector<double> width;

  Prior(std::size_t subject_features, std::size_t partner_features, std::size_t relevances) {
    mean.assign(PairGp::kFixedParameters + relevances, 0.0);
    width.assign(mean.size(), 1.0);
    for (std::size_t c = 0; c < PairGp::kComponents; ++c) {
      mean[c] = -std::log(static_cast<double>(PairGp::kComponents));
      width[c] = 2.5;
    }
    // Two random rows of n scaled features are sqrt(2 n) apart.
    const auto typical = [](std::size_t n) {
      return std::log(1.5 * std::sqrt(static_cast<double>(std::max<std::size_t>(n, 1))));
    };
    mean[kSubjectScale] = typical(subject_features);
    mean[kPartnerScale] = typical(partner_features);
    mean[kNoise] = std::log(0.05);
    width[kNoise] = 2.0;
  }
};

// The two factors of every component, for the states of two rows.
struct Factors {
  const MatrixXd& subject_features;
  const MatrixXd& subject_identity;
  const MatrixXd& partner_features;
  const MatrixXd& partner_identity;

  [[nodiscard]] Kernels subject(Index a, Index b) const {
    return {subject_features(a, b), subject_identity(a, b)};
  }
  [[nodiscard]] Kernels partner(Index a, Index b) const {
    return {partner_features(a, b), partner_identity(a, b)};
  }
};

std::array<double, PairGp::kComponents> weights(std::span<const double> theta) {
  std::array<double, PairGp::kComponents> out{};
  for (std::size_t c = 0; c < out.size(); ++c) out[c] = std::exp(theta[c]);
  return out;
}

MatrixXd kernel(const MatrixXd& squared, double log_length) {
  const double inverse = std::exp(-2.0 * log_length);
  return squared.unaryExpr([inverse](double d) { return matern(d * inverse); });
}

}  // namespace

PairGp::Side PairGp::make_side(std::span<const PairRow> rows, SideView PairRow::*side) {
  Side out;
  std::map<std::pair<std::vector<JobIndex>, std::vector<double>>, std::uint32_t> known;
  out.state.reserve(rows.size());
  for (const PairRow& row : rows) {
    const SideView& view = row.*side;
    std::pair key{std::vector<JobIndex>(view.jobs.begin(), view.jobs.end()),
                  std::vector<double>(view.features.begin(), view.features.end())};
    const auto next = static_cast<std::uint32_t>(out.features.size());
    const auto [it, added] = known.emplace(std::move(key), next);
    if (added) {
      out.jobs.push_back(it->first.first);
      out.features.push_back(it->first.second);
    }
    out.state.push_back(it->second);
  }
  const auto n = static_cast<Index>(out.features.size());
  out.overlap.resize(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      out.overlap(i, j) = overlap(out.jobs[i], out.jobs[j]);
    }
  }
  return out;
}

MatrixXd PairGp::Side::distances(std::span<const double> theta) const {
  const auto n = static_cast<Index>(features.size());
  MatrixXd out = MatrixXd::Zero(n, n);
  std::vector<double> weight;
  for (const std::size_t at : relevance) weight.push_back(std::exp(theta[at]));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) {
      double sum = 0;
      for (std::size_t f = 0; f < weight.size(); ++f) {
        const double gap = features[i][f] - features[j][f];
        sum += weight[f] * gap * gap;
      }
      out(i, j) = out(j, i) = sum;
    }
  }
  return out;
}

// The negative log marginal likelihood with the prior, and its gradient, over the rows of the
// search.
struct PairGp::Search {
  const Side& subject;
  const Side& partner;
  const Vector& y;
  const Prior& prior;
  bool relevances;

  double operator()(std::span<const double> theta, std::span<double> gradient) const {
    const Index n = y.size();
    MatrixXd k = covariance(subject, partner, theta);
    k.diagonal().array() += std::exp(theta[kNoise]) + kJitter;
    const Eigen::LLT<MatrixXd> llt(k);
    if (llt.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
    const Vector alpha = llt.solve(y);
    const MatrixXd inverse = llt.solve(MatrixXd::Identity(n, n));
    double value = 0.5 * y.dot(alpha);
    for (Index i = 0; i < n; ++i) value += std::log(llt.matrixLLT()(i, i));

    std::fill(gradient.begin(), gradient.end(), 0.0);
    add_gradient(theta, inverse, alpha, gradient);
    for (std::size_t m = 0; m < theta.size(); ++m) {
      const double z = (theta[m] - prior.mean[m]) / prior.width[m];
      value += 0.5 * z * z;
      gradient[m] += z / prior.width[m];
    }
    if (!relevances) std::fill(gradient.begin() + kFixedParameters, gradient.end(), 0.0);
    return value;
  }

  void add_gradient(std::span<const double> theta, const MatrixXd& inverse, const Vector& alpha,
                    std::span<double> gradient) const {
    const MatrixXd squared_s = subject.distances(theta);
    const MatrixXd squared_p = partner.distances(theta);
    const MatrixXd ks = kernel(squared_s, theta[kSubjectScale]);
    const MatrixXd kp = kernel(squared_p, theta[kPartnerScale]);
    const Factors factors{ks, subject.overlap, kp, partner.overlap};
    const auto weight = weights(theta);
    // d value / d kernel, gathered by pairs of states.
    MatrixXd by_subject = MatrixXd::Zero(ks.rows(), ks.cols());
    MatrixXd by_partner = MatrixXd::Zero(kp.rows(), kp.cols());
    for (Index i = 0; i < inverse.rows(); ++i) {
      for (Index j = 0; j <= i; ++j) {
        const double w = (i == j ? 0.5 : 1.0) * (inverse(i, j) - alpha(i) * alpha(j));
        const Index a = subject.state[i];
        const Index b = subject.state[j];
        const Index c = partner.state[i];
        const Index d = partner.state[j];
        const Kernels of_subject = factors.subject(a, b);
        const Kernels of_partner = factors.partner(c, d);
        for (std::size_t m = 0; m < kComponents; ++m) {
          const double fs = of_subject.of(kTable[m].subject);
          const double fp = of_partner.of(kTable[m].partner);
          const double scaled = w * weight[m];
          gradient[m] += scaled * fs * fp;
          if (kTable[m].subject == Factor::kFeatures) by_subject(a, b) += scaled * fp;
          if (kTable[m].partner == Factor::kFeatures) by_partner(c, d) += scaled * fs;
        }
        if (i == j) gradient[kNoise] += w * std::exp(theta[kNoise]);
      }
    }
    add_distances(subject, squared_s, by_subject, kSubjectScale, theta, gradient);
    add_distances(partner, squared_p, by_partner, kPartnerScale, theta, gradient);
  }

  static void add_distances(const Side& side, const MatrixXd& squared, const MatrixXd& by_kernel,
                            std::size_t scale, std::span<const double> theta,
                            std::span<double> gradient) {
    const double inverse = std::exp(-2.0 * theta[scale]);
    std::vector<double> relevance;
    for (const std::size_t at : side.relevance) relevance.push_back(std::exp(theta[at]));
    for (Index i = 0; i < squared.rows(); ++i) {
      for (Index j = 0; j < squared.cols(); ++j) {
        if (by_kernel(i, j) == 0.0) continue;
        const double slope = by_kernel(i, j) * matern_slope(squared(i, j) * inverse) * inverse;
        gradient[scale] -= 2.0 * slope * squared(i, j);
        for (std::size_t f = 0; f < relevance.size(); ++f) {
          const double gap = side.features[i][f] - side.features[j][f];
          gradient[side.relevance[f]] += slope * relevance[f] * gap * gap;
        }
      }
    }
  }
};

MatrixXd PairGp::covariance(const Side& subject, const Side& partner,
                            std::span<const double> theta) {
  const auto n = static_cast<Index>(subject.rows());
  const MatrixXd ks = kernel(subject.distances(theta), theta[kSubjectScale]);
  const MatrixXd kp = kernel(partner.distances(theta), theta[kPartnerScale]);
  const Factors factors{ks, subject.overlap, kp, partner.overlap};
  const auto weight = weights(theta);
  MatrixXd k(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const Kernels of_subject = factors.subject(subject.state[i], subject.state[j]);
      const Kernels of_partner = factors.partner(partner.state[i], partner.state[j]);
      double sum = 0;
      for (std::size_t m = 0; m < kComponents; ++m) {
        sum += weight[m] * of_subject.of(kTable[m].subject) * of_partner.of(kTable[m].partner);
      }
      k(i, j) = k(j, i) = sum;
    }
  }
  return k;
}

// Improves theta_ within kFarthestPrior widths of the prior.
void PairGp::search(const Search& search, int evaluations) {
  const auto n = static_cast<Index>(theta_.size());
  const Eigen::Map<const Vector> mean(search.prior.mean.data(), n);
  const Eigen::Map<const Vector> width(search.prior.width.data(), n);
  const Objective objective = [&](const Vector& point, Vector& gradient) {
    return search({point.data(), theta_.size()}, {gradient.data(), theta_.size()});
  };
  const Minimum best =
      minimise(objective, Eigen::Map<const Vector>(theta_.data(), n), mean - kFarthestPrior * width,
               mean + kFarthestPrior * width,
               {.max_evaluations = evaluations, .relative_decrease = kSmallestGain});
  theta_.assign(best.point.begin(), best.point.end());
}

Status PairGp::fit(std::span<const PairRow> rows, Options options, const Vector& y, Rng rng) {
  const auto n = static_cast<Index>(rows.size());
  if (n == 0 || y.size() != n)
    return fail(usage_error("a pair model needs rows and a target each"));
  mean_ = y.mean();
  const double variance = (y.array() - mean_).square().mean();
  scale_ = variance > 0 ? std::sqrt(variance) : 1.0;
  target_ = (y.array() - mean_) / scale_;
  const std::size_t of_subject = rows[0].subject.features.size();
  const std::size_t of_partner = rows[0].partner.features.size();
  const bool same_features = options.same_features && of_subject == of_partner;

  const auto make_both = [&](std::span<const PairRow> part, Side& subject, Side& partner) {
    subject = make_side(part, &PairRow::subject);
    partner = make_side(part, &PairRow::partner);
    subject.relevance.resize(of_subject);
    partner.relevance.resize(of_partner);
    std::iota(subject.relevance.begin(), subject.relevance.end(), kFixedParameters);
    std::iota(partner.relevance.begin(), partner.relevance.end(),
              kFixedParameters + (same_features ? 0 : of_subject));
  };
  const Prior prior(of_subject, of_partner, of_subject + (same_features ? 0 : of_partner));
  theta_ = prior.mean;
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  rng.shuffle(std::span(order));
  // Most of the way on few rows, the rest on more: a step costs the cube of their number.
  for (const Stage stage : kStages) {
    if (stage.rows == kFirstRows && rows.size() <= kFirstRows) continue;
    std::vector<std::size_t> used(order.begin(),
                                  order.begin() + std::min(stage.rows, order.size()));
    std::sort(used.begin(), used.end());
    std::vector<PairRow> part;
    Vector part_target(static_cast<Index>(used.size()));
    for (std::size_t i = 0; i < used.size(); ++i) {
      part.push_back(rows[used[i]]);
      part_target(static_cast<Index>(i)) = target_(static_cast<Index>(used[i]));
    }
    Side part_subject;
    Side part_partner;
    make_both(part, part_subject, part_partner);
    search(Search{part_subject, part_partner, part_target, prior, options.relevances},
           stage.evaluations);
  }

  make_both(rows, subject_, partner_);
  MatrixXd k = covariance(subject_, partner_, theta_);
  k.diagonal().array() += std::exp(theta_[kNoise]) + kJitter;
  const Eigen::LLT<MatrixXd> llt(k);
  if (llt.info() != Eigen::Success) return fail(internal_error("the covariance is not positive"));
  alpha_ = llt.solve(target_);
  inverse_ = llt.solve(MatrixXd::Identity(n, n));
  return {};
}

double PairGp::predict(const PairRow& row) const {
  // The kernels of the new row with every state of one side.
  const auto against = [&](const Side& side, const SideView& view, double log_length) {
    const double inverse = std::exp(-2.0 * log_length);
    std::vector<double> relevance;
    for (const std::size_t at : side.relevance) relevance.push_back(std::exp(theta_[at]));
    std::vector<Kernels> out(side.features.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      double squared = 0;
      for (std::size_t f = 0; f < view.features.size(); ++f) {
        const double gap = side.features[i][f] - view.features[f];
        squared += relevance[f] * gap * gap;
      }
      out[i] = {matern(squared * inverse), overlap(side.jobs[i], view.jobs)};
    }
    return out;
  };
  const auto subject = against(subject_, row.subject, theta_[kSubjectScale]);
  const auto partner = against(partner_, row.partner, theta_[kPartnerScale]);
  const auto weight = weights(theta_);
  double sum = 0;
  for (std::size_t i = 0; i < subject_.rows(); ++i) {
    const Kernels& s = subject[subject_.state[i]];
    const Kernels& p = partner[partner_.state[i]];
    double k = 0;
    for (std::size_t m = 0; m < kComponents; ++m) {
      k += weight[m] * s.of(kTable[m].subject) * p.of(kTable[m].partner);
    }
    sum += k * alpha_(static_cast<Index>(i));
  }
  return mean_ + scale_ * sum;
}

void PairGp::save(nlohmann::json& out) const {
  const auto side = [](const Side& s) {
    return nlohmann::json{
        {"features", s.features}, {"jobs", s.jobs}, {"state", s.state}, {"relevance", s.relevance}};
  };
  out = {{"theta", theta_},           {"mean", mean_},
         {"scale", scale_},           {"subject", side(subject_)},
         {"partner", side(partner_)}, {"alpha", std::vector<double>(alpha_.begin(), alpha_.end())}};
}

Result<PairGp::Side> PairGp::load_side(const nlohmann::json& in, std::size_t parameters) {
  Side side;
  BERTH_TRY(side.features, json_field<std::vector<std::vector<double>>>(in, "features"));
  BERTH_TRY(side.jobs, json_field<std::vector<std::vector<JobIndex>>>(in, "jobs"));
  BERTH_TRY(side.state, json_field<std::vector<std::uint32_t>>(in, "state"));
  BERTH_TRY(side.relevance, json_field<std::vector<std::size_t>>(in, "relevance"));
  const auto wrong = [](const char* field) {
    return fail(bad_input({}, 0, field, "the parts of the pair model do not fit together"));
  };
  if (side.jobs.size() != side.features.size()) return wrong("jobs");
  for (const auto& row : side.features) {
    if (row.size() != side.relevance.size()) return wrong("features");
  }
  for (const auto state : side.state) {
    if (state >= side.features.size()) return wrong("state");
  }
  for (const auto at : side.relevance) {
    if (at >= parameters) return wrong("relevance");
  }
  return side;
}

Result<PairGp> PairGp::load(const nlohmann::json& in) {
  PairGp model;
  BERTH_TRY(model.theta_, json_field<std::vector<double>>(in, "theta"));
  BERTH_TRY(model.mean_, json_field<double>(in, "mean"));
  BERTH_TRY(model.scale_, json_field<double>(in, "scale"));
  BERTH_TRY(const auto subject, json_field<nlohmann::json>(in, "subject"));
  BERTH_TRY(const auto partner, json_field<nlohmann::json>(in, "partner"));
  BERTH_TRY(const auto alpha, json_field<std::vector<double>>(in, "alpha"));
  BERTH_TRY(model.subject_, load_side(subject, model.theta_.size()));
  BERTH_TRY(model.partner_, load_side(partner, model.theta_.size()));
  if (model.theta_.size() < kFixedParameters || alpha.size() != model.subject_.rows() ||
      alpha.size() != model.partner_.rows()) {
    return fail(bad_input({}, 0, "alpha", "the parts of the pair model do not fit together"));
  }
  model.alpha_ = Eigen::Map<const Vector>(alpha.data(), static_cast<Index>(alpha.size()));
  return model;
}

Vector PairGp::predict_without(std::span<const std::size_t> held_out) const {
  const auto n = static_cast<Index>(held_out.size());
  MatrixXd block(n, n);
  Vector right(n);
  Vector y(n);
  for (Index i = 0; i < n; ++i) {
    const auto row = static_cast<Index>(held_out[i]);
    right(i) = alpha_(row);
    y(i) = target_(row);
    for (Index j = 0; j < n; ++j) block(i, j) = inverse_(row, static_cast<Index>(held_out[j]));
  }
  const Vector residual = block.llt().solve(right);
  return (mean_ + scale_ * (y - residual).array()).matrix();
}

}  // namespace berth::interference
