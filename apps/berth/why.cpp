#include "why.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/number.h"
#include "base/text.h"
#include "report/reason_text.h"
#include "report/table.h"
#include "why_priority.h"

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;
using State = JobSpan::State;

// The job of that name, else of that index; nothing if there is none, an error if there are
// several.
Result<std::optional<JobId>> find_job(const std::string& text, const Workload& workload) {
  std::vector<std::size_t> named;
  for (std::size_t j = 0; j < workload.names.size(); ++j) {
    if (workload.names[j] == text) named.push_back(j);
  }
  if (named.size() == 1) return std::optional(JobId{named.front()});
  if (named.size() > 1) {
    constexpr std::size_t kShown = 5;
    const bool more = named.size() > kShown;
    const std::size_t count = named.size();
    named.resize(std::min(count, kShown));
    Error error = usage_error(fmt::format("{} have this name", counted(count, "job")), "--why");
    error.found = fmt::format("'{}'", printable(text));
    error.expected =
        fmt::format("its index: one of {}{}", fmt::join(named, ", "), more ? ", ..." : "");
    return fail(std::move(error));
  }
  const auto index = parse_int(text);
  if (index && *index >= 0 && *index < static_cast<std::int64_t>(workload.jobs.size())) {
    return std::optional(JobId{static_cast<std::size_t>(*index)});
  }
  return std::optional<JobId>();
}

Error no_such_job(const std::string& text, const Workload& workload) {
  Error error = usage_error("no such job", "--why");
  error.found = fmt::format("'{}'", printable(text));
  const std::string_view nearest = nearest_name(text, workload.names);
  const std::size_t last = workload.jobs.size() - 1;
  error.expected =
      fmt::format("a job's name{}, or an index from 0 to {}; then @TIME, as @3600 or @2h",
                  nearest.empty() ? "" : fmt::format(" (as '{}')", printable(nearest)), last);
  return error;
}

std::string where(const Cluster& cluster, const JobSpan& span) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> names;
  for (const ServerId server : span.servers) {
    if (names.size() == kShown) break;
    names.push_back(printable(cluster.servers[server.index()].name));
  }
  const std::size_t more = span.servers.size() - names.size();
  std::string out = span.gpus > 0 ? counted(span.gpus, "GPU") : "no GPU";
  out += fmt::format(" of {}", fmt::join(names, ", "));
  if (more > 0) out += fmt::format(" and {}", counted(more, "more server"));
  return out;
}

std::string ended_as(const JobSpan& span) {
  return span.began == EventKind::kStop ? "was stopped" : "finished";
}

// "waits behind job a (index 3), the head of its queue".
std::string what(const JobSpan& span, const Cluster& cluster, const Workload& workload) {
  const auto name = [&](JobId job) { return name_of(workload, job); };
  switch (span.state) {
    case State::kRuns:
      return "runs on " + where(cluster, span);
    case State::kEnded:
      return ended_as(span);
    case State::kWaits:
      break;
  }
  const std::string reason = reason_text(span.reason, name, span.head);
  if (span.reason.code == ReasonCode::kPreempted) return "preempted: " + reason;
  if (span.reason.code == ReasonCode::kEvicted) return "evicted: " + reason;
  return reason.starts_with("waits ") ? reason : "waits: " + reason;
}

std::string_view state_name(State state) {
  switch (state) {
    case State::kWaits:
      return "waits";
    case State::kRuns:
      return "runs";
    case State::kEnded:
      return "ended";
  }
  return "unknown";
}

// The job that the reason is about, if it is about one.
JobId behind(const JobSpan& span) {
  switch (span.reason.code) {
    case ReasonCode::kBehindHead:
      return span.head;
    case ReasonCode::kBehindJob:
    case ReasonCode::kReserved:
    case ReasonCode::kPreempted:
    case ReasonCode::kDependency:
      return JobId{span.reason.subject};
    default:
      return {};
  }
}

Json span_json(const JobSpan& span, const PriorityExplanation* priority, const Cluster& cluster,
               const Workload& workload) {
  Json out = {{"state", state_name(span.state)},
              {"since_s", seconds(span.from_us)},
              {"until_s", span.to_us == kNever ? Json(nullptr) : Json(seconds(span.to_us))},
              {"event", event_name(span.began)},
              {"text", what(span, cluster, workload)}};
  if (span.state != State::kEnded) out["priority"] = priority_json(priority, workload);
  if (span.state == State::kWaits) {
    out["reason"] = reason_name(span.reason.code);
    out["asked"] = span.reason.asked;
    out["available"] = span.reason.available;
    out["behind"] = job_json(behind(span), workload);
  } else if (span.state == State::kRuns) {
    out["gpus"] = span.gpus;
    out["servers"] = Json::array();
    for (const ServerId server : span.servers) {
      out["servers"].push_back(printable(cluster.servers[server.index()].name, 1000));
    }
  }
  return out;
}

// What of the history is asked for.
std::vector<JobSpan> asked_for(const WhyQuestion& question, const JobHistory& history) {
  if (!question.at_us) return history.spans();
  const JobSpan* const span = history.at(*question.at_us);
  return span != nullptr ? std::vector{*span} : std::vector<JobSpan>{};
}

