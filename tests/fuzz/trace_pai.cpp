// The input is two tables with a line "====" between them, each with its column names on top.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "trace/formats/pai_tables.h"
#include "trace_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using berth::trace::Input;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBetween = "====\n";
  const std::size_t at = text.find(kBetween);
  if (at == std::string_view::npos) return 0;
  auto jobs = Input::from_memory("jobs", text.substr(0, at));
  auto tasks = Input::from_memory("tasks", text.substr(at + kBetween.size()));
  if (!jobs || !tasks) return 0;
  berth::trace::Trace trace;
  berth::trace::RejectReport report;
  const std::string path = "pai";
  berth::trace::ReadContext context{path, nullptr, trace, report};
  const auto status = berth::trace::read_pai_tables(context, {&*jobs, {}}, {&*tasks, {}});
  if (!status) return 0;
  // What read_trace() does to it.
  std::ranges::stable_sort(trace.jobs, {}, &berth::trace::TraceJob::arrival_us);
  if (!trace.jobs.empty()) trace.zero_us = trace.jobs.front().arrival_us;
  for (auto& job : trace.jobs) job.arrival_us -= trace.zero_us;
  berth::fuzz::check(trace);
  return 0;
}
