// What --why says of a job's priority; and how its answers call jobs and instants.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/workload.h"
#include "report/priority.h"

namespace berth::cli {

[[nodiscard]] std::string name_of(const Workload& workload, JobId job);  // "job a (index 3)"
// null: no such job
[[nodiscard]] nlohmann::ordered_json job_json(JobId job, const Workload& workload);
[[nodiscard]] std::string seconds_text(TimeUs us);  // "0.5", without trailing zeros

// "-9.9 = -8.5 - 1.4": the sum and its terms.
[[nodiscard]] std::string priority_sum_text(const PriorityExplanation& priority);
// What the numbers of priority_sum_text() are, in a line.
[[nodiscard]] std::string priority_legend(const PriorityExplanation& priority);
// "by -ln(GPUs): -2.1 against 0 of job a (index 3), the last of those that run".
[[nodiscard]] std::string priority_decision_text(const PriorityExplanation& priority,
                                                 const Workload& workload);
// Term by term against the other job.
[[nodiscard]] std::string priority_table(const PriorityExplanation& priority,
                                         const Workload& workload);
// null: no terms.
[[nodiscard]] nlohmann::ordered_json priority_json(const PriorityExplanation* priority,
                                                   const Workload& workload);

}  // namespace berth::cli
