// The rules of the policies, written down again without caches or indices: everything is looked at
// anew each round. For differential tests.
#pragma once

#include <memory>
#include <string_view>

#include "policy/policy.h"

namespace berth::testing {

// fifo, fifo-backfill, sjf or srtf, for one GPU type.
[[nodiscard]] std::unique_ptr<Policy> obvious_policy(std::string_view name);

// smith, fair or tiresias with thresholds of 20 and 100 GPU-seconds, for one GPU type.
inline constexpr TimeUs kObviousRoundUs = 2 * kUsPerS;
inline constexpr TimeUs kObviousLeastRunUs = 3 * kUsPerS;
[[nodiscard]] std::unique_ptr<Policy> obvious_ranked_policy(std::string_view name);

}  // namespace berth::testing
