#include "interference/member.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "interference/json_field.h"

namespace berth::interference {
namespace {

// A Gaussian process over more rows would take minutes; a random part of them is used instead.
constexpr std::size_t kMostPairRows = 1500;
constexpr std::size_t kLatentColumns = 2;

// Gathers what one technique sees of a row.
void gather(std::span<const double> x, std::span<const std::size_t> columns, double* out) {
  for (const std::size_t column : columns) *out++ = x[column];
}

double param(const Params& params, std::string_view name, double fallback) {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  return fallback;
}

std::span<const double> row_of(const Matrix& x, std::size_t i) {
  return {x.row(static_cast<Eigen::Index>(i)).data(), static_cast<std::size_t>(x.cols())};
}

}  // namespace

std::string Candidate::label() const {
  std::string out = technique;
  for (const auto& [name, value] : params) out += fmt::format(" {}={:g}", name, value);
  out += fmt::format(" {}", category_name(view.category));
  if (view.composed) out += " composed";
  if (latent) out += " latent";
  return out;
}

bool Member::possible(const Candidate& candidate, std::span<const Feature> features) {
  return !select_features(features, candidate.view).empty();
}

void Member::choose_columns(std::span<const Feature> features) {
  const auto chosen = select_features(features, candidate_.view);
  if (candidate_.technique != kPairGpName) {
    columns_ = chosen;
    return;
  }
  for (const std::size_t f : chosen) {
    const FeatureRole role = features[f].role;
    if (role == FeatureRole::kSubject || role == FeatureRole::kCorun) subject_columns_.push_back(f);
    if (role == FeatureRole::kPartner) partner_columns_.push_back(f);
  }
}

Result<Member> Member::fit(const Candidate& candidate, std::span<const Feature> features,
                           const Dataset& data, const Prepared& prepared, const Vector& target,
                           Rng rng) {
  Member member;
  member.candidate_ = candidate;
  member.choose_columns(features);
  if (candidate.technique == kPairGpName) {
    BERTH_CHECK_OK(member.fit_pairs(features, data, prepared, target, rng));
    return member;
  }
  const TechniqueInfo* info = find_technique(candidate.technique);
  if (info == nullptr) return fail(internal_error("no technique " + candidate.technique));
  const std::size_t own = member.columns_.size();
  Matrix x(prepared.x.rows(),
           static_cast<Eigen::Index>(own + (candidate.latent ? kLatentColumns : 0)));
  for (std::size_t i = 0; i < prepared.rows.size(); ++i) {
    double* out = x.row(static_cast<Eigen::Index>(i)).data();
    gather(row_of(prepared.x, i), member.columns_, out);
    if (!candidate.latent) continue;
    out[own] = prepared.latent[i].sensitivity;
    out[own + 1] = prepared.latent[i].aggressiveness;
  }
  member.mean_ = target.mean();
  const double variance = (target.array() - member.mean_).square().mean();
  member.scale_ = variance > 0 ? std::sqrt(variance) : 1.0;
  member.regressor_ = info->make(candidate.params);
  BERTH_CHECK_OK(
      member.regressor_->fit(x, ((target.array() - member.mean_) / member.scale_).matrix(), rng));
  return member;
}

Status Member::fit_pairs(std::span<const Feature> features, const Dataset& data,
                         const Prepared& prepared, const Vector& target, Rng rng) {
  std::vector<std::size_t> used(prepared.rows.size());
  for (std::size_t i = 0; i < used.size(); ++i) used[i] = i;
  if (used.size() > kMostPairRows) {
    Rng draw = rng.fork("rows");
    draw.shuffle(std::span(used));
    used.resize(kMostPairRows);
  }
  const auto n = static_cast<Eigen::Index>(used.size());
  Matrix subject(n, static_cast<Eigen::Index>(subject_columns_.size()));
  Matrix partner(n, static_cast<Eigen::Index>(partner_columns_.size()));
  Vector y(n);
  std::vector<PairRow> rows;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    gather(row_of(prepared.x, used[i]), subject_columns_, subject.row(at).data());
    gather(row_of(prepared.x, used[i]), partner_columns_, partner.row(at).data());
    y(at) = target(static_cast<Eigen::Index>(used[i]));
    const Row& row = data.rows[prepared.rows[used[i]]];
    rows.push_back({{row_of(subject, i), {&row.subject, 1}}, {row_of(partner, i), row.corunners}});
  }
  bool same = subject_columns_.size() == partner_columns_.size();
  for (std::size_t f = 0; f < subject_columns_.size() && same; ++f) {
    same = features[subject_columns_[f]].parameter == features[partner_columns_[f]].parameter;
  }
  return pairs_.emplace().fit(rows, {same, param(candidate_.params, "relevances", 0) > 0}, y, rng);
}

