// Reasons in words: made here, at the edge, from data.
#pragma once

#include <string>

#include "model/reason.h"

namespace berth {

[[nodiscard]] bool reason_is_never(ReasonCode code);
// "asks for 16 GPUs, the cluster has 8": a clause without a full stop.
[[nodiscard]] std::string reason_text(const Reason& reason);

}  // namespace berth
