#include "trace/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "base/huge_pages.h"
#include "base/random.h"
#include "base/result.h"
#include "trace/values.h"

namespace berth::trace {
namespace {

// Ids that differ in the last byte only, as numbers in a row do, lie beside each other in the
// table.
std::uint32_t hash_of(std::string_view id) {
  constexpr std::uint32_t kNear = 15;
  const std::uint32_t last = id.empty() ? 0 : static_cast<unsigned char>(id.back());
  std::uint64_t hash = id.size();
  if (!id.empty()) id.remove_suffix(1);
  while (!id.empty()) {
    std::uint64_t word = 0;
    const std::size_t n = std::min<std::size_t>(id.size(), sizeof word);
    std::memcpy(&word, id.data(), n);
    hash = mix64(hash ^ word);
    id.remove_prefix(n);
  }
  return (static_cast<std::uint32_t>(hash >> 32U) & ~kNear) | (last & kNear);
}

// What a reader makes of several fields can be more than any one of them may be.
struct Bound {
  std::string_view name;
  MaybeInt TraceJob::*field;
  std::int64_t most;
};
constexpr std::array kBounds{
    Bound{"duration", &TraceJob::duration_us, kMaxDurationUs},
    Bound{"wait", &TraceJob::queue_us, kMaxDurationUs},
    Bound{"GPUs", &TraceJob::gpu_milli, kMaxCount * 1000},
    Bound{"nodes", &TraceJob::nodes, kMaxIterations},
    Bound{"CPUs", &TraceJob::cpu_milli, kMaxCount * 1000},
    Bound{"memory", &TraceJob::memory_mib, kMaxIterations},
};

// All at once: every job passes here, and almost none is beyond one.
template <std::size_t... kIndex>
bool breaks_any(const TraceJob& job, std::index_sequence<kIndex...> /*all*/) {
  return (static_cast<unsigned>((job.*kBounds[kIndex].field).value_or(0) > kBounds[kIndex].most) |
          ...) != 0;
}

const Bound* broken_bound(const TraceJob& job) {
  if (!breaks_any(job, std::make_index_sequence<kBounds.size()>())) return nullptr;
  return std::ranges::find_if(
      kBounds, [&job](const Bound& bound) { return (job.*bound.field).value_or(0) > bound.most; });
}

}  // namespace

Collector::Collector(Trace& trace, RejectReport& report, const Input* input)
    : trace_(&trace), report_(&report), input_(input) {}

// Growing by halves or doubles would copy all jobs again and again, and touch three times their
// memory; what is reserved and not used is address space only.
void Collector::make_room() {
  constexpr std::size_t kFirst = 1024;
  constexpr std::size_t kSample = std::size_t{1} << 16U;  // enough to foretell the rest
  auto& jobs = trace_->jobs;
  const auto held = static_cast<double>(jobs.size());
  const double progress = input_ == nullptr ? 0 : input_->progress();
  double wanted = progress > 0 ? held / progress * 1.02 : held * 2;
  if (jobs.size() < kSample) wanted = std::min(wanted, static_cast<double>(kSample));
  const auto least = std::max(kFirst, jobs.size() + jobs.size() / 4);
  const auto most = std::max(least, std::min(jobs.size() * 1024, jobs.max_size()));
  const auto room = static_cast<std::size_t>(std::min(wanted, static_cast<double>(most)));
  try {
    jobs.reserve(std::max(room, least));
  } catch (const std::bad_alloc&) {
    jobs.reserve(least);
  }
  use_huge_pages(jobs);
  lines_.reserve(jobs.capacity());
}

Collector::Slot& Collector::slot_of(std::string_view id, std::uint32_t hash) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.job_plus_1 == 0) return slot;
    if (slot.hash == hash && trace_->jobs[slot.job_plus_1 - 1].id == id) return slot;
  }
}

void Collector::grow_slots() {
  auto old = large_vector<Slot>(std::max<std::size_t>(1024, slots_.size() * 2));
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.job_plus_1 == 0) continue;
    std::size_t i = slot.hash & mask;
    while (slots_[i].job_plus_1 != 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

bool Collector::add(const TraceJob& job, std::string_view id, std::uint64_t line) {
  if (const Bound* bound = broken_bound(job)) {
    report_->reject({.line = line,
                     .file = {},
                     .reason = "out of range",
                     .field = std::string(bound->name),
                     .found = fmt::format("{}", (job.*bound->field).value()),
                     .expected = fmt::format("at most {}", bound->most)});
    return false;
  }
  if ((trace_->jobs.size() + 1) * 2 > slots_.size()) grow_slots();
  const std::uint32_t hash = hash_of(id);
  Slot& slot = slot_of(id, hash);
  if (slot.job_plus_1 != 0) {
    report_->reject(
        {.line = line,
         .file = {},
         .reason = "duplicate id",
         .field = "id",
         .found = fmt::format("'{}'", printable(id)),
         .expected = fmt::format("an id once (first on line {})", lines_[slot.job_plus_1 - 1])});
    return false;
  }
  if (trace_->jobs.size() == trace_->jobs.capacity()) make_room();
  trace_->jobs.push_back(job);
  trace_->jobs.back().id = trace_->strings.keep(id);
  lines_.push_back(static_cast<std::uint32_t>(
      std::min<std::uint64_t>(line, std::numeric_limits<std::uint32_t>::max())));
  slot = {static_cast<std::uint32_t>(trace_->jobs.size()), hash};
  return true;
}

TraceJob* Collector::find(std::string_view id) {
  if (slots_.empty()) return nullptr;
  const Slot& slot = slot_of(id, hash_of(id));
  return slot.job_plus_1 == 0 ? nullptr : &trace_->jobs[slot.job_plus_1 - 1];
}

}  // namespace berth::trace
