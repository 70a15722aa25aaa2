#include "interference/techniques/tree_params.h"

#include "interference/techniques/common.h"

namespace berth::interference {

void TreeParams::read(const Params& params) {
  max_depth = parameter(params, "max_depth", max_depth);
  min_samples_leaf = parameter(params, "min_samples_leaf", min_samples_leaf);
  max_features = parameter(params, "max_features", max_features);
}

Params TreeParams::list() const {
  return {{"max_depth", max_depth},
          {"min_samples_leaf", min_samples_leaf},
          {"max_features", max_features}};
}

Result<TreeOptions> TreeParams::options() const {
  TreeOptions options;
  BERTH_CHECK_OK(check_parameter("max_depth", max_depth, 0, options.max_depth));
  BERTH_CHECK_OK(check_parameter("min_samples_leaf", min_samples_leaf, 1, 1e9));
  BERTH_CHECK_OK(check_parameter("max_features", max_features, 1e-9, 1));
  if (max_depth >= 1.0) options.max_depth = static_cast<int>(max_depth);
  options.min_samples_leaf = static_cast<std::size_t>(min_samples_leaf);
  options.max_features = max_features;
  return options;
}

}  // namespace berth::interference
