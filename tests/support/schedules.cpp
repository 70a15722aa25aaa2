#include "support/schedules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

namespace berth::testing {

std::vector<std::string> schedule(const Cluster& cluster, const Workload& workload,
                                  std::string_view policy, std::vector<PolicyOption> options,
                                  std::string_view predict) {
  std::vector<std::string> out(workload.jobs.size());
  const Run run =
      run_policy(cluster, workload, policy, {.predict = predict, .options = std::move(options)});
  std::istringstream lines(run.log);
  std::string line;
  std::getline(lines, line);  // titles
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::string time_us;
    std::string event;
    std::string id;
    std::getline(cells, time_us, ',');
    std::getline(cells, event, ',');
    std::getline(cells, id, ',');
    std::string& runs = out.at(std::stoul(id));
    const std::string at = fmt::format("{}", std::stod(time_us) / 1e6);
    if (event == "start") {
      runs += (runs.empty() ? "" : " ") + at + "-";
    } else if (event == "preempt" || event == "finish" || event == "evict" || event == "stop") {
      if (!runs.empty() && runs.back() == '-') runs += at;
    }
  }
  return out;
}

}  // namespace berth::testing
