#include "support/job_specs.h"

#include <algorithm>
#include <string>

#include "base/datetime.h"
#include "jobspec/job_file.h"
#include "jobspec/job_words.h"
#include "jobspec/limits.h"

namespace berth::test {
namespace {

namespace limits = job_limits;

std::string random_text(Rng& rng, std::size_t least = 0) {
  static constexpr std::string_view kPieces[] = {"a",        "b",
                                                 " ",        "\n",
                                                 "\t",       "'",
                                                 "\"",       "\\",
                                                 "$(id)",    "; rm -rf /",
                                                 "\xC3\xA4", "no",
                                                 "010",      "~",
                                                 "null",     "#",
                                                 ": ",       "- ",
                                                 "{",        "]",
                                                 "%",        "\xF0\x9F\x98\x80",
                                                 "\x01",     "\x7F",
                                                 "=",        ".",
                                                 "["};
  std::string text;
  const std::uint64_t size = least + rng.below(6);
  for (std::uint64_t i = 0; i < size; ++i) text += kPieces[rng.below(std::size(kPieces))];
  return text;
}

// At its bounds now and then.
std::int64_t number(Rng& rng, std::int64_t low, std::int64_t high) {
  if (rng.chance(0.1)) return low;
  if (rng.chance(0.1)) return high;
  return rng.chance(0.5) ? rng.uniform_int(low, std::min(high, low + 5000))
                         : rng.uniform_int(low, high);
}

template <class T>
void sometimes(Rng& rng, T& out, std::int64_t low, std::int64_t high) {
  if (rng.chance(0.5)) out = static_cast<T>(number(rng, low, high));
}

void draw_tasks(Rng& rng, JobSpec& job) {
  sometimes(rng, job.replicas, 1, 64);
  sometimes(rng, job.partitions, 1, kMaxTasksPerJob / 64 - 1);
  job.parameter_server = rng.chance(0.3);
  job.elastic = rng.chance(0.3);
  for (std::uint32_t from = 0; from + 1 < job.partitions && from < 5; ++from) {
    if (rng.chance(0.5)) job.graph.emplace_back(from, from + 1);
  }
}

void draw_resources(Rng& rng, JobSpec& job) {
  if (rng.chance(0.7)) {
    job.gpu_milli = static_cast<std::uint32_t>(number(rng, 1, limits::kMostGpus)) * 1000;
    if (job.replicas * job.partitions == 1 && rng.chance(0.5)) {
      job.gpu_milli = static_cast<std::uint32_t>(number(rng, 1, 999));
    }
    sometimes(rng, job.gpu_memory_mib, 1, limits::kMostMemoryMib);
    if (rng.chance(0.5)) job.gpu_types = {"V100", "x" + random_text(rng)};
  }
  sometimes(rng, job.cpu_milli, 1, limits::kMostCpuMilli);
  sometimes(rng, job.memory_mib, 1, limits::kMostMemoryMib);
}

void draw_goals(Rng& rng, JobSpec& job) {
  if (rng.chance(0.5)) job.model = random_text(rng);
  if (rng.chance(0.5)) job.virtual_cluster = random_text(rng);
  sometimes(rng, job.priority, INT32_MIN, INT32_MAX);
  sometimes(rng, job.urgency, 1, limits::kMostUrgent);
  if (rng.chance(0.3)) {
    job.deadline_unix_us = number(rng, kFirstInstantUs, kEndInstantUs - 1);
  } else {
    sometimes(rng, job.deadline_after_us, 1, limits::kMostSpanUs);
  }
  sometimes(rng, job.time_limit_us, 1, limits::kMostSpanUs);
  sometimes(rng, job.max_iterations, 1, limits::kMostIterations);
  sometimes(rng, job.required_accuracy_ppm, 0, limits::kPpm);
  sometimes(rng, job.interference_tolerance_ppm, 0, limits::kPpm);
  const std::uint64_t options = job.required_accuracy_ppm < 0 ? 2 : 3;
  job.stop = static_cast<StopOption>(rng.below(options));
  job.stop_at_worst = static_cast<StopOption>(rng.below(options));
}

}  // namespace

JobSpec random_job_spec(Rng& rng) {
  JobSpec job;
  job.name = random_text(rng);
  const std::uint64_t words = 1 + rng.below(4);
  for (std::uint64_t i = 0; i < words; ++i) job.command.push_back(random_text(rng, i == 0 ? 1 : 0));
  job.directory = "/" + random_text(rng);
  const std::uint64_t variables = rng.below(4);
  for (std::uint64_t i = 0; i < variables; ++i) {
    std::string name = std::to_string(i) + random_text(rng);
    std::erase(name, '=');
    job.environment.emplace_back(name, random_text(rng));
  }
  draw_tasks(rng, job);
  draw_resources(rng, job);
  draw_goals(rng, job);
  job.checkpoint.signal = kSignalWords.at(rng.below(kSignalWords.size()));
  sometimes(rng, job.checkpoint.grace_us, 0, limits::kMostSpanUs);
  sometimes(rng, job.checkpoint.term_grace_us, 0, limits::kMostSpanUs);
  sometimes(rng, job.restarts, 0, limits::kMostRestarts);
  if (rng.chance(0.3)) job.tensorboard = random_text(rng);
  sometimes(rng, job.log_limit_bytes, limits::kLeastLogBytes, limits::kMostLogBytes);
  return job;
}

}  // namespace berth::test
