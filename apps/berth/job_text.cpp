#include "job_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "console.h"
#include "report/table.h"

namespace berth::cli {
namespace {

std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> number_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string duration_of(const Json& json, const char* key) {
  const auto s = number_of(json, key);
  if (!s) return "";
  return *s == 0 ? "-" : human_duration(static_cast<TimeUs>(*s * 1e6));
}

std::string instant_of(const Json& json, const char* key) {
  const auto s = number_of(json, key);
  if (!s) return "";
  return fmt::format("{:%Y-%m-%d %H:%M:%S %z}", fmt::localtime(static_cast<std::time_t>(*s)));
}

std::string count_of(const Json& json, const char* key) {
  const auto n = number_of(json, key);
  return n ? with_thousands(static_cast<std::int64_t>(*n)) : "";
}

std::string reason_of(const Json& json) {
  const auto found = json.find("reason");
  return found != json.end() && found->is_object() ? text_of(*found, "text") : "";
}

// Where it runs: "host: 0 1".
std::string places_of(const Json& places) {
  std::string out;
  std::string last;
  if (!places.is_array()) return out;
  for (const Json& place : places) {
    const std::string server = text_of(place, "server");
    if (server != last) out += fmt::format("{}{}:", out.empty() ? "" : ", ", printable(server));
    last = server;
    if (const auto device = number_of(place, "device")) out += fmt::format(" {}", *device);
  }
  return out;
}

void add_line(std::string& out, std::string_view title, const std::string& value) {
  if (!value.empty()) out += fmt::format("{:<13} {}\n", title, value);
}

std::string run_line(const Json& run) {
  std::string out = fmt::format("run {}: {}", count_of(run, "attempt"), text_of(run, "phase"));
  if (const std::string at = instant_of(run, "started_unix_s"); !at.empty()) out += ", from " + at;
  if (const std::string at = instant_of(run, "ended_unix_s"); !at.empty()) out += " to " + at;
  if (run.contains("places")) {
    if (const std::string places = places_of(run["places"]); !places.empty())
      out += " on " + places;
  }
  if (const std::string why = text_of(run, "asked_to_leave"); !why.empty()) {
    out += ", asked to leave: " + printable(why, 200);
  }
  if (run.contains("end") && run["end"].is_object()) {
    const Json& end = run["end"];
    out += ", " + text_of(end, "kind");
    if (const std::string why = text_of(end, "why"); !why.empty())
      out += ": " + printable(why, 300);
    if (end.contains("tasks") && end["tasks"].is_array()) {
      for (const Json& task : end["tasks"]) {
        const auto code = number_of(task, "exit_code");
        const auto signal = number_of(task, "signal");
        if (signal)
          out += fmt::format(", task {} by signal {}", count_of(task, "task"), *signal);
        else if (code && *code != 0)
          out += fmt::format(", task {} with code {}", count_of(task, "task"), *code);
      }
    }
  }
  return out + "\n";
}

std::string start_text(const Json& start) {
  const std::string low = duration_of(start, "low_s");
  const std::string high = duration_of(start, "high_s");
  std::string out = fmt::format("may start in {} (90 %: {} to {})", duration_of(start, "median_s"),
                                low, high.empty() ? "never" : high);
  out += fmt::format("; {} draws of run times", count_of(start, "draws"));
  const auto learned = number_of(start, "learned_from");
  const auto error = number_of(start, "log_error");
  if (learned && error) {
    out += *learned >= 10 ? fmt::format(", which were off by a factor of {:.2g} for {} ended jobs",
                                        std::exp(*error), *learned)
                          : std::string(", of which little is known yet");
  }
  return out + "\n";
}

}  // namespace

std::string jobs_table(const Json& jobs) {
  Table table({{"job"},
               {"name", Align::kLeft},
               {"user", Align::kLeft},
               {"state", Align::kLeft},
               {"waited"},
               {"ran"},
               {"iteration"},
               {"where, or why", Align::kLeft}});
  if (!jobs.is_array() || jobs.empty()) return "no jobs\n";
  for (const Json& job : jobs) {
    const std::string state = text_of(job, "state");
    std::string note = job.contains("places") ? places_of(job["places"]) : "";
    if (note.empty() && state != "finished") note = reason_of(job);
    table.add_row({count_of(job, "job"), printable(text_of(job, "name"), 30),
                   printable(text_of(job, "user"), 16), state, duration_of(job, "wait_s"),
                   duration_of(job, "run_s"), count_of(job, "iterations"), printable(note, 70)});
  }
  return table.text(stdout_has_colour());
}

std::string job_page(const Json& job) {
  std::string out =
      fmt::format("job {} {}\n", count_of(job, "job"), printable(text_of(job, "name"), 200));
  add_line(out, "state", text_of(job, "state"));
  if (reason_of(job) != text_of(job, "state")) add_line(out, "why", printable(reason_of(job), 500));
  add_line(out, "user", printable(text_of(job, "user")));
  add_line(out, "submitted", instant_of(job, "submitted_unix_s"));
  add_line(out, "ended", instant_of(job, "ended_unix_s"));
  add_line(out, "waited", duration_of(job, "wait_s"));
  add_line(out, "ran", duration_of(job, "run_s"));
  add_line(out, "iterations", count_of(job, "iterations"));
  if (const auto loss = number_of(job, "loss")) add_line(out, "loss", fmt::format("{:.6g}", *loss));
  if (const auto accuracy = number_of(job, "accuracy")) {
    add_line(out, "accuracy", fmt::format("{:.6g}", *accuracy));
  }
  if (job.contains("damaged_reports")) {
    add_line(out, "bad reports",
             fmt::format("{}, the last: {}", count_of(job, "damaged_reports"),
                         printable(text_of(job, "last_damaged_report"), 300)));
  }
  add_line(out, "preempted", fmt::format("{} times", count_of(job, "preemptions")));
  if (job.contains("spec") && job["spec"].is_object()) {
    const Json& spec = job["spec"];
    if (spec.contains("command") && spec["command"].is_array()) {
      std::string command;
      for (const Json& word : spec["command"]) {
        command += (command.empty() ? "" : " ") +
                   word.dump(-1, ' ', false, Json::error_handler_t::replace);
      }
      add_line(out, "command", command);
    }
    add_line(out, "directory", printable(text_of(spec, "directory"), 400));
    for (const char* key :
         {"gpus", "gpu_type", "gpu_memory", "cpus", "memory", "replicas", "partitions", "elastic",
          "model", "virtual_cluster", "priority", "urgency", "deadline", "time_limit", "iterations",
          "accuracy", "stop", "restarts"}) {
      if (!spec.contains(key)) continue;
      const Json& value = spec[key];
      add_line(out, key,
               value.is_string() ? printable(value.get<std::string>(), 200)
                                 : value.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  }
  if (job.contains("runs") && job["runs"].is_array()) {
    for (const Json& run : job["runs"]) out += run_line(run);
  }
  return out;
}

std::string why_page(const Json& why) {
  const std::string state = text_of(why, "state");
  std::string out = fmt::format("job {} ({}) is {}", count_of(why, "job"),
                                printable(text_of(why, "name"), 100), state);
  const std::string reason = reason_of(why);
  if (reason != state && reason != "runs") out += ": " + printable(reason, 500);
  out += "\n";
  if (state == "failed") {
    out += fmt::format("what it printed: berth logs {}\n", count_of(why, "job"));
  }
  if (why.contains("priority") && why["priority"].is_object()) {
    const Json& priority = why["priority"];
    const Json* against = priority["against"].is_object() ? &priority["against"] : nullptr;
    std::vector<Table::Column> columns{{"term of " + text_of(why, "policy"), Align::kLeft},
                                       {"this job"}};
    if (against != nullptr) columns.push_back({"job " + count_of(*against, "job")});
    Table table(std::move(columns));
    for (std::size_t t = 0; t < priority["terms"].size(); ++t) {
      const Json& term = priority["terms"][t];
      std::vector<std::string> cells{text_of(term, "term"),
                                     fmt::format("{:.3f}", number_of(term, "value").value_or(0))};
      if (against != nullptr) {
        cells.push_back(
            fmt::format("{:.3f}", number_of((*against)["terms"][t], "value").value_or(0)));
      }
      table.add_row(std::move(cells));
    }
    std::vector<std::string> sums{"sum; larger goes first",
                                  fmt::format("{:.3f}", number_of(priority, "sum").value_or(0))};
    if (against != nullptr)
      sums.push_back(fmt::format("{:.3f}", number_of(*against, "sum").value_or(0)));
    table.add_row(std::move(sums));
    out += table.text(stdout_has_colour());
    if (const std::string term = text_of(priority, "decisive"); !term.empty()) {
      out += fmt::format("decided by: {}\n", term);
    }
  }
  if (const auto count = number_of(why, "ahead_count")) {
    std::vector<std::string> names;
    for (const Json& job : why["ahead"]) {
      if (names.size() == 5) break;
      names.push_back(
          fmt::format("{} ({})", count_of(job, "job"), printable(text_of(job, "name"), 30)));
    }
    const auto more = static_cast<std::size_t>(*count) - names.size();
    out += names.empty() ? "nobody who waits is ahead\n"
                         : fmt::format("ahead of it: {}{}\n", fmt::join(names, ", "),
                                       more > 0 ? fmt::format(" and {} more", more) : "");
  }
  if (why.contains("start") && why["start"].is_object()) out += start_text(why["start"]);
  if (const std::string none = text_of(why, "no_estimate"); !none.empty()) {
    out += "no estimate of its start: " + none + "\n";
  }
  return out;
}

std::string nodes_table(const Json& nodes) {
  Table table({{"node", Align::kLeft},
               {"has", Align::kLeft},
               {"free"},
               {"of"},
               {"tasks"},
               {"", Align::kLeft}});
  if (!nodes.is_array()) return "";
  for (const Json& node : nodes) {
    std::size_t down = 0;
    if (node.contains("each") && node["each"].is_array()) {
      for (const Json& device : node["each"]) {
        if (device.value("up", true) == false) ++down;
      }
    }
    const std::string kind = text_of(node, "kind");
    table.add_row({printable(text_of(node, "node"), 40),
                   kind == "cores" ? kind : printable(text_of(node, "type") + " " + kind, 40),
                   fmt::format("{:.4g}", number_of(node, "free").value_or(0)),
                   count_of(node, "devices"), count_of(node, "tasks"),
                   down > 0 ? fmt::format("{} used by others or broken", down) : ""});
  }
  return table.text(stdout_has_colour());
}

std::string status_line(const Json& status) {
  std::string out = fmt::format(
      "{}: {} running, {} pending, {} held; {} rounds of {:.3g} ms", text_of(status, "policy"),
      count_of(status, "running"), count_of(status, "pending"), count_of(status, "held"),
      count_of(status, "rounds"), number_of(status, "round_mean_us").value_or(0) / 1000.0);
  if (const std::string trouble = text_of(status, "trouble"); !trouble.empty()) {
    out += "\nnothing is started: " + printable(trouble, 300);
  }
  return out + "\n";
}

}  // namespace berth::cli
