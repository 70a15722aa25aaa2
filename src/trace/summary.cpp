#include "trace/summary.h"

#include <algorithm>

#include "trace/values.h"

namespace berth::trace {
namespace {

double gpu_hours_of(const TraceJob& job) {
  if (!job.gpu_milli.known() || !job.duration_us.known()) return 0;
  return static_cast<double>(job.gpu_milli.value()) / 1000.0 * seconds(job.duration_us.value()) /
         3600.0;
}

void add_to(GroupSummary& group, const TraceJob& job) {
  ++group.jobs;
  group.gpu_hours += gpu_hours_of(job);
}

Quantiles quantiles_of_field(const Trace& trace, MaybeInt TraceJob::*field) {
  std::vector<std::int64_t> values;
  values.reserve(trace.jobs.size());
  for (const TraceJob& job : trace.jobs) {
    if ((job.*field).known()) values.push_back((job.*field).value());
  }
  return quantiles_of(values, trace.jobs.size() - values.size());
}

Quantiles quantiles_of_gaps(const Trace& trace) {
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < trace.jobs.size(); ++i) {
    gaps.push_back(trace.jobs[i].arrival_us - trace.jobs[i - 1].arrival_us);
  }
  return quantiles_of(gaps, 0);
}

std::vector<GroupSummary> by_status(const Trace& trace) {
  std::vector<GroupSummary> all(static_cast<std::size_t>(EndStatus::kSuspended) + 1);
  for (std::size_t s = 0; s < all.size(); ++s) all[s].name = status_name(static_cast<EndStatus>(s));
  for (const TraceJob& job : trace.jobs) add_to(all[static_cast<std::size_t>(job.status)], job);
  std::erase_if(all, [](const GroupSummary& group) { return group.jobs == 0; });
  return all;
}

std::vector<GroupSummary> by_vc(const Trace& trace) {
  std::vector<GroupSummary> all(trace.vcs.size() + 1);  // the last: without one
  for (std::size_t i = 0; i < trace.vcs.size(); ++i) {
    all[i].name = trace.vcs.name(static_cast<std::uint32_t>(i));
  }
  for (const TraceJob& job : trace.jobs) {
    add_to(all[std::min<std::size_t>(job.vc, trace.vcs.size())], job);
  }
  std::erase_if(all, [](const GroupSummary& group) { return group.jobs == 0; });
  std::sort(all.begin(), all.end(),
            [](const GroupSummary& a, const GroupSummary& b) { return a.name < b.name; });
  return all;
}

}  // namespace

Quantiles quantiles_of(std::vector<std::int64_t>& values, std::uint64_t unknown) {
  Quantiles out;
  out.known = values.size();
  out.unknown = unknown;
  if (values.empty()) return out;
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  out.min = *min;
  out.max = *max;
  auto from = values.begin();  // all before it are at most what comes after
  for (std::size_t i = 0; i < out.at.size(); ++i) {
    const auto percent = static_cast<std::size_t>(Quantiles::kPercents[i]);
    const std::size_t rank = (values.size() * percent + 99) / 100;  // from 1
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(from, at, values.end());
    out.at[i] = *at;
    from = at;
  }
  // Microseconds of any number of jobs fit into 128 bits: no order of addition shows.
  __extension__ using Wide = __int128;
  Wide sum = 0;
  for (const std::int64_t value : values) sum += value;
  out.mean = static_cast<double>(sum) / static_cast<double>(values.size());
  return out;
}

TraceSummary summarise(const Trace& trace) {
  TraceSummary out;
  out.jobs = trace.jobs.size();
  out.first_arrival_us = trace.zero_us;
  for (const TraceJob& job : trace.jobs) {
    out.gpu_hours += gpu_hours_of(job);
    if (!job.gpu_milli.known()) {
      ++out.unknown_gpus;
      continue;
    }
    const std::int64_t gpus = job.gpu_milli.value();
    out.cpu_jobs += gpus == 0 ? 1 : 0;
    out.fractional_jobs += gpus > 0 && gpus < 1000 ? 1 : 0;
    out.max_gpu_milli = std::max(out.max_gpu_milli.value_or(0), gpus);
  }
  if (!trace.jobs.empty()) {
    out.first_arrival_us += trace.jobs.front().arrival_us;
    out.span_us = trace.jobs.back().arrival_us - trace.jobs.front().arrival_us;
  }
  out.duration_us = quantiles_of_field(trace, &TraceJob::duration_us);
  out.queue_us = quantiles_of_field(trace, &TraceJob::queue_us);
  out.gpu_milli = quantiles_of_field(trace, &TraceJob::gpu_milli);
  out.interarrival_us = quantiles_of_gaps(trace);
  out.users = trace.users.size();
  out.models = trace.models.size();
  out.statuses = by_status(trace);
  out.vcs = by_vc(trace);
  return out;
}

}  // namespace berth::trace
