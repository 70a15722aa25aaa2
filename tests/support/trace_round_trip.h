// Writing a trace in Berth's own format and reading it back.
#pragma once

#include <string>
#include <string_view>

#include "trace/reader.h"
#include "trace/writer.h"

namespace berth::test {

class MemorySink final : public trace::ByteSink {
 public:
  Status write(std::string_view bytes) override {
    text_ += bytes;
    return {};
  }
  Status finish() override { return {}; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

[[nodiscard]] inline std::string written(const trace::Trace& trace) {
  MemorySink sink;
  const Status status = trace::write_trace(trace, sink);
  return status ? sink.text() : "not written: " + status.error().text();
}

// What differs between two traces, "" if nothing does. Names are compared, not their indices.
[[nodiscard]] inline std::string difference(const trace::Trace& a, const trace::Trace& b) {
  if (a.jobs.size() != b.jobs.size()) return "number of jobs";
  if (!a.jobs.empty() && a.zero_us != b.zero_us) return "zero";
  if (!a.jobs.empty() && a.zero_is_unix_time != b.zero_is_unix_time) return "kind of zero";
  for (std::size_t i = 0; i < a.jobs.size(); ++i) {
    const trace::TraceJob& x = a.jobs[i];
    const trace::TraceJob& y = b.jobs[i];
    const std::string of = " of job " + std::string(x.id);
    if (x.id != y.id) return "id" + of;
    if (x.name != y.name) return "name" + of;
    if (x.arrival_us != y.arrival_us) return "arrival" + of;
    if (x.duration_us != y.duration_us) return "duration" + of;
    if (x.queue_us != y.queue_us) return "queue" + of;
    if (x.gpu_milli != y.gpu_milli) return "GPUs" + of;
    if (x.nodes != y.nodes) return "nodes" + of;
    if (x.cpu_milli != y.cpu_milli) return "CPUs" + of;
    if (x.memory_mib != y.memory_mib) return "memory" + of;
    if (x.time_limit_us != y.time_limit_us) return "time limit" + of;
    if (x.deadline_us != y.deadline_us) return "deadline" + of;
    if (x.iterations != y.iterations) return "iterations" + of;
    if (x.slo_milli != y.slo_milli) return "SLO" + of;
    if (x.priority != y.priority) return "priority" + of;
    if (x.weight_milli != y.weight_milli) return "weight" + of;
    if (x.attempts != y.attempts) return "attempts" + of;
    if (x.status != y.status) return "status" + of;
    if (x.mig_slice != y.mig_slice || x.shards != y.shards) return "kind of GPU" + of;
    if (a.users.name(x.user) != b.users.name(y.user)) return "user" + of;
    if (a.vcs.name(x.vc) != b.vcs.name(y.vc)) return "virtual cluster" + of;
    if (a.models.name(x.model) != b.models.name(y.model)) return "model" + of;
    if (a.gpu_types.name(x.gpu_types) != b.gpu_types.name(y.gpu_types)) return "GPU type" + of;
  }
  return {};
}

}  // namespace berth::test
