#include "interference/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "interference/candidates.h"
#include "interference/json_field.h"

namespace berth::interference {
namespace {

constexpr std::size_t kPairParts = 5;
constexpr std::size_t kJobParts = 8;
constexpr std::size_t kFirstParts = 3;    // on which all candidates are tried
constexpr std::size_t kKept = 5;          // techniques that are tried on the other parts too
constexpr std::size_t kMostSteps = 12;    // of the greedy selection
constexpr std::size_t kCommittee = 4;     // members for new jobs
constexpr double kNearBest = 1.15;        // of the best error: good enough for the committee
constexpr double kLeastGain = 1e-3;       // relative; a smaller one is noise
constexpr double kLargestTarget = 100.0;  // log of a slow-down; no model has more
constexpr double kBeyondRange = 0.25;     // of the targets' range

double log_slowdown(double rate) {
  return std::log1p(rate);
}

}  // namespace

Result<TrainingSet> TrainingSet::make(const Dataset& data, Mode mode) {
  TrainingSet set;
  set.data = &data;
  BERTH_TRY(set.map, FeatureMap::make(data, mode));
  BERTH_TRY(set.raw, set.map.compose_all(data));
  set.rate.resize(static_cast<Eigen::Index>(data.rows.size()));
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    set.rate(static_cast<Eigen::Index>(i)) = data.rows[i].rate;
  }
  return set;
}

// The selection's work table: targets and held-out predictions of the training rows.
struct Ensemble::Search {
  const TrainingSet& set;
  const std::vector<std::size_t>& rows;
  FoldKind kind;
  Rng rng;
  std::span<const Feature> features;
  std::vector<Candidate> candidates;
  std::vector<Vector> held_out;               // by candidate and position; NaN: not yet
  std::vector<std::optional<Member>> fitted;  // pair models, which need no refits
  Folding parts;
  std::vector<std::size_t> position;  // of a data row in `rows`
  Vector target;                      // by position
  Vector trust;                       // of the features, in a held-out part; 1: as in training

  Search(const TrainingSet& training, const std::vector<std::size_t>& used, FoldKind what, Rng draw)
      : set(training),
        rows(used),
        kind(what),
        rng(draw),
        features(training.map.features()),
        candidates(make_candidates(features, what)) {
    position.assign(set.data->rows.size(), 0);
    target.resize(static_cast<Eigen::Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      position[rows[i]] = i;
      target(static_cast<Eigen::Index>(i)) =
          log_slowdown(set.rate(static_cast<Eigen::Index>(rows[i])));
    }
    trust = Vector::Ones(target.size());
    parts = inner_folds(*set.data, rows, kind, kind == FoldKind::kJob ? kJobParts : kPairParts,
                        rng.fork("parts"));
    held_out.assign(candidates.size(), Vector::Constant(target.size(), kMissingValue));
    fitted.resize(candidates.size());
  }

  [[nodiscard]] Vector targets_of(const std::vector<std::size_t>& subset) const {
    Vector out(static_cast<Eigen::Index>(subset.size()));
    for (std::size_t i = 0; i < subset.size(); ++i) {
      out(static_cast<Eigen::Index>(i)) = target(static_cast<Eigen::Index>(position[subset[i]]));
    }
    return out;
  }

  struct Part {
    Scaler scaler;
    LatentModel latent;
    Prepared prepared;
    Vector target;
  };
  [[nodiscard]] Part prepare(const std::vector<std::size_t>& subset) const {
    Part part;
    part.target = targets_of(subset);
    const std::span values(part.target.data(), subset.size());
    part.scaler.fit(features, set.raw, subset);
    part.prepared.rows = subset;
    part.prepared.x = part.scaler.apply(set.raw, subset);
    part.latent.fit(*set.data, subset, values);
    part.prepared.latent = cross_fitted(*set.data, subset, values, rng.fork("latent"));
    return part;
  }

