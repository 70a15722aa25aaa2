// berth simulate --why: why a job waits, or what it went through.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/workload.h"
#include "model/cluster.h"
#include "report/job_history.h"

namespace berth::cli {

struct WhyQuestion {
  JobId job;
  std::optional<TimeUs> at_us;  // nothing: its whole history
};

// "JOB" or "JOB@TIME": a job's name as the trace writes it, else its index; TIME in seconds of the
// run, or as 3h, 2d. Wrong use names what is near.
[[nodiscard]] Result<WhyQuestion> read_why(const std::string& text, const Workload& workload);

// For people; ends in a line feed.
[[nodiscard]] std::string why_text(const WhyQuestion& question, const JobHistory& history,
                                   const Cluster& cluster, const Workload& workload);
[[nodiscard]] nlohmann::ordered_json why_json(const WhyQuestion& question,
                                              const JobHistory& history, const Cluster& cluster,
                                              const Workload& workload);

}  // namespace berth::cli