double Member::predict(const Query& query) const {
  std::array<double, 64> small{};
  std::vector<double> large;
  const std::size_t size =
      columns_.size() + subject_columns_.size() + partner_columns_.size() + kLatentColumns;
  if (size > small.size()) large.resize(size);
  double* out = large.empty() ? small.data() : large.data();
  if (pairs_) {
    gather(query.x, subject_columns_, out);
    gather(query.x, partner_columns_, out + subject_columns_.size());
    return pairs_->predict(
        {{{out, subject_columns_.size()}, query.subject},
         {{out + subject_columns_.size(), partner_columns_.size()}, query.corunners}});
  }
  gather(query.x, columns_, out);
  std::size_t used = columns_.size();
  if (candidate_.latent) {
    out[used++] = query.latent.sensitivity;
    out[used++] = query.latent.aggressiveness;
  }
  return mean_ + scale_ * regressor_->predict({out, used});
}

std::optional<Vector> Member::predict_without(std::span<const std::size_t> held_out) const {
  if (!pairs_ || pairs_->rows() < kMostPairRows) {
    return pairs_ ? std::optional(pairs_->predict_without(held_out)) : std::nullopt;
  }
  return std::nullopt;
}

void Member::save(nlohmann::json& out) const {
  nlohmann::json params = nlohmann::json::object();
  for (const auto& [name, value] : candidate_.params) params[name] = value;
  out = {{"technique", candidate_.technique},
         {"params", params},
         {"category", category_name(candidate_.view.category)},
         {"composed", candidate_.view.composed},
         {"latent", candidate_.latent},
         {"target_mean", mean_},
         {"target_scale", scale_}};
  nlohmann::json fitted;
  if (pairs_) {
    pairs_->save(fitted);
  } else {
    regressor_->save(fitted);
  }
  out["fitted"] = std::move(fitted);
}

Result<Member> Member::load(const nlohmann::json& in, std::span<const Feature> features) {
  Member member;
  BERTH_TRY(member.candidate_.technique, json_field<std::string>(in, "technique"));
  BERTH_TRY(const auto category, json_field<std::string>(in, "category"));
  bool known = false;
  for (const Category c : kCategories) {
    if (category_name(c) != category) continue;
    member.candidate_.view.category = c;
    known = true;
  }
  if (!known) return fail(bad_input({}, 0, "category", "unknown", printable(category)));
  BERTH_TRY(member.candidate_.view.composed, json_field<bool>(in, "composed"));
  BERTH_TRY(member.candidate_.latent, json_field<bool>(in, "latent"));
  BERTH_TRY(member.mean_, json_field<double>(in, "target_mean"));
  BERTH_TRY(member.scale_, json_field<double>(in, "target_scale"));
  BERTH_TRY(const auto params, (json_field<std::map<std::string, double>>(in, "params")));
  member.candidate_.params.assign(params.begin(), params.end());
  member.choose_columns(features);
  BERTH_TRY(const auto fitted, json_field<nlohmann::json>(in, "fitted"));
  std::size_t expected = member.columns_.size() + (member.candidate_.latent ? kLatentColumns : 0);
  std::size_t found = 0;
  if (member.candidate_.technique == kPairGpName) {
    BERTH_TRY(member.pairs_, PairGp::load(fitted));
    expected = member.subject_columns_.size() + member.partner_columns_.size();
    found = member.pairs_->subject_features() + member.pairs_->partner_features();
    if (member.pairs_->subject_features() != member.subject_columns_.size()) found = expected + 1;
  } else {
    const TechniqueInfo* info = find_technique(member.candidate_.technique);
    if (info == nullptr) {
      return fail(bad_input({}, 0, "technique", "unknown", printable(member.candidate_.technique)));
    }
    BERTH_TRY(member.regressor_, info->load(fitted));
    found = member.regressor_->feature_count();
  }
  if (found != expected) {
    return fail(bad_input({}, 0, "fitted", "another number of features than the model's",
                          fmt::format("{}", found), fmt::format("{}", expected)));
  }
  return member;
}

}  // namespace berth::interference