  void measure_trust();
  [[nodiscard]] Status try_pair_models(const Part& whole);
  [[nodiscard]] Status try_techniques(std::span<const std::size_t> which, std::size_t first,
                                      std::size_t last);
  // Mean absolute error of the rate over the positions that have a prediction, strangers counting
  // less: one odd job among few would choose for all.
  [[nodiscard]] double error_of(const Vector& predicted) const;
  [[nodiscard]] std::vector<std::size_t> by_error(std::vector<std::size_t> which) const;
  [[nodiscard]] std::vector<std::size_t> one_of_a_kind(const std::vector<std::size_t>& which) const;
  [[nodiscard]] std::vector<std::size_t> best_techniques() const;
  [[nodiscard]] std::vector<double> committee(const std::vector<std::size_t>& usable) const;
  [[nodiscard]] std::vector<double> greedy(const std::vector<std::size_t>& usable) const;
  [[nodiscard]] std::vector<double> choose_weights() const;
  [[nodiscard]] std::vector<double> stranger_weights(const std::vector<double>& weights) const;
};

void Ensemble::Search::measure_trust() {
  if (kind != FoldKind::kJob) return;
  for (const Fold& fold : parts.folds) {
    Scaler scaler;
    Novelty novelty;
    scaler.fit(features, set.raw, fold.train);
    novelty.fit(features, scaler.apply(set.raw, fold.train));
    const Matrix x = scaler.apply(set.raw, fold.test);
    for (std::size_t i = 0; i < fold.test.size(); ++i) {
      trust(static_cast<Eigen::Index>(position[fold.test[i]])) = novelty.trust(
          {x.row(static_cast<Eigen::Index>(i)).data(), static_cast<std::size_t>(x.cols())});
    }
  }
}

Status Ensemble::Search::try_pair_models(const Part& whole) {
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (candidates[c].technique != kPairGpName) continue;
    BERTH_TRY(fitted[c], Member::fit(candidates[c], features, *set.data, whole.prepared,
                                     whole.target, rng.fork("pair model")));
    for (const Fold& part : parts.folds) {
      // Everything that is not in training is left out, also rows that are not tested.
      std::vector<std::size_t> out;
      std::size_t next = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool trained = next < part.train.size() && part.train[next] == rows[i];
        trained ? static_cast<void>(++next) : out.push_back(i);
      }
      const auto predicted = fitted[c]->predict_without(out);
      if (!predicted) break;
      std::size_t at = 0;
      for (const std::size_t row : part.test) {
        while (rows[out[at]] != row) ++at;
        held_out[c](static_cast<Eigen::Index>(out[at])) =
            (*predicted)(static_cast<Eigen::Index>(at));
      }
    }
  }
  return {};
}

Status Ensemble::Search::try_techniques(std::span<const std::size_t> which, std::size_t first,
                                        std::size_t last) {
  for (std::size_t f = first; f < std::min(last, parts.folds.size()); ++f) {
    const Fold& fold = parts.folds[f];
    const Part part = prepare(fold.train);
    const Matrix x = part.scaler.apply(set.raw, fold.test);
    for (const std::size_t c : which) {
      BERTH_TRY(const Member member, Member::fit(candidates[c], features, *set.data, part.prepared,
                                                 part.target, rng.fork(f * 1000 + c)));
      for (std::size_t i = 0; i < fold.test.size(); ++i) {
        const Row& row = set.data->rows[fold.test[i]];
        const Query query{
            {x.row(static_cast<Eigen::Index>(i)).data(), static_cast<std::size_t>(x.cols())},
            {&row.subject, 1},
            row.corunners,
            part.latent.of(row.subject, row.corunners)};
        held_out[c](static_cast<Eigen::Index>(position[fold.test[i]])) = member.predict(query);
      }
    }
  }
  return {};
}

