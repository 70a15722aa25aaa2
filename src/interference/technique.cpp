#include "interference/technique.h"

#include <algorithm>

#include "interference/techniques/linear.h"

namespace berth::interference {

std::span<const TechniqueInfo> all_techniques() {
  static const std::vector<TechniqueInfo> kAll = {
      linear_technique(),
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
