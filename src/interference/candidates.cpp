#include "interference/candidates.h"

#include <algorithm>

namespace berth::interference {
namespace {

struct Choice {
  std::string_view technique;
  std::size_t most_grid;  // points of the technique's grid that are tried, the defaults first
  bool composed;
  bool latent;      // where jobs are known
  bool only_known;  // not tried for new jobs
};

// What did well in trials on several data sets, and one of each other kind in case it does.
constexpr Choice kChoices[] = {
    {"svr-rbf", 6, false, false, false},  {"svr-rbf", 4, false, true, true},
    {"svr-rbf", 5, true, false, false},   {"extra-trees", 1, false, false, false},
    {"extra-trees", 1, true, true, true}, {"gradient-boosting", 1, true, false, false},
    {"knn", 2, false, false, false},      {"svr-linear", 1, false, false, false},
};

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
    if (kind == FoldKind::kJob && choice.only_known) continue;
    const std::size_t points = std::min(choice.most_grid, info->grid.size());
    for (std::size_t i = 0; i < points; ++i) {
      out.push_back({std::string(info->name),
                     info->grid[i],
                     {Category::kAll, choice.composed && has_composed},
                     choice.latent});
    }
  }
  add_category_candidates(features, out);
  std::erase_if(out, [&](const Candidate& c) { return !Member::possible(c, features); });
  return out;
}

}  // namespace berth::interference
