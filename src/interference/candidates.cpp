#include "interference/candidates.h"

#include <algorithm>
#include <set>
#include <string>

namespace berth::interference {
namespace {

enum class When : std::uint8_t { kAlways, kKnownJobs, kNewJobs };

struct Choice {
  std::string_view technique;
  std::size_t most_grid;  // points of the technique's grid that are tried, the defaults first
  bool composed = false;
  bool latent = false;
  When when = When::kAlways;
};

// What did well in trials on several data sets, and one of each other kind in case it does.
constexpr Choice kChoices[] = {
    {"svr-rbf", 6},
    {"svr-rbf", 4, false, true, When::kKnownJobs},
    {"svr-rbf", 5, true},
    {"extra-trees", 1},
    {"extra-trees", 1, true, true, When::kKnownJobs},
    {"gradient-boosting", 1, true},
    {"knn", 2},
    {"svr-linear", 1},
    {"gaussian-process", 1, false, false, When::kKnownJobs},
    {"kernel-ridge", 3, false, false, When::kNewJobs},
};

// A new job may lie outside of what was seen. Support vectors that hardly count a slack follow
// their last slope out there.
constexpr double kLargestCost = 10.0;

bool too_free(const Params& params) {
  return std::any_of(params.begin(), params.end(), [](const auto& param) {
    return param.first == "C" && param.second > kLargestCost;
  });
}

void add_category_candidates(std::span<const Feature> features, std::vector<Candidate>& out) {
  const TechniqueInfo* svr = find_technique("svr-rbf");
  if (svr == nullptr) return;
  for (const Category category : kCategories) {
    if (category == Category::kAll) continue;
    const auto inside = std::count_if(features.begin(), features.end(), [&](const Feature& f) {
      return f.category == category && f.role != FeatureRole::kComposed;
    });
    const auto all = std::count_if(features.begin(), features.end(), [](const Feature& f) {
      return f.role != FeatureRole::kComposed;
    });
    if (inside == 0 || inside == all) continue;  // nothing, or the same as all
    out.push_back({std::string(svr->name), svr->defaults, {category, false}, false});
  }
}

}  // namespace

std::vector<Candidate> make_candidates(std::span<const Feature> features, FoldKind kind) {
  std::vector<Candidate> out;
  out.push_back({std::string(kPairGpName), {{"relevances", 0.0}}, {}, false});
  out.push_back({std::string(kPairGpName), {{"relevances", 1.0}}, {}, false});
  const bool has_composed = std::any_of(features.begin(), features.end(), [](const Feature& f) {
    return f.role == FeatureRole::kComposed;
  });
  for (const Choice& choice : kChoices) {
    const TechniqueInfo* info = find_technique(choice.technique);
    if (info == nullptr) continue;
    if (choice.when == (kind == FoldKind::kJob ? When::kKnownJobs : When::kNewJobs)) continue;
    const std::size_t points = std::min(choice.most_grid, info->grid.size());
    for (std::size_t i = 0; i < points; ++i) {
      if (kind == FoldKind::kJob && too_free(info->grid[i])) continue;
      out.push_back({std::string(info->name),
                     info->grid[i],
                     {Category::kAll, choice.composed && has_composed},
                     choice.latent});
    }
  }
  add_category_candidates(features, out);
  std::set<std::string> seen;  // without composed features some are the same
  std::erase_if(out, [&](const Candidate& c) { return !seen.insert(c.label()).second; });
  std::erase_if(out, [&](const Candidate& c) { return !Member::possible(c, features); });
  return out;
}

}  // namespace berth::interference
