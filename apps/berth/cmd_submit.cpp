// berth submit: jobs from files, or one from the command line.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include "base/fd.h"
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "client.h"
#include "commands.h"
#include "console.h"
#include "jobspec/job_file.h"

extern char** environ;

namespace berth::cli {
namespace {

// Flags that stand for a key of a job file (docs/job-file.md).
struct KeyFlag {
  std::string_view flag;
  std::string_view key;
  std::string_view metavar;
  std::string_view help;
  bool number = false;  // else text, as a file has it
};
constexpr std::array kKeyFlags = {
    KeyFlag{"--name", "name", "NAME", "for people; by default the command's name"},
    KeyFlag{"--gpus", "gpus", "N", "of each worker: 0, a part as 0.5, or several", true},
    KeyFlag{"--gpu-memory", "gpu_memory", "SIZE", "of each GPU, as 16GiB"},
    KeyFlag{"--gpu-type", "gpu_type", "TYPE", "only GPUs of this type"},
    KeyFlag{"--cpus", "cpus", "N", "cores of each worker", true},
    KeyFlag{"--memory", "memory", "SIZE", "main memory of each worker, as 4GiB"},
    KeyFlag{"--replicas", "replicas", "N", "data-parallel workers", true},
    KeyFlag{"--partitions", "partitions", "N", "model-parallel workers of a replica", true},
    KeyFlag{"--model", "model", "NAME", "kind of model, by which run times are learned"},
    KeyFlag{"--virtual-cluster", "virtual_cluster", "NAME", "whose share it uses"},
    KeyFlag{"--priority", "priority", "N", "larger first, for policies that heed it", true},
    KeyFlag{"--urgency", "urgency", "1..10", "of MLFS", true},
    KeyFlag{"--deadline", "deadline", "T", "2h from now, or 2027-01-31T18:00:00Z"},
    KeyFlag{"--time-limit", "time_limit", "T", "it is ended after running so long, as 90min"},
    KeyFlag{"--iterations", "iterations", "N", "that it is to do", true},
    KeyFlag{"--accuracy", "accuracy", "0..1", "that it is to reach", true},
    KeyFlag{"--stop", "stop", "OPTION", "iterations, opt-stop or accuracy"},
    KeyFlag{"--restarts", "restarts", "N", "after failures of its own", true},
    KeyFlag{"--tensorboard", "tensorboard", "DIR", "folder of its event files"},
};
constexpr std::array<std::string_view, 13> kUsualVariables = {"PATH",
                                                              "HOME",
                                                              "USER",
                                                              "LOGNAME",
                                                              "SHELL",
                                                              "LANG",
                                                              "LC_ALL",
                                                              "TZ",
                                                              "VIRTUAL_ENV",
                                                              "CONDA_PREFIX",
                                                              "CONDA_DEFAULT_ENV",
                                                              "PYTHONPATH",
                                                              "LD_LIBRARY_PATH"};

using Variables = std::vector<std::pair<std::string, std::string>>;

// --export: of the variables here, those that jobs get.
Result<Variables> exported(const Args& args) {
  const std::string choice = args.text("--export");
  const std::vector<std::string_view> named = split(choice, ',');
  Variables out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::size_t equals = line.find('=');
    if (equals == 0 || equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals);
    const bool wanted = choice == "all"     ? true
                        : choice == "none"  ? false
                        : choice == "usual" ? std::ranges::count(kUsualVariables, name) > 0
                                            : std::ranges::count(named, name) > 0;
    if (wanted) out.emplace_back(name, line.substr(equals + 1));
  }
  if (choice == "all" || choice == "none" || choice == "usual") return out;
  for (const std::string_view name : named) {
    const auto is_named = [&](const auto& variable) { return variable.first == name; };
    if (std::ranges::none_of(out, is_named)) {
      return fail(
          usage_error(fmt::format("there is no variable '{}'", printable(name)), "--export"));
    }
  }
  return out;
}

// What the job sets itself wins.
void add_missing(JobSpec& spec, const Variables& variables) {
  Variables all;
  for (const auto& variable : variables) {
    const auto set = [&](const auto& own) { return own.first == variable.first; };
    if (std::ranges::none_of(spec.environment, set)) all.push_back(variable);
  }
  all.insert(all.end(), spec.environment.begin(), spec.environment.end());
  spec.environment = std::move(all);
}

// One byte more than may be: whoever reads it says that it is too large.
Result<std::string> text_of(const std::string& path) {
  auto text = read_file(path, kMaxJobFileBytes + 1);
  if (text) return *std::move(text);
  Error error = open_error(path, errno);
  if (error.expected.empty()) error.expected = "job files, or a command after --";
  return fail(std::move(error));
}

Result<JobSpec> from_flags(const Args& args, const std::string& directory) {
  Json job = {{"command", args.list("--")}, {"directory", directory}};
  for (const KeyFlag& flag : kKeyFlags) {
    if (!args.has(flag.flag)) continue;
    const std::string text = args.text(flag.flag);
    if (!flag.number) {
      job[flag.key] = text;
      continue;
    }
    const auto whole = parse_int(text);
    const auto number = parse_number(text);
    if (!number) {
      Error error = usage_error("not a number", std::string(flag.flag));
      error.found = fmt::format("'{}'", printable(text));
      return fail(std::move(error));
    }
    job[flag.key] = whole ? Json(*whole) : Json(*number);
  }
  if (!job.contains("name")) {
    job["name"] = std::filesystem::path(args.list("--").front()).filename().string();
  }
  if (args.has("--signal") || args.has("--grace")) {
    Json checkpoint = Json::object();
    if (args.has("--signal")) checkpoint["signal"] = args.text("--signal");
    if (args.has("--grace")) checkpoint["grace"] = args.text("--grace");
    job["checkpoint"] = std::move(checkpoint);
  }
  for (const std::string& setting : args.list("--env")) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(usage_error("needs NAME=VALUE", "--env"));
    job["env"][setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  std::string text;
  try {
    text = job.dump();
  } catch (const Json::exception&) {
    return fail(usage_error("the command, or a value, is not UTF-8"));
  }
  return read_job_json(text);
}

Result<std::vector<JobSpec>> read_jobs(const Args& args) {
  std::error_code error;
  std::string directory = std::filesystem::current_path(error).string();
  if (args.has("--directory")) {
    directory = std::filesystem::absolute(args.text("--directory"), error).lexically_normal();
  }
  const std::vector<std::string> files = args.list("FILE");
  const bool command = !args.list("--").empty();
  if (files.empty() == !command) {
    return fail(usage_error(files.empty() ? "what is to run is missing: job files, or -- COMMAND"
                                          : "job files and a command after -- exclude each other"));
  }
  BERTH_TRY(const Variables variables, exported(args));
  std::vector<JobSpec> out;
  if (command) {
    BERTH_TRY(JobSpec spec, from_flags(args, directory));
    out.push_back(std::move(spec));
  }
  for (const std::string& file : files) {
    BERTH_TRY(const std::string text, text_of(file));
    const std::string folder =
        args.has("--directory")
            ? directory
            : std::filesystem::absolute(file, error).lexically_normal().parent_path().string();
    BERTH_TRY(std::vector<JobSpec> specs, read_job_yaml(text, file, folder));
    out.insert(out.end(), std::make_move_iterator(specs.begin()),
               std::make_move_iterator(specs.end()));
  }
  for (JobSpec& spec : out) {
    add_missing(spec, variables);
    BERTH_CHECK_OK(check_job(spec));
  }
  return out;
}

// Until all have ended; whether all have finished.
Result<bool> wait_for(const Args& args, const Json& jobs) {
  const std::atomic<bool>& interrupted = catch_interrupts();
  bool well = true;
  for (const Json& number : jobs) {
    for (;;) {
      BERTH_TRY(const Json job,
                ask(args, "GET", fmt::format("/v1/jobs/{}", number.get<std::int64_t>())));
      const std::string state = job.value("state", "");
      if (state == "finished") break;
      if (state == "failed" || state == "stopped") {
        print_err(fmt::format("job {} {}: {}\n", number.get<std::int64_t>(), state,
                              printable(job.value("message", ""), 400)));
        well = false;
        break;
      }
      if (interrupted)
        return fail(Error{.kind = ErrorKind::kIo, .message = "no longer waiting; the jobs go on"});
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  return well;
}

Result<bool> submit(const Args& args) {
  BERTH_TRY(const std::vector<JobSpec> specs, read_jobs(args));
  std::string target = "/v1/jobs?held=" + std::string(args.flag("--hold") ? "1" : "0");
  if (args.has("--token")) target += "&token=" + escaped(args.text("--token"));
  BERTH_TRY(const std::int64_t count, args.integer("--count", 1, 10'000));
  std::string body = "[";
  for (std::int64_t i = 0; i < count; ++i) {
    for (const JobSpec& spec : specs) body += (body.size() > 1 ? "," : "") + job_json(spec);
  }
  body += "]";
  BERTH_TRY(const Json answer, ask(args, "POST", target, body));
  if (!answer.contains("jobs") || !answer["jobs"].is_array()) {
    return fail(Error{.kind = ErrorKind::kIo, .message = "what answered is not a scheduler"});
  }
  const Json& jobs = answer["jobs"];
  if (args.has("--json")) {
    BERTH_CHECK_OK(print_json(args, answer));
  } else {
    std::string numbers;
    for (const Json& number : jobs) numbers += number.dump() + "\n";
    BERTH_CHECK_OK(print_out(numbers));
  }
  if (!args.flag("--wait")) return true;
  return wait_for(args, jobs);
}

int run(const Args& args) {
  const Result<bool> well = submit(args);
  if (!well) return report_error(well.error());
  return *well ? kDone : kFailed;
}

}  // namespace

Command submit_command_info() {
  std::vector<Option> options = {{.name = "FILE",
                                  .metavar = "F",
                                  .help = "job files (docs/job-file.md)",
                                  .kind = OptionKind::kRepeated}};
  for (const KeyFlag& flag : kKeyFlags) {
    options.push_back({.name = flag.flag, .metavar = flag.metavar, .help = flag.help});
  }
  const std::vector<Option> more = {
      {.name = "--directory",
       .metavar = "DIR",
       .help = "where it runs; by default here, or where its file is"},
      {.name = "--env", .metavar = "K=V", .help = "a variable", .kind = OptionKind::kRepeated},
      {.name = "--export",
       .metavar = "WHICH",
       .help = "variables of this shell that it gets: usual (PATH, HOME, ...), all, none, or A,B",
       .default_value = "usual"},
      {.name = "--signal",
       .metavar = "S",
       .help = "to save its state: USR1, USR2, INT, TERM, HUP, none"},
      {.name = "--grace", .metavar = "T", .help = "from that signal to SIGTERM, as 30s"},
      {.name = "--count", .metavar = "N", .help = "the same so many times", .default_value = "1"},
      {.name = "--hold",
       .metavar = "",
       .help = "it waits until it is released",
       .kind = OptionKind::kFlag},
      {.name = "--token",
       .metavar = "TEXT",
       .help = "submitted again with the same one: the same job, once; another job: refused"},
      {.name = "--wait", .metavar = "", .help = "until it has ended", .kind = OptionKind::kFlag}};
  options.insert(options.end(), more.begin(), more.end());
  return {.path = "submit",
          .summary = "give the scheduler a job to run",
          .example = "berth submit --gpus 1 --time-limit 2h -- python3 train.py --epochs 10",
          .options = with_server_options(std::move(options)),
          .run = run,
          .takes_words = true};
}

}  // namespace berth::cli
