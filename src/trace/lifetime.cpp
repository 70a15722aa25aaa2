#include "trace/lifetime.h"

#include <fmt/format.h>

#include <cmath>

#include "base/datetime.h"
#include "base/number.h"

namespace berth::trace {
namespace {

constexpr Fault kNoDate{"not a date and time", "YYYY-MM-DD HH:MM:SS"};
constexpr Fault kNeverStarted{"never started", "a start time"};
constexpr Fault kStillRunning{"still running", "an end time"};
constexpr Fault kEndBeforeStart{"end before start", "an end after the start"};
constexpr Fault kTooLong{"out of range", "an end at most 100 years after the start"};
constexpr Fault kWaitTooLong{"out of range", "a start at most 100 years after the submission"};
constexpr Fault kStartBeforeSubmit{"start before submission", "a later start; the wait is unknown"};
constexpr Fault kOtherDuration{"duration is not end minus start", ""};
constexpr Fault kSuspended{"suspended at its end", "an end of its own; used as it is"};
constexpr Fault kUnknownState{"unknown state", "a state of Slurm; taken as unknown"};

// The end may be any date: the epoch or the year 9999 for "unset" is judged against the start.
const Fault* parse_end(std::string_view text, MaybeInt& out) {
  if (is_missing(text)) return nullptr;
  const auto us = parse_datetime(text);
  if (!us) return &kNoDate;
  out = *us;
  return nullptr;
}

bool read_state(Table& table, std::size_t column, TraceJob& job) {
  const std::string_view state = table[column];
  job.status = parse_status(state);
  if (job.status == EndStatus::kSuspended) table.warn(kSuspended, column);
  if (job.status != EndStatus::kUnknown || is_missing(state)) return true;
  if (state == "RUNNING" || state == "COMPLETING") {
    table.reject(kStillRunning, column);
    return false;
  }
  if (state == "PENDING" || state == "REQUEUED") {
    table.reject(kNeverStarted, column);
    return false;
  }
  table.warn(kUnknownState, column);
  return true;
}

void check_duration(Table& table, const LifetimeColumns& columns, const TraceJob& job) {
  const std::string_view written = table.text(columns.duration);
  if (written.empty()) return;
  const double run_s = seconds(job.duration_us.value());
  const double since_submit_s = run_s + seconds(job.queue_us.value_or(0));
  const double value = parse_number(written).value_or(-1);
  const auto fits = [value](double expected_s) { return std::abs(value - expected_s) <= 1.0; };
  if (fits(run_s) || (columns.duration_may_contain_queue && fits(since_submit_s))) return;
  Fault fault = kOtherDuration;
  const std::string expected = fmt::format("{} s, from the times, which are used", run_s);
  fault.expected = expected;
  table.warn(fault, columns.duration);
}

}  // namespace

bool read_lifetime(Table& table, const LifetimeColumns& columns, TraceJob& job) {
  MaybeInt submit;
  MaybeInt start;
  MaybeInt end;
  if (!table.read_required(columns.submit, parse_instant, submit) ||
      !table.read(columns.start, parse_instant, start) ||
      !table.read(columns.end, parse_end, end)) {
    return false;
  }
  if (!read_state(table, columns.state, job)) return false;
  if (!start.known()) {
    table.reject(kNeverStarted, columns.start);
    return false;
  }
  if (!end.known()) {
    table.reject(kStillRunning, columns.end);
    return false;
  }
  const TimeUs run_us = end.value() - start.value();
  if (run_us < 0 || run_us > kMaxDurationUs) {
    table.reject(run_us < 0 ? kEndBeforeStart : kTooLong, columns.end);
    return false;
  }
  job.arrival_us = submit.value();
  job.duration_us = run_us;
  const TimeUs wait_us = start.value() - submit.value();
  if (wait_us > kMaxDurationUs) {
    table.reject(kWaitTooLong, columns.start);
    return false;
  }
  if (wait_us >= 0) {
    job.queue_us = wait_us;
  } else {
    table.warn(kStartBeforeSubmit, columns.start);
  }
  check_duration(table, columns, job);
  return true;
}

}  // namespace berth::trace
