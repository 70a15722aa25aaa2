#include "policy/common/options.h"

#include <fmt/format.h>

namespace berth {

Status no_options(std::string_view policy, std::span<const PolicyOption> options) {
  if (options.empty()) return {};
  return fail(usage_error(fmt::format("policy '{}' has no options, '{}' was set", policy,
                                      printable(options.front().key)),
                          "--set"));
}

}  // namespace berth
