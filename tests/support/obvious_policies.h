// The rules of the policies, written down again without caches or indices: everything is looked at
// anew each round. For differential tests.
#pragma once

#include <memory>
#include <string_view>

#include "policy/policy.h"

namespace berth::testing {

// fifo, fifo-backfill, sjf or srtf, for one GPU type.
[[nodiscard]] std::unique_ptr<Policy> obvious_policy(std::string_view name);

}  // namespace berth::testing
