#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "base/datetime.h"
#include "base/utf8.h"
#include "jobspec/job_file.h"
#include "jobspec/job_words.h"
#include "jobspec/limits.h"

namespace berth {
namespace {

namespace limits = job_limits;

Status wrong(std::string field, std::string found, std::string expected) {
  return fail(
      bad_input({}, 0, std::move(field), "not valid", std::move(found), std::move(expected)));
}

// What the kernel and the files that name it can carry.
Status check_text(const std::string& text, const std::string& field, std::size_t most_bytes) {
  if (text.size() > most_bytes) {
    return wrong(field, fmt::format("{} bytes", text.size()),
                 fmt::format("at most {} bytes", most_bytes));
  }
  if (text.find('\0') != std::string::npos) {
    return wrong(field, "a byte that is zero", "text without it");
  }
  const std::size_t at = first_invalid_utf8(text);
  if (at != std::string::npos) {
    return wrong(field, fmt::format("'{}' at byte {}", text.substr(at, 1), at), "text in UTF-8");
  }
  return {};
}

Status check_range(std::int64_t value, std::int64_t low, std::int64_t high, const char* field) {
  if (value >= low && value <= high) return {};
  return wrong(field, fmt::to_string(value), fmt::format("{} to {}", low, high));
}

// What the kernel counts of an argument or variable: it, its end, and the pointer to it.
std::size_t kernel_bytes(std::size_t length) {
  return length + 1 + sizeof(void*);
}

Status check_command(const JobSpec& job) {
  if (job.command.empty()) {
    return wrong("command", "nothing", "what to run, as in [python3, train.py]");
  }
  if (job.command.front().empty()) return wrong("command[0]", "''", "a program");
  std::size_t sum = 0;
  for (std::size_t i = 0; i < job.command.size(); ++i) {
    BERTH_CHECK_OK(check_text(job.command[i], fmt::format("command[{}]", i), kMaxArgumentBytes));
    sum += kernel_bytes(job.command[i].size());
  }
  std::set<std::string_view> names;
  for (const auto& [name, value] : job.environment) {
    const std::string field = "env." + name;
    if (name.empty() || name.find('=') != std::string::npos) {
      return wrong("env", "'" + name + "'", "names of variables, without '='");
    }
    if (!names.insert(name).second) return wrong(field, "the name twice", "each variable once");
    BERTH_CHECK_OK(check_text(name, "env", kMaxArgumentBytes));
    BERTH_CHECK_OK(check_text(value, field, kMaxArgumentBytes));
    if (name.size() + 1 + value.size() > kMaxArgumentBytes) {
      return wrong(field, fmt::format("{} bytes", name.size() + 1 + value.size()),
                   fmt::format("at most {} bytes", kMaxArgumentBytes));
    }
    sum += kernel_bytes(name.size() + 1 + value.size());
  }
  if (sum > kMaxArgumentsBytes) {
    return wrong("command", fmt::format("{} bytes with its environment", sum),
                 fmt::format("at most {}", kMaxArgumentsBytes));
  }
  return {};
}

Status check_names(const JobSpec& job) {
  BERTH_CHECK_OK(check_text(job.name, "name", limits::kMostNameBytes));
  BERTH_CHECK_OK(check_text(job.model, "model", limits::kMostNameBytes));
  BERTH_CHECK_OK(check_text(job.virtual_cluster, "virtual_cluster", limits::kMostNameBytes));
  BERTH_CHECK_OK(check_text(job.directory, "directory", limits::kMostPathBytes));
  BERTH_CHECK_OK(check_text(job.tensorboard, "tensorboard", limits::kMostPathBytes));
  if (!job.directory.starts_with('/')) {
    return wrong("directory", job.directory.empty() ? "nothing" : "'" + job.directory + "'",
                 "an absolute path");
  }
  if (job.gpu_types.size() > limits::kMostGpuTypes) {
    return wrong("gpu_type", fmt::format("{} types", job.gpu_types.size()),
                 fmt::format("at most {}", limits::kMostGpuTypes));
  }
  for (std::size_t i = 0; i < job.gpu_types.size(); ++i) {
    const std::string& type = job.gpu_types[i];
    BERTH_CHECK_OK(check_text(type, "gpu_type", limits::kMostNameBytes));
    const auto here = job.gpu_types.begin() + static_cast<std::ptrdiff_t>(i);
    if (type.empty() || std::find(job.gpu_types.begin(), here, type) != here) {
      return wrong("gpu_type", "'" + type + "'", "names of GPU types, each once");
    }
  }
  return {};
}

// Partitions can be put in an order in which every edge goes forward.
bool has_cycle(const JobSpec& job) {
  std::vector<std::vector<std::uint32_t>> out(job.partitions);
  std::vector<std::uint32_t> waits_for(job.partitions, 0);
  for (const auto& [from, to] : job.graph) {
    out[from].push_back(to);
    ++waits_for[to];
  }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t k = 0; k < job.partitions; ++k) {
    if (waits_for[k] == 0) ready.push_back(k);
  }
  std::size_t done = 0;
  while (!ready.empty()) {
    const std::uint32_t next = ready.back();
    ready.pop_back();
    ++done;
    for (const std::uint32_t to : out[next]) {
      if (--waits_for[to] == 0) ready.push_back(to);
    }
  }
  return done != job.partitions;
}

Status check_tasks(const JobSpec& job) {
  BERTH_CHECK_OK(check_range(job.replicas, 1, kMaxTasksPerJob, "replicas"));
  BERTH_CHECK_OK(check_range(job.partitions, 1, kMaxTasksPerJob, "partitions"));
  const std::int64_t tasks =
      std::int64_t{job.replicas} * job.partitions + (job.parameter_server ? 1 : 0);
  if (tasks > kMaxTasksPerJob) {
    return wrong("replicas", fmt::format("{} tasks in all", tasks),
                 fmt::format("at most {}", kMaxTasksPerJob));
  }
  if (job.graph.size() > limits::kMostEdges) {
    return wrong("graph", fmt::format("{} edges", job.graph.size()),
                 fmt::format("at most {}", limits::kMostEdges));
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (std::size_t i = 0; i < job.graph.size(); ++i) {
    const auto [from, to] = job.graph[i];
    const bool known = from < job.partitions && to < job.partitions && from != to;
    if (!known || !seen.insert(job.graph[i]).second) {
      return wrong(
          fmt::format("graph[{}]", i), fmt::format("[{}, {}]", from, to),
          fmt::format("two of the {} partitions, counted from 0, each edge once", job.partitions));
    }
  }
  if (has_cycle(job)) return wrong("graph", "a cycle", "edges that lead nowhere back");
  return {};
}

Status check_resources(const JobSpec& job) {
  constexpr std::uint32_t kWhole = 1'000;
  const std::uint32_t milli = job.gpu_milli;
  if (milli > limits::kMostGpus * kWhole || (milli > kWhole && milli % kWhole != 0)) {
    return wrong(
        "gpus", fmt::format("{} thousandths", milli),
        fmt::format("a whole number from 0 to {}, or a share of one GPU", limits::kMostGpus));
  }
  const std::uint32_t workers = job.replicas * job.partitions;
  if (milli % kWhole != 0 && workers != 1) {
    return wrong("gpus", fmt::format("{} of a GPU for each of {} workers", milli / 1e3, workers),
                 "a share of a GPU for a job of one worker, or whole GPUs");
  }
  BERTH_CHECK_OK(check_range(job.gpu_memory_mib, 0, limits::kMostMemoryMib, "gpu_memory"));
  if (milli == 0 && (job.gpu_memory_mib != 0 || !job.gpu_types.empty())) {
    return wrong(job.gpu_types.empty() ? "gpu_memory" : "gpu_type",
                 "a wish for GPUs of a job "
                 "that takes none",
                 "gpus as well");
  }
  BERTH_CHECK_OK(check_range(job.cpu_milli, 0, limits::kMostCpuMilli, "cpus"));
  return check_range(job.memory_mib, 0, limits::kMostMemoryMib, "memory");
}

Status check_goals(const JobSpec& job) {
  BERTH_CHECK_OK(check_range(job.urgency, 0, limits::kMostUrgent, "urgency"));
  if (job.deadline_unix_us && job.deadline_after_us) {
    return wrong("deadline", "an instant and a time from the submission", "one of them");
  }
  if (job.deadline_unix_us &&
      (*job.deadline_unix_us < kFirstInstantUs || *job.deadline_unix_us >= kEndInstantUs)) {
    return wrong("deadline", fmt::format("{} us since 1970", *job.deadline_unix_us),
                 "an instant from 1971 to 2199");
  }
  if (job.deadline_after_us) {
    BERTH_CHECK_OK(check_range(*job.deadline_after_us, 1, limits::kMostSpanUs, "deadline"));
  }
  if (job.time_limit_us) {
    BERTH_CHECK_OK(check_range(*job.time_limit_us, 1, limits::kMostSpanUs, "time_limit"));
  }
  if (job.max_iterations) {
    BERTH_CHECK_OK(check_range(*job.max_iterations, 1, limits::kMostIterations, "iterations"));
  }
  BERTH_CHECK_OK(check_range(job.required_accuracy_ppm, -1, limits::kPpm, "accuracy"));
  BERTH_CHECK_OK(
      check_range(job.interference_tolerance_ppm, -1, limits::kPpm, "interference_tolerance"));
  const bool by_accuracy =
      job.stop == StopOption::kAccuracy || job.stop_at_worst == StopOption::kAccuracy;
  if (by_accuracy && job.required_accuracy_ppm < 0) {
    return wrong(job.stop == StopOption::kAccuracy ? "stop" : "stop_at_worst", "'accuracy'",
                 "the key 'accuracy' as well");
  }
  return {};
}

Status check_course(const JobSpec& job) {
  const CheckpointSpec& checkpoint = job.checkpoint;
  if (std::find(kSignalWords.begin(), kSignalWords.end(), checkpoint.signal) ==
      kSignalWords.end()) {
    return wrong("checkpoint.signal", "'" + checkpoint.signal + "'",
                 fmt::format("{}", fmt::join(kSignalWords, ", ")));
  }
  BERTH_CHECK_OK(check_range(checkpoint.grace_us, 0, limits::kMostSpanUs, "checkpoint.grace"));
  BERTH_CHECK_OK(
      check_range(checkpoint.term_grace_us, 0, limits::kMostSpanUs, "checkpoint.term_grace"));
  BERTH_CHECK_OK(check_range(job.restarts, 0, limits::kMostRestarts, "restarts"));
  return check_range(job.log_limit_bytes, limits::kLeastLogBytes, limits::kMostLogBytes,
                     "log_limit");
}

}  // namespace

Status check_job(const JobSpec& job) {
  BERTH_CHECK_OK(check_command(job));
  BERTH_CHECK_OK(check_names(job));
  BERTH_CHECK_OK(check_tasks(job));
  BERTH_CHECK_OK(check_resources(job));
  BERTH_CHECK_OK(check_goals(job));
  return check_course(job);
}

}  // namespace berth
