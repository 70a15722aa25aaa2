// Reads a job as YAML and as JSON from arbitrary bytes. What is accepted is right, and is written
// and read back equal.
#include "jobspec/job_file.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const berth::JobSpec& job) {
  require(berth::check_job(job).has_value());
  const auto again = berth::read_job_json(berth::job_json(job));
  require(again.has_value() && *again == job);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto jobs = berth::read_job_yaml(text, "job.yaml", "/home/user");
  if (jobs) {
    for (const auto& job : *jobs) check(job);
  } else {
    require(jobs.error().exit_code() == 2);
  }
  const auto job = berth::read_job_json(text);
  if (job) {
    check(*job);
  } else {
    require(job.error().exit_code() == 2);
  }
  return 0;
}
