// What a scheduler that runs is asked: jobs, show, why, logs, nodes, top; and told: cancel, hold,
// release, requeue.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/text.h"
#include "base/time.h"
#include "client.h"
#include "commands.h"
#include "console.h"
#include "job_text.h"

namespace berth::cli {
namespace {

int ended(const Status& status) {
  return status ? kDone : report_error(status.error());
}

Option job_option(bool several) {
  return {.name = "JOB",
          .metavar = "N",
          .help = several ? "numbers of jobs" : "number of a job",
          .kind = several ? OptionKind::kRepeated : OptionKind::kValue};
}

Result<std::int64_t> one_job(const Args& args) {
  BERTH_TRY(const std::vector<std::int64_t> numbers, job_numbers(args));
  return numbers.front();
}

// --- asking
// ----------------------------------------------------------------------------------------

Status list_jobs(const Args& args) {
  BERTH_TRY(const std::int64_t limit, args.integer("--limit", 1, 1'000));
  std::string target = fmt::format("/v1/jobs?limit={}", limit);
  if (args.flag("--active")) target += "&active=1";
  if (args.has("--state")) target += "&state=" + escaped(args.text("--state"));
  if (args.has("--before")) target += "&before=" + escaped(args.text("--before"));
  BERTH_TRY(const Json answer, ask(args, "GET", target));
  if (args.has("--json")) return print_json(args, answer);
  return print_out(jobs_table(answer["jobs"]));
}

Status show_job(const Args& args) {
  BERTH_TRY(const std::int64_t number, one_job(args));
  BERTH_TRY(const Json job, ask(args, "GET", fmt::format("/v1/jobs/{}", number)));
  if (args.has("--json")) return print_json(args, job);
  return print_out(job_page(job));
}

Status why_job(const Args& args) {
  BERTH_TRY(const std::int64_t number, one_job(args));
  BERTH_TRY(const Json why, ask(args, "GET", fmt::format("/v1/jobs/{}/why", number)));
  if (args.has("--json")) return print_json(args, why);
  return print_out(why_page(why));
}

Status print_log(const Args& args) {
  BERTH_TRY(const std::int64_t number, one_job(args));
  BERTH_TRY(const std::int64_t task, args.integer("--task", 0, 1'000'000));
  const bool both = args.flag("--out") == args.flag("--err");
  std::string target = fmt::format("/v1/jobs/{}/logs?task={}&stream={}", number, task,
                                   both                 ? "both"
                                   : args.flag("--err") ? "err"
                                                        : "out");
  if (args.has("--attempt")) target += "&attempt=" + escaped(args.text("--attempt"));
  if (args.has("--tail")) target += "&tail=" + escaped(args.text("--tail"));
  if (args.flag("--follow")) target += "&follow=1";
  const std::atomic<bool>& interrupted = catch_interrupts();
  Status printed;
  BERTH_CHECK_OK(follow(args, target, [&](std::string_view piece) {
    printed = print_out(piece);
    return printed.has_value() && !interrupted;
  }));
  return printed;
}

Status list_nodes(const Args& args) {
  BERTH_TRY(const Json answer, ask(args, "GET", "/v1/nodes"));
  if (args.has("--json")) return print_json(args, answer);
  return print_out(nodes_table(answer["nodes"]));
}

Result<std::string> top_page(const Args& args) {
  BERTH_TRY(const Json status, ask(args, "GET", "/v1/status"));
  BERTH_TRY(const Json nodes, ask(args, "GET", "/v1/nodes"));
  BERTH_TRY(const Json jobs, ask(args, "GET", "/v1/jobs?active=1&limit=30"));
  return status_line(status) + "\n" + nodes_table(nodes["nodes"]) + "\n" + jobs_table(jobs["jobs"]);
}

Status top(const Args& args) {
  const std::atomic<bool>& interrupted = catch_interrupts();
  do {
    BERTH_TRY(const std::string page, top_page(args));
    if (!stdout_is_terminal()) return print_out(page);
    BERTH_CHECK_OK(print_out("\x1b[H\x1b[2J" + page));
    for (int i = 0; i < 10 && !interrupted; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  } while (!interrupted);
  return {};
}

// --- telling
// ---------------------------------------------------------------------------------------

Status change(const Args& args, std::string_view what, std::string_view query = {}) {
  BERTH_TRY(const std::vector<std::int64_t> numbers, job_numbers(args));
  Json answers = Json::array();
  Status all;  // the first refusal; the others are tried all the same
  for (const std::int64_t number : numbers) {
    Result<Json> job = ask(args, "POST", fmt::format("/v1/jobs/{}/{}{}", number, what, query));
    if (!job) {
      if (!all) report_error(all.error());
      all = fail(std::move(job).error());
      continue;
    }
    if (!args.has("--json")) {
      BERTH_CHECK_OK(
          print_out(fmt::format("job {}: {}\n", number, job->value("state", "unknown"))));
    }
    answers.push_back(std::move(*job));
  }
  if (args.has("--json")) BERTH_CHECK_OK(print_json(args, {{"jobs", std::move(answers)}}));
  return all;
}

Status shut_down(const Args& args) {
  BERTH_TRY(const Json answer, ask(args, "POST", "/v1/shutdown"));
  if (args.has("--json")) return print_json(args, answer);
  return print_out("the scheduler ends; jobs that run go on\n");
}

Command make(std::string_view path, std::string_view summary, std::string_view example,
             std::vector<Option> options, int (*run)(const Args&)) {
  return {.path = path,
          .summary = summary,
          .example = example,
          .options = with_server_options(std::move(options)),
          .run = run};
}

}  // namespace

std::vector<Command> job_commands() {
  std::vector<Command> out;
  out.push_back(make(
      "jobs", "list jobs, the newest first", "berth jobs --active",
      {{.name = "--active",
        .metavar = "",
        .help = "those that have not ended",
        .kind = OptionKind::kFlag},
       {.name = "--state", .metavar = "S", .help = "pending, running, finished, stopped, failed"},
       {.name = "--before", .metavar = "N", .help = "only older ones than this job"},
       {.name = "--limit", .metavar = "N", .help = "so many", .default_value = "30"}},
      [](const Args& args) { return ended(list_jobs(args)); }));
  out.push_back(make("show", "all about one job", "berth show 7", {job_option(false)},
                     [](const Args& args) { return ended(show_job(args)); }));
  out.push_back(make("why", "why a job waits, what is ahead, and when it may start", "berth why 7",
                     {job_option(false)}, [](const Args& args) { return ended(why_job(args)); }));
  out.push_back(
      make("logs", "what a job has printed, on its standard output and error",
           "berth logs -f --tail 20 7",
           {job_option(false),
            {.name = "--follow",
             .metavar = "",
             .help = "until the job has ended, from run to run",
             .kind = OptionKind::kFlag,
             .alias = "-f"},
            {.name = "--task", .metavar = "K", .help = "of which task", .default_value = "0"},
            {.name = "--out",
             .metavar = "",
             .help = "its standard output alone, byte by byte",
             .kind = OptionKind::kFlag},
            {.name = "--err",
             .metavar = "",
             .help = "its standard error alone, byte by byte",
             .kind = OptionKind::kFlag},
            {.name = "--attempt",
             .metavar = "K",
             .help = "of which run; by default the last, and with -f those after it"},
            {.name = "--tail", .metavar = "N", .help = "only the last N lines of each"}},
           [](const Args& args) { return ended(print_log(args)); }));
  out.push_back(make("cancel", "end jobs", "berth cancel 7 8",
                     {job_option(true),
                      {.name = "--now",
                       .metavar = "",
                       .help = "without a chance to save anything",
                       .kind = OptionKind::kFlag}},
                     [](const Args& args) {
                       return ended(change(args, "cancel", args.flag("--now") ? "?now=1" : ""));
                     }));
  out.push_back(make("hold", "keep jobs from running", "berth hold 7", {job_option(true)},
                     [](const Args& args) { return ended(change(args, "hold")); }));
  out.push_back(make("release", "let held jobs run", "berth release 7", {job_option(true)},
                     [](const Args& args) { return ended(change(args, "release")); }));
  out.push_back(make("requeue", "stop jobs and let them wait again, or run ended ones again",
                     "berth requeue 7", {job_option(true)},
                     [](const Args& args) { return ended(change(args, "requeue")); }));
  out.push_back(make("nodes", "what there is to run on", "berth nodes", {},
                     [](const Args& args) { return ended(list_nodes(args)); }));
  out.push_back(make("top", "what runs and waits, again and again", "berth top", {},
                     [](const Args& args) { return ended(top(args)); }));
  out.push_back(make("down", "end the scheduler; jobs that run go on", "berth down", {},
                     [](const Args& args) { return ended(shut_down(args)); }));
  return out;
}

}  // namespace berth::cli
