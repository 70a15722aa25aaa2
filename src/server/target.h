// The target of a request ("/v1/jobs/7?limit=3") taken apart. Strict: whatever two programs could
// read differently is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

inline constexpr std::size_t kMostTargetBytes = 8 << 10;
inline constexpr std::size_t kMostParameters = 64;

struct Target {
  std::vector<std::string> path;
  std::vector<std::pair<std::string, std::string>> query;
};

// Nothing: no path from "/", a bad percent-encoding, an empty segment but the last, "." or ".." or
// "/" in a segment however they are written, control characters, a fragment, bytes that are not
// UTF-8 when decoded, or too long. In the query "+" is a space.
[[nodiscard]] std::optional<Target> parse_target(std::string_view target);

}  // namespace berth