double Ensemble::Search::error_of(const Vector& predicted) const {
  double sum = 0;
  double count = 0;
  const double low = target.minCoeff();
  const double high = target.maxCoeff();
  for (Eigen::Index i = 0; i < predicted.size(); ++i) {
    if (std::isnan(predicted(i))) continue;
    sum += trust(i) *
           std::abs(std::expm1(std::clamp(predicted(i), low, high)) - std::expm1(target(i)));
    count += trust(i);
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::infinity();
}

std::vector<std::size_t> Ensemble::Search::by_error(std::vector<std::size_t> which) const {
  std::vector<std::pair<double, std::size_t>> order;
  for (const std::size_t c : which) order.emplace_back(error_of(held_out[c]), c);
  std::sort(order.begin(), order.end());
  which.clear();
  for (const auto& [error, c] : order) which.push_back(c);
  return which;
}

// Of each kind (technique and form of the features) the first only.
std::vector<std::size_t> Ensemble::Search::one_of_a_kind(
    const std::vector<std::size_t>& which) const {
  std::vector<std::size_t> out;
  for (const std::size_t c : which) {
    const bool known = std::any_of(out.begin(), out.end(), [&](std::size_t other) {
      return candidates[other].technique == candidates[c].technique &&
             candidates[other].view.composed == candidates[c].view.composed;
    });
    if (!known) out.push_back(c);
  }
  return out;
}

std::vector<std::size_t> Ensemble::Search::best_techniques() const {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (!fitted[c]) out.push_back(c);
  }
  out = by_error(std::move(out));
  if (kind == FoldKind::kJob) out = one_of_a_kind(out);
  out.resize(std::min(kKept, out.size()));
  return out;
}

std::vector<double> Ensemble::Search::choose_weights() const {
  std::vector<std::size_t> usable;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (!held_out[c].hasNaN()) usable.push_back(c);
  }
  if (usable.empty()) {
    std::vector<double> first(candidates.size(), 0.0);
    first[0] = 1.0;
    return first;
  }
  usable = by_error(std::move(usable));
  return kind == FoldKind::kJob ? committee(one_of_a_kind(usable)) : greedy(usable);
}

// The plain mean of the best of each kind. A job more or less changes who is best by chance; few
// jobs are held out, so weights would follow that chance.
std::vector<double> Ensemble::Search::committee(const std::vector<std::size_t>& usable) const {
  std::vector<double> weight(candidates.size(), 0.0);
  const double most = kNearBest * error_of(held_out[usable.front()]);
  std::size_t members = 0;
  while (members < std::min(kCommittee, usable.size()) &&
         error_of(held_out[usable[members]]) <= most) {
    ++members;
  }
  members = std::max<std::size_t>(members, 1);
  for (std::size_t i = 0; i < members; ++i) weight[usable[i]] = 1.0 / static_cast<double>(members);
  return weight;
}

// The better one of the pair models, where they can be had.
std::vector<double> Ensemble::Search::stranger_weights(const std::vector<double>& weights) const {
  std::vector<std::size_t> pair_models;
  for (std::size_t c = 0; c < candidates.size() && kind == FoldKind::kJob; ++c) {
    if (fitted[c] && !held_out[c].hasNaN()) pair_models.push_back(c);
  }
  if (pair_models.empty()) return weights;
  std::vector<double> out(candidates.size(), 0.0);
  out[by_error(pair_models).front()] = 1.0;
  return out;
}

// Greedy selection with replacement.
std::vector<double> Ensemble::Search::greedy(const std::vector<std::size_t>& usable) const {
  std::vector<double> count(candidates.size(), 0.0);
  Vector sum = Vector::Zero(target.size());
  double steps = 0;
  double best = std::numeric_limits<double>::infinity();
  while (steps < static_cast<double>(kMostSteps)) {
    std::size_t chosen = usable.front();
    double error = std::numeric_limits<double>::infinity();
    for (const std::size_t c : usable) {
      const double value = error_of((sum + held_out[c]) / (steps + 1.0));
      if (value < error) {
        error = value;
        chosen = c;
      }
    }
    if (!(error < best * (1.0 - kLeastGain)) && steps > 0) break;
    best = error;
    sum += held_out[chosen];
    count[chosen] += 1.0;
    steps += 1.0;
  }
  for (double& value : count) value /= steps;
  return count;
}

