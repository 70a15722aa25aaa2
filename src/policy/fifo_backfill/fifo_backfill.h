// EASY backfill (Lifka, JSSPP 1995): the head gets a reservation at the earliest instant at which
// it will fit by the predicted ends of running jobs; a later job may start now if it ends by then
// or uses only what the reservation leaves.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_fifo_backfill(
    std::span<const PolicyOption> options);

}  // namespace berth
