// berth simulate: one policy on one trace.
#include <fmt/format.h>

#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "commands.h"
#include "console.h"
#include "engine/metrics.h"
#include "engine/predictors.h"
#include "engine/simulator.h"
#include "output.h"
#include "report/json.h"
#include "report/reason_text.h"
#include "report/table.h"
#include "report/timeline.h"
#include "run_setup.h"
#include "why.h"

namespace berth::cli {
namespace {

constexpr std::array<std::string_view, 4> kOutputs = {"--events", "--timeline", "--per-job",
                                                      "--json"};

std::string seconds_cell(TimeUs us) {
  return us == kNever ? "" : fmt::format("{:.6f}", seconds(us));
}

std::string_view status_name(JobStatus status) {
  switch (status) {
    case JobStatus::kPending:
      return "pending";
    case JobStatus::kRunning:
      return "running";
    case JobStatus::kFinished:
      return "finished";
    case JobStatus::kStopped:
      return "stopped";
    case JobStatus::kFailed:
      return "failed";
  }
  return "unknown";
}

// A line a job, in order of arrival; what is not known is an empty cell.
std::string per_job_csv(const RunSetup& setup, const SimulationResult& result,
                        const Predictors& predictors) {
  std::string out =
      "index,job_id,status,reason,gpus,submit_s,first_start_s,end_s,jct_s,wait_s,run_s,"
      "preemptions,predicted_s\n";
  for (std::size_t j = 0; j < setup.workload.jobs.size(); ++j) {
    const Job& job = setup.workload.jobs[j];
    const JobState& state = result.states[j];
    const bool ended = state.ended();
    const TimeUs jct_us = ended ? state.last_stop_us - job.submit_us : kNever;
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", j,
                   csv_cell(setup.workload.names[j]), status_name(state.status),
                   state.status == JobStatus::kPending ? reason_name(result.reasons[j].code) : "",
                   static_cast<double>(job.gpu_milli()) / 1000.0, seconds_cell(job.submit_us),
                   seconds_cell(state.first_start_us),
                   ended ? seconds_cell(state.last_stop_us) : "", seconds_cell(jct_us),
                   ended ? seconds_cell(jct_us - state.attained_us) : "",
                   seconds_cell(state.attained_us), state.preemptions,
                   seconds_cell(predictors.run_time_us(JobId{j}).value_or(kNever)));
  }
  return out;
}

std::string or_dash(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

std::string time_cell(const std::optional<double>& value_s) {
  if (!value_s) return "-";
  return fmt::format("{:.2f} s  ({})", *value_s,
                     human_duration(us_from_seconds(*value_s).value_or(0)));
}

std::string for_people(const RunSetup& setup, const Metrics& m, const SimulationResult& result) {
  const auto count = [](std::uint64_t n) { return with_thousands(static_cast<std::int64_t>(n)); };
  Table table({{"", Align::kLeft}, {"", Align::kLeft}});
  table.add_row({"policy", m.policy});
  table.add_row({"cluster", fmt::format("{}: {}, {}", printable(setup.cluster.name),
                                        counted(setup.cluster.servers.size(), "server"),
                                        counted(setup.cluster.gpus(), "GPU"))});
  table.add_row({"offered load", or_dash(m.rho_whole, 3)});
  if (setup.source.draws()) table.add_row({"  by duty cycle", or_dash(m.rho_share, 3)});
  table.add_row({"jobs", count(m.jobs)});
  table.add_row({"finished", count(m.finished)});
  if (m.unfinished > 0) table.add_row({"unfinished", count(m.unfinished)});
  if (m.never_fit > 0) table.add_row({"never fit", count(m.never_fit)});
  table.add_row({"mean JCT", time_cell(m.mean_jct_s)});
  table.add_row({"median JCT", time_cell(m.p50_jct_s)});
  table.add_row({"p99 JCT", time_cell(m.p99_jct_s)});
  table.add_row({"mean wait", time_cell(m.mean_wait_s)});
  table.add_row({"makespan", time_cell(m.makespan_s)});
  if (m.deadline_ratio) table.add_row({"deadlines met", or_dash(m.deadline_ratio, 3)});
  if (m.mean_accuracy) table.add_row({"mean accuracy", or_dash(m.mean_accuracy, 3)});
  if (m.accuracy_ratio) table.add_row({"accuracy reached", or_dash(m.accuracy_ratio, 3)});
  if (m.inter_server_bytes) {
    table.add_row({"between servers", fmt::format("{:.1f} GB", *m.inter_server_bytes / 1e9)});
  }
  if (m.overloads) table.add_row({"overloads", count(*m.overloads)});
  if (m.evictions > 0) table.add_row({"evictions", count(m.evictions)});
  if (m.lost_iterations) table.add_row({"lost iterations", count(*m.lost_iterations)});
  table.add_row({"GPU utilisation", or_dash(m.gpu_utilisation, 3)});
  table.add_row({"preemptions", count(m.preemptions)});
  table.add_row(
      {"round", fmt::format("{} us mean, {} us p99 over {}", or_dash(m.round_mean_us, 2),
                            or_dash(m.round_p99_us, 2), counted(m.active_rounds, "active round"))});
  table.add_row({"CPU", fmt::format("{:.2f} s", m.cpu_s)});
  std::string out = table.text();
  out.erase(0, out.find('\n') + 1);  // no titles
  if (result.deadlock) {
    out += fmt::format(
        "deadlock: no job ends after {}; {} {} {:.1f} GPUs in parts of replicas for ever, "
        "{} for them\n",
        human_duration(result.deadlock->at_us), counted(result.deadlock->holding_jobs, "job"),
        result.deadlock->holding_jobs == 1 ? "holds" : "hold",
        static_cast<double>(result.deadlock->held_milli) / kWholeGpuMilli,
        counted(result.deadlock->waiting_jobs, "job waits", "jobs wait"));
  }
  constexpr std::size_t kShown = 5;
  std::size_t shown = 0;
  for (std::size_t j = 0; j < setup.workload.jobs.size() && shown < kShown; ++j) {
    const Reason& reason = result.reasons[j];
    if (!reason_is_never(reason.code)) continue;
    out += fmt::format("never fits: {}: {}\n", printable(setup.workload.names[j]),
                       reason_text(reason));
    ++shown;
  }
  return out;
}

Status write_outputs(const Args& args, const RunSetup& setup, const SimulationResult& result,
                     const Predictors& predictors, const TextEventLog& log, Timeline* timeline) {
  if (args.has("--events")) BERTH_CHECK_OK(write_output(args.text("--events"), log.text()));
  if (timeline != nullptr) {
    BERTH_CHECK_OK(write_output(args.text("--timeline"), timeline->finish()));
  }
  if (args.has("--per-job")) {
    BERTH_CHECK_OK(write_output(args.text("--per-job"), per_job_csv(setup, result, predictors)));
  }
  return {};
}

Result<int> simulate_command(const Args& args) {
  const auto started = std::chrono::steady_clock::now();
  BERTH_TRY(const PolicyInfo* const info, find_policy(args.text("--policy")));
  BERTH_CHECK_OK(check_outputs(args, kOutputs));
  BERTH_TRY(const Sharing sharing, sharing_option(args));
  BERTH_TRY(const RunSetup setup, read_run_setup(args, sharing));
  BERTH_CHECK_OK(check_addressees(setup, std::span(&info->name, 1)));
  BERTH_TRY(const auto policy, make_policy(std::string(info->name), setup));
  BERTH_TRY(const auto predictors, make_predictors(setup.predict, setup.workload, setup.seed));

  std::optional<WhyQuestion> question;
  if (args.has("--why")) {
    BERTH_TRY(question, read_why(args.text("--why"), setup.workload));
  }
  TextEventLog text_log;
  std::optional<Timeline> timeline;
  std::optional<JobHistory> history;
  EventTee logs;
  if (question) {
    logs.add(history.emplace(question->job));
    history->explain_by(*policy, *predictors, question->at_us);
  }
  if (args.has("--events")) logs.add(text_log);
  if (args.has("--timeline")) logs.add(timeline.emplace(setup.cluster, setup.workload));
  ProgressBar bar(fmt::format("simulating {}", info->name));
  const std::vector<FaultEvent> faults = draw_faults_of(setup, setup.workload, setup.seed);
  SimulationOptions options{.seed = setup.seed,
                            .check = setup.check,
                            .log = &logs,
                            .reasons = history ? &*history : nullptr,
                            .progress_rule = rule_for(*info, setup.progress_rule),
                            .faults = faults};
  options.interrupted = &catch_interrupts();
  const auto total = static_cast<double>(setup.workload.jobs.size());
  options.progress = [&](std::size_t ended, TimeUs) {
    bar.update(static_cast<double>(ended) / total);
  };
  BERTH_TRY(SimulationResult result,
            simulate(setup.cluster, setup.workload, *policy, *predictors, options));

  Metrics metrics = summarise(setup.cluster, setup.workload, result);
  score_predictions(setup.workload, result, *predictors, metrics);
  metrics.policy = info->name;
  metrics.sharing = sharing_name(sharing);
  metrics.predict = setup.predict;
  metrics.seed = setup.seed;
  BERTH_CHECK_OK(
      write_outputs(args, setup, result, *predictors, text_log, timeline ? &*timeline : nullptr));
  metrics.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  const Usage usage = usage_now();
  metrics.cpu_s = usage.process_cpu_s;
  metrics.peak_rss_mib = usage.peak_rss_mib;
  if (args.has("--json")) {
    auto json = to_json(metrics);
    json["input"] = to_json(setup.report);
    if (question) json["why"] = why_json(*question, *history, setup.cluster, setup.workload);
    BERTH_CHECK_OK(write_output(args.text("--json"), json.dump(2) + "\n"));
  }
  if (!any_on_stdout(args, kOutputs)) {
    BERTH_CHECK_OK(print_out(question ? why_text(*question, *history, setup.cluster, setup.workload)
                                      : for_people(setup, metrics, result)));
  }
  print_err(notices(setup, args));
  if (result.interrupted) print_err("berth: interrupted; the figures are of the run so far\n");
  return result.interrupted ? kInterrupted : kDone;
}

int run(const Args& args) {
  const auto code = simulate_command(args);
  return code ? *code : report_error(code.error());
}

}  // namespace

Command simulate_command_info() {
  Command command{
      .path = "simulate",
      .summary = "run one policy on a trace",
      .example = "berth simulate --trace trace.csv --cluster 64x8 --policy fifo-backfill",
      .options = run_options(),
      .run = run};
  command.options.push_back(
      {.name = "--policy", .metavar = "P", .help = policy_help(), .required = true});
  command.options.push_back(
      {.name = "--events", .metavar = "F", .help = "write the event log (CSV); -: print it"});
  command.options.push_back(
      {.name = "--per-job", .metavar = "F", .help = "write a line a job (CSV); -: print them"});
  command.options.push_back({.name = "--timeline",
                             .metavar = "F",
                             .help = "write who ran where and when, for ui.perfetto.dev (JSON)"});
  command.options.push_back(
      {.name = "--why",
       .metavar = "JOB[@TIME]",
       .help =
           "why the job (its name or index) waits at that time (seconds, or 3h, 2d), or all that "
           "it went through, instead of the figures"});
  command.options.push_back(
      {.name = "--json", .metavar = "F", .help = "write the figures; -: print them"});
  return command;
}

}  // namespace berth::cli
