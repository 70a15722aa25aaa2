#include "jobspec/job_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/datetime.h"
#include "jobspec/job_reader.h"
#include "jobspec/job_words.h"
#include "jobspec/limits.h"
#include "jobspec/units.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

Status check_size(std::string_view text, std::string_view file) {
  if (text.size() <= kMaxJobFileBytes) return {};
  return fail(bad_input(file, 0, {}, "too large for a job", fmt::format("{} bytes", text.size()),
                        fmt::format("at most {}", kMaxJobFileBytes)));
}

std::string mib_text(std::uint32_t mib) {
  return size_text(static_cast<std::int64_t>(mib) << 20U);
}

// Decimal numbers of few digits: the nearest double is written with just these.
double decimal(std::int64_t value, double factor) {
  return static_cast<double>(value) / factor;
}

Json gpus_json(std::uint32_t milli) {
  if (milli % 1000 == 0) return milli / 1000;
  return decimal(milli, 1e3);
}

void add_resources(const JobSpec& job, Json& out) {
  out["gpus"] = gpus_json(job.gpu_milli);
  if (job.gpu_memory_mib != 0) out["gpu_memory"] = mib_text(job.gpu_memory_mib);
  if (!job.gpu_types.empty()) out["gpu_type"] = job.gpu_types;
  if (job.cpu_milli != 0) out["cpus"] = decimal(job.cpu_milli, 1e3);
  if (job.memory_mib != 0) out["memory"] = mib_text(job.memory_mib);
}

void add_goals(const JobSpec& job, Json& out) {
  constexpr double kPpm = job_limits::kPpm;
  if (!job.model.empty()) out["model"] = job.model;
  if (!job.virtual_cluster.empty()) out["virtual_cluster"] = job.virtual_cluster;
  out["priority"] = job.priority;
  if (job.urgency != 0) out["urgency"] = job.urgency;
  if (job.deadline_unix_us) out["deadline"] = format_utc(*job.deadline_unix_us);
  if (job.deadline_after_us) out["deadline"] = span_text(*job.deadline_after_us);
  if (job.time_limit_us) out["time_limit"] = span_text(*job.time_limit_us);
  if (job.max_iterations) out["iterations"] = *job.max_iterations;
  if (job.required_accuracy_ppm >= 0) out["accuracy"] = decimal(job.required_accuracy_ppm, kPpm);
  out["stop"] = kStopWords.at(static_cast<std::size_t>(job.stop));
  out["stop_at_worst"] = kStopWords.at(static_cast<std::size_t>(job.stop_at_worst));
  if (job.interference_tolerance_ppm >= 0) {
    out["interference_tolerance"] = decimal(job.interference_tolerance_ppm, kPpm);
  }
}

}  // namespace

Result<std::vector<JobSpec>> read_job_yaml(std::string_view text, const std::string& file,
                                           const std::string& directory) {
  BERTH_CHECK_OK(check_size(text, file));
  BERTH_TRY(const auto documents, document::parse_yaml(text, file));
  JobReader reader(file, Syntax::kYaml, directory);
  std::vector<JobSpec> jobs;
  for (const document::Node& root : documents) {
    if (root.kind == document::Kind::kNothing) continue;  // between two "---"
    BERTH_TRY(JobSpec job, reader.read(root));
    jobs.push_back(std::move(job));
  }
  if (jobs.empty()) {
    return fail(bad_input(file, 0, {}, "no job", "an empty file", "a map with the key 'command'"));
  }
  return jobs;
}

Result<JobSpec> read_job_json(std::string_view text) {
  BERTH_CHECK_OK(check_size(text, {}));
  BERTH_TRY(const document::Node root, document::parse_json(text, {}));
  static const std::string no_directory;
  return JobReader({}, Syntax::kJson, no_directory).read(root);
}

std::string job_json(const JobSpec& job) {
  Json out;
  out["name"] = job.name;
  out["command"] = job.command;
  out["directory"] = job.directory;
  if (!job.environment.empty()) {
    Json& variables = out["env"] = Json::object();
    for (const auto& [name, value] : job.environment) variables[name] = value;
  }
  out["replicas"] = job.replicas;
  out["partitions"] = job.partitions;
  out["parameter_server"] = job.parameter_server;
  out["elastic"] = job.elastic;
  if (!job.graph.empty()) out["graph"] = job.graph;
  add_resources(job, out);
  add_goals(job, out);
  out["checkpoint"] = {{"signal", job.checkpoint.signal},
                       {"grace", span_text(job.checkpoint.grace_us)},
                       {"term_grace", span_text(job.checkpoint.term_grace_us)}};
  out["restarts"] = job.restarts;
  if (!job.tensorboard.empty()) out["tensorboard"] = job.tensorboard;
  out["log_limit"] = size_text(job.log_limit_bytes);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace berth
