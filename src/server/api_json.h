// Jobs, nodes and reasons as the HTTP interface writes them (docs/openapi.json).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "controller/controller.h"
#include "controller/start_estimate.h"

namespace berth {

using Json = nlohmann::ordered_json;

// One line even where a name is not UTF-8.
[[nodiscard]] std::string dump(const Json& json);

// "pending", "held", "starting", "running", "stopping", "finished", "stopped", "failed".
[[nodiscard]] std::string_view job_state_name(const JobRecord& record, const LiveJob* live);

// `live`: null if it has ended. Without the specification.
[[nodiscard]] Json job_json(const Controller& controller, const JobRecord& record,
                            const LiveJob* live);
// Iterations, loss and accuracy as last reported, and what of the reports could not be used.
void add_reports(const JobReports& reports, Json& out);
// The runs of a job.
[[nodiscard]] Json attempts_json(const std::vector<AttemptRecord>& attempts);
// Why it waits or runs, what is ahead, and when it may start; looks ahead for about `budget_us`.
[[nodiscard]] Json why_json(const Controller& controller, const JobRecord& record,
                            const LiveJob* live, TimeUs budget_us);
[[nodiscard]] Json nodes_json(const Controller& controller);

}  // namespace berth