std::string not_arrived(const WhyQuestion& question, const Workload& workload) {
  const TimeUs submit_us = workload.jobs[question.job.index()].submit_us;
  return fmt::format("had not arrived: it arrives at {} s ({})", seconds_text(submit_us),
                     human_duration(submit_us));
}

std::string history_table(std::span<const JobSpan> spans, const JobHistory& history,
                          const Cluster& cluster, const Workload& workload) {
  constexpr std::size_t kShownAtEnds = 20;
  const PriorityExplanation* any = nullptr;
  for (const JobSpan& span : spans) {
    if (any == nullptr) any = history.priority_at_start(span);
  }
  std::vector<Table::Column> columns{{"since (s)"}, {"until (s)"}, {"for"}, {"what", Align::kLeft}};
  if (any != nullptr) {
    columns.push_back({"priority", Align::kLeft});
    columns.push_back({"decided", Align::kLeft});
  }
  Table table(std::move(columns));
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans.size() > 2 * kShownAtEnds && i == kShownAtEnds) {
      i = spans.size() - kShownAtEnds;
      table.add_row({"...", "...", "",
                     fmt::format("{} more; --json has them", spans.size() - 2 * kShownAtEnds)});
    }
    const JobSpan& span = spans[i];
    const bool open = span.to_us == kNever;
    std::vector<std::string> cells{seconds_text(span.from_us), open ? "" : seconds_text(span.to_us),
                                   open ? "" : human_duration(span.to_us - span.from_us),
                                   what(span, cluster, workload)};
    if (const auto* const priority = history.priority_at_start(span)) {
      cells.push_back(priority_sum_text(*priority));
      cells.push_back(priority_decision_text(*priority, workload));
    }
    table.add_row(std::move(cells));
  }
  return table.text() + (any != nullptr ? priority_legend(*any) : "");
}

}  // namespace

Result<WhyQuestion> read_why(const std::string& text, const Workload& workload) {
  BERTH_TRY(const std::optional<JobId> whole, find_job(text, workload));
  if (whole) return WhyQuestion{*whole, {}};
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos) return fail(no_such_job(text, workload));
  const auto at_us = parse_duration_us(std::string_view(text).substr(at + 1));
  if (!at_us) {
    Error error = usage_error("not a time", "--why");
    error.found = fmt::format("'{}'", printable(text.substr(at + 1)));
    error.expected = "seconds from the start of the run, or a number with s, m, h or d";
    return fail(std::move(error));
  }
  const std::string name = text.substr(0, at);
  BERTH_TRY(const std::optional<JobId> job, find_job(name, workload));
  if (!job) return fail(no_such_job(name, workload));
  return WhyQuestion{*job, at_us};
}

std::string why_text(const WhyQuestion& question, const JobHistory& history, const Cluster& cluster,
                     const Workload& workload) {
  const Job& job = workload.jobs[question.job.index()];
  std::string out =
      fmt::format("{}: {}, arrives at {} s\n", name_of(workload, question.job),
                  job.gpu_milli_per_task == kWholeGpuMilli || job.gpu_milli_per_task == 0
                      ? counted(static_cast<std::uint64_t>(job.gpu_milli() / kWholeGpuMilli), "GPU")
                      : fmt::format("{} of {} of a GPU", counted(job.workers(), "share"),
                                    job.gpu_milli_per_task / 1000.0),
                  seconds_text(job.submit_us));
  if (question.at_us) {
    out += fmt::format("at {} s ({}): ", seconds_text(*question.at_us),
                       human_duration(*question.at_us));
  }
  const std::vector<JobSpan> spans = asked_for(question, history);
  if (spans.empty()) return out + not_arrived(question, workload) + "\n";
  if (!question.at_us) return out + history_table(spans, history, cluster, workload);
  const JobSpan& span = spans.front();
  out += fmt::format("{}\nsince {} s", what(span, cluster, workload), seconds_text(span.from_us));
  if (span.to_us != kNever) out += fmt::format(", until {} s", seconds_text(span.to_us));
  out += '\n';
  if (const auto& priority = history.priority_as_asked(); priority && span.state != State::kEnded) {
    out += priority_table(*priority, workload);
  }
  return out;
}

Json why_json(const WhyQuestion& question, const JobHistory& history, const Cluster& cluster,
              const Workload& workload) {
  Json out = job_json(question.job, workload);
  out["submit_s"] = seconds(workload.jobs[question.job.index()].submit_us);
  out["at_s"] = question.at_us ? Json(seconds(*question.at_us)) : Json(nullptr);
  out["history"] = Json::array();
  for (const JobSpan& span : asked_for(question, history)) {
    out["history"].push_back(span_json(span, history.priority_at_start(span), cluster, workload));
  }
  if (question.at_us) {
    const auto& priority = history.priority_as_asked();
    out["priority"] = priority_json(priority ? &*priority : nullptr, workload);
  }
  return out;
}

}  // namespace berth::cli
