#include "support/schedules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

namespace berth::testing {

std::vector<std::string> schedule(const Cluster& cluster, const Workload& workload,
                                  std::string_view policy, std::vector<PolicyOption> options,
                                  std::string_view predict) {
  std::vector<std::string> out(workload.jobs.size());
  const auto info = find_policy(policy);
  EXPECT_TRUE(info) << policy;
  if (!info) return out;
  const auto made = (*info)->make(options);
  EXPECT_TRUE(made) << made.error().text();
  const auto predictors = make_predictors(predict, workload, 7);
  if (!made || !predictors) return out;
  TextEventLog log;
  const auto result =
      simulate(cluster, workload, **made, **predictors, {.seed = 7, .check = true, .log = &log});
  EXPECT_TRUE(result) << result.error().text();
  std::istringstream lines(log.text());
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
