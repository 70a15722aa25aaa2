#include "commands.h"

#include <utility>

namespace berth::cli {

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  commands.push_back(simulate_command_info());
  commands.push_back(compare_command_info());
  commands.push_back(trace_convert_command_info());
  commands.push_back(trace_stats_command_info());
  commands.push_back(trace_generate_command_info());
  commands.push_back(interference_fit_info());
  commands.push_back(interference_predict_info());
  commands.push_back(interference_evaluate_info());
  commands.push_back(reproduce_aip_info());
  commands.push_back(up_command_info());
  commands.push_back(submit_command_info());
  commands.push_back(backup_command_info());
  commands.push_back(doctor_command_info());
  for (Command& command : job_commands()) commands.push_back(std::move(command));
  return commands;
}

}  // namespace berth::cli
