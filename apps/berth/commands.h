// Every command: one line here, one file each.
#pragma once

#include <vector>

#include "cli.h"

namespace berth::cli {

[[nodiscard]] std::vector<Command> all_commands();

[[nodiscard]] Command simulate_command_info();
[[nodiscard]] Command compare_command_info();
[[nodiscard]] Command trace_convert_command_info();
[[nodiscard]] Command trace_stats_command_info();
[[nodiscard]] Command trace_generate_command_info();
[[nodiscard]] Command interference_fit_info();
[[nodiscard]] Command interference_predict_info();
[[nodiscard]] Command interference_evaluate_info();
[[nodiscard]] Command reproduce_aip_info();
[[nodiscard]] Command up_command_info();
[[nodiscard]] Command backup_command_info();
[[nodiscard]] Command doctor_command_info();
[[nodiscard]] Command submit_command_info();
// Those that talk to a scheduler that runs.
[[nodiscard]] std::vector<Command> job_commands();

}  // namespace berth::cli