Result<Ensemble> Ensemble::fit(const TrainingSet& set, const std::vector<std::size_t>& rows,
                               FoldKind kind, Rng rng) {
  Search search(set, rows, kind, rng);
  const auto whole = search.prepare(rows);
  search.measure_trust();
  BERTH_CHECK_OK(search.try_pair_models(whole));
  std::vector<std::size_t> techniques;
  for (std::size_t c = 0; c < search.candidates.size(); ++c) {
    if (!search.fitted[c]) techniques.push_back(c);
  }
  BERTH_CHECK_OK(search.try_techniques(techniques, 0, kFirstParts));
  const auto kept = search.best_techniques();
  BERTH_CHECK_OK(search.try_techniques(kept, kFirstParts, search.parts.folds.size()));
  const auto weights = search.choose_weights();
  const auto stranger_weights = search.stranger_weights(weights);

  Ensemble out;
  out.scaler_ = whole.scaler;
  out.latent_ = whole.latent;
  if (kind == FoldKind::kJob) out.novelty_.fit(search.features, whole.prepared.x);
  const double range = search.target.maxCoeff() - search.target.minCoeff();
  out.low_target_ = search.target.minCoeff() - kBeyondRange * range;
  out.high_target_ = search.target.maxCoeff() + kBeyondRange * range;
  const auto n = search.target.size();
  Vector mean = Vector::Zero(n);
  Vector squares = Vector::Zero(n);
  for (std::size_t c = 0; c < search.candidates.size(); ++c) {
    out.scores_.push_back({search.candidates[c], search.error_of(search.held_out[c]), weights[c],
                           stranger_weights[c], !search.held_out[c].hasNaN()});
    if (weights[c] <= 0 && stranger_weights[c] <= 0) continue;
    const Vector share =
        (search.trust.array() * weights[c] + (1.0 - search.trust.array()) * stranger_weights[c]);
    mean += share.cwiseProduct(search.held_out[c]);
    squares += share.cwiseProduct(search.held_out[c].cwiseAbs2());
    if (!search.fitted[c]) {
      BERTH_TRY(search.fitted[c], Member::fit(search.candidates[c], search.features, *set.data,
                                              whole.prepared, whole.target, rng.fork(c)));
    }
    out.members_.push_back(std::move(*search.fitted[c]));
    out.weights_.push_back(weights[c]);
    out.stranger_weights_.push_back(stranger_weights[c]);
  }
  out.calibrate(search.target, mean, squares);
  return out;
}

// The quantile of the held-out errors, each divided by the spread expected there.
void Ensemble::calibrate(const Vector& target, const Vector& mean, const Vector& squares) {
  std::vector<double> errors;
  for (Eigen::Index i = 0; i < target.size(); ++i) {
    if (!std::isnan(mean(i))) errors.push_back(std::abs(mean(i) - target(i)));
  }
  if (errors.empty()) {  // nothing was held out: the range of the targets is all that is known
    quantile_ = high_target_ - low_target_;
    return;
  }
  std::sort(errors.begin(), errors.end());
  base_spread_ = std::max(errors[errors.size() / 2], 1e-9);
  errors.clear();
  for (Eigen::Index i = 0; i < target.size(); ++i) {
    if (std::isnan(mean(i))) continue;
    const double disagreement = std::max(squares(i) - mean(i) * mean(i), 0.0);
    errors.push_back(std::abs(mean(i) - target(i)) /
                     std::sqrt(base_spread_ * base_spread_ + disagreement));
  }
  std::sort(errors.begin(), errors.end());
  const auto rank =
      static_cast<std::size_t>(std::ceil(kCoverage * static_cast<double>(errors.size() + 1)));
  quantile_ = errors[std::min(rank, errors.size()) - 1];
}

Prediction Ensemble::predict(std::span<const double> raw, JobIndex subject,
                             std::span<const JobIndex> corunners) const {
  std::vector<double> x(raw.size());
  scaler_.apply(raw, x);
  const Query query{x, {&subject, 1}, corunners, latent_.of(subject, corunners)};
  const double trust = novelty_.trust(x);
  double mean = 0;
  double squares = 0;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const double share = trust * weights_[m] + (1.0 - trust) * stranger_weights_[m];
    if (share == 0.0) continue;
    const double value = members_[m].predict(query);
    mean += share * value;
    squares += share * value * value;
  }
  const double disagreement = std::max(squares - mean * mean, 0.0);
  double half = quantile_ * std::sqrt(base_spread_ * base_spread_ + disagreement);
  // A damaged model may overflow; then all that is known is the range of the targets.
  if (!std::isfinite(mean) || !std::isfinite(half)) {
    mean = 0.5 * (low_target_ + high_target_);
    half = high_target_ - low_target_;
  }
  mean = std::clamp(mean, low_target_, high_target_);
  // Far beyond the range nothing is known; keep it a number.
  const double limit = 2.0 * (std::abs(high_target_) + std::abs(low_target_)) + 1.0;
  return {std::expm1(mean), std::expm1(std::max(mean - half, -limit)),
          std::expm1(std::min(mean + half, limit))};
}

