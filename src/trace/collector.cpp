#include "trace/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/huge_pages.h"
#include "base/random.h"
#include "base/result.h"

namespace berth::trace {
namespace {

std::uint32_t hash_of(std::string_view id) {
  std::uint64_t hash = id.size();
  while (!id.empty()) {
    std::uint64_t word = 0;
    const std::size_t n = std::min<std::size_t>(id.size(), sizeof word);
    std::memcpy(&word, id.data(), n);
    hash = mix64(hash ^ word);
    id.remove_prefix(n);
  }
  return static_cast<std::uint32_t>(hash >> 32U);
}

}  // namespace

Collector::Collector(Trace& trace, RejectReport& report, std::size_t row_hint)
    : trace_(&trace), report_(&report) {
  constexpr std::size_t kMostReserved = std::size_t{1} << 21U;  // address space, not memory
  row_hint = std::min(row_hint, kMostReserved);
  trace.jobs.reserve(row_hint);
  use_huge_pages(trace.jobs);
}

Collector::Slot& Collector::slot_of(std::string_view id, std::uint32_t hash) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.job_plus_1 == 0) return slot;
    if (slot.hash == hash && trace_->jobs[slot.job_plus_1 - 1].id == id) return slot;
  }
}

void Collector::grow() {
  std::vector<Slot> old(std::max<std::size_t>(1024, slots_.size() * 2));
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
  if ((trace_->jobs.size() + 1) * 2 > slots_.size()) grow();
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
