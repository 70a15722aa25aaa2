#include "interference/technique.h"

#include <algorithm>

#include "interference/techniques/adaboost.h"
#include "interference/techniques/boosting.h"
#include "interference/techniques/forest.h"
#include "interference/techniques/gaussian_process.h"
#include "interference/techniques/kernel_ridge.h"
#include "interference/techniques/knn.h"
#include "interference/techniques/linear.h"
#include "interference/techniques/svr.h"

namespace berth::interference {

std::span<const TechniqueInfo> all_techniques() {
  static const std::vector<TechniqueInfo> kAll = {
      linear_technique(),
      svr_linear_technique(),
      svr_poly_technique(),
      svr_rbf_technique(),
      knn_technique(),
      cart_technique(),
      random_forest_technique(),
      extra_trees_technique(),
      bagging_technique(),
      adaboost_r2_technique(),
      gradient_boosting_technique(),
      kernel_ridge_technique(),
      gaussian_process_technique(),
  };
  return kAll;
}

const TechniqueInfo* find_technique(std::string_view name) {
  const auto all = all_techniques();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const TechniqueInfo& info) { return info.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace berth::interference
