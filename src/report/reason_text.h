// Reasons in words: made here, at the edge, from data.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "model/reason.h"

namespace berth {

[[nodiscard]] bool reason_is_never(ReasonCode code);

// How a job is called in a sentence.
using JobNamer = std::function<std::string(JobId)>;
[[nodiscard]] std::string job_by_number(JobId job);  // "job 7"

// "asks for 16 GPUs, the cluster has 8": a clause without a full stop. `head`: the job at the head
// of the queue that the reason is about, where that is known. `device`: what such jobs run on.
[[nodiscard]] std::string reason_text(const Reason& reason, const JobNamer& name = job_by_number,
                                      JobId head = {}, std::string_view device = "GPU");

}  // namespace berth