const Candidate& Ensemble::leading() const {
  const auto heaviest = std::max_element(weights_.begin(), weights_.end());
  return members_[static_cast<std::size_t>(heaviest - weights_.begin())].candidate();
}

std::string Ensemble::name() const {
  std::vector<std::pair<double, std::string>> parts;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (weights_[m] <= 0) continue;
    const std::string& technique = members_[m].candidate().technique;
    const auto known = std::find_if(parts.begin(), parts.end(),
                                    [&](const auto& part) { return part.second == technique; });
    if (known == parts.end()) {
      parts.emplace_back(-weights_[m], technique);
    } else {
      known->first -= weights_[m];
    }
  }
  std::sort(parts.begin(), parts.end());
  std::string out;
  for (const auto& [weight, technique] : parts) out += (out.empty() ? "" : "+") + technique;
  return out;
}

void Ensemble::save(nlohmann::json& out) const {
  nlohmann::json scaling;
  nlohmann::json latent;
  nlohmann::json novelty;
  scaler_.save(scaling);
  latent_.save(latent);
  novelty_.save(novelty);
  auto members = nlohmann::json::array();
  for (std::size_t m = 0; m < members_.size(); ++m) {
    nlohmann::json member;
    members_[m].save(member);
    member["weight"] = weights_[m];
    member["stranger_weight"] = stranger_weights_[m];
    members.push_back(std::move(member));
  }
  out = {
      {"scaling", std::move(scaling)},
      {"latent", std::move(latent)},
      {"novelty", std::move(novelty)},
      {"members", std::move(members)},
      {"low_target", low_target_},
      {"high_target", high_target_},
      {"conformal", {{"coverage", kCoverage}, {"spread", base_spread_}, {"quantile", quantile_}}}};
}

Result<Ensemble> Ensemble::load(const nlohmann::json& in, const FeatureMap& map) {
  Ensemble out;
  BERTH_TRY(const auto scaling, json_field<nlohmann::json>(in, "scaling"));
  BERTH_TRY(out.scaler_, Scaler::load(scaling));
  if (out.scaler_.size() != map.features().size()) {
    return fail(bad_input({}, 0, "scaling", "another number of features than the model's",
                          fmt::format("{}", out.scaler_.size()),
                          fmt::format("{}", map.features().size())));
  }
  BERTH_TRY(const auto latent, json_field<nlohmann::json>(in, "latent"));
  BERTH_TRY(out.latent_, LatentModel::load(latent));
  BERTH_TRY(const auto novelty, json_field<nlohmann::json>(in, "novelty"));
  BERTH_TRY(out.novelty_, Novelty::load(novelty, map.features().size()));
  BERTH_TRY(out.low_target_, json_field<double>(in, "low_target"));
  BERTH_TRY(out.high_target_, json_field<double>(in, "high_target"));
  BERTH_TRY(const auto conformal, json_field<nlohmann::json>(in, "conformal"));
  BERTH_TRY(out.base_spread_, json_field<double>(conformal, "spread"));
  BERTH_TRY(out.quantile_, json_field<double>(conformal, "quantile"));
  BERTH_TRY(const auto members, json_field<std::vector<nlohmann::json>>(in, "members"));
  const bool sound = out.low_target_ <= out.high_target_ && out.low_target_ >= -kLargestTarget &&
                     out.high_target_ <= kLargestTarget && out.base_spread_ > 0 &&
                     out.quantile_ >= 0;
  if (!sound) {
    return fail(bad_input({}, 0, "conformal", "the range or the interval is not possible"));
  }
  if (members.empty()) {
    return fail(bad_input({}, 0, "members", "the model has no members", "nothing", "one or more"));
  }
  for (const auto& entry : members) {
    BERTH_TRY(Member member, Member::load(entry, map.features()));
    BERTH_TRY(const double weight, json_field<double>(entry, "weight"));
    out.members_.push_back(std::move(member));
    out.weights_.push_back(weight);
    BERTH_TRY(const double stranger, json_field<double>(entry, "stranger_weight"));
    out.stranger_weights_.push_back(stranger);
  }
  return out;
}

}  // namespace berth::interference
