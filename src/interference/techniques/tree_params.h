// The parameters that every tree technique shares.
#pragma once

#include "interference/techniques/tree.h"

namespace berth::interference {

inline constexpr double kMaxTrees = 10'000;

struct TreeParams {
  double max_depth = 0.0;  // 0: no bound
  double min_samples_leaf = 1.0;
  double max_features = 1.0;  // share of the features looked at in a node, (0, 1]

  // With the values that `params` names.
  void read(const Params& params);
  [[nodiscard]] Params list() const;
  // kUsage when one is out of its range.
  [[nodiscard]] Result<TreeOptions> options() const;
};

}  // namespace berth::interference
