#include "why_priority.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json.h"
#include "report/table.h"

namespace berth::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string value_text(double value) {
  const std::string text = fmt::format("{:.3f}", value);
  return text == "-0.000" ? "0.000" : text;
}

}  // namespace

std::string name_of(const Workload& workload, JobId job) {
  return fmt::format("job {} (index {})", printable(workload.names[job.index()]), job.value);
}

std::string seconds_text(TimeUs us) {
  std::string text = fmt::format("{:.6f}", seconds(us));
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

Json job_json(JobId job, const Workload& workload) {
  if (!job.valid() || job.index() >= workload.jobs.size()) return nullptr;
  return {{"job", printable(workload.names[job.index()], 1000)}, {"index", job.value}};
}

std::string priority_sum_text(const PriorityExplanation& priority) {
  std::string out = value_text(priority_sum(priority.own));
  if (priority.own.size() < 2) return out;
  for (std::size_t t = 0; t < priority.own.size(); ++t) {
    const double value = priority.own[t].value;
    if (t == 0) {
      out += " = " + value_text(value);
    } else {
      out += (value < 0 ? " - " : " + ") + value_text(std::abs(value));
    }
  }
  return out;
}

std::string priority_legend(const PriorityExplanation& priority) {
  std::string terms;
  for (const PriorityTerm& term : priority.own) {
    terms += fmt::format("{}{}", terms.empty() ? "" : ", ", term.name);
  }
  return fmt::format("priority: the sum of {}; larger goes first\n", terms);
}

std::string priority_decision_text(const PriorityExplanation& priority, const Workload& workload) {
  if (!priority.other.valid()) return priority.runs ? "nobody waits" : "nobody runs";
  const std::string other =
      fmt::format("{}, the {}", name_of(workload, priority.other),
                  priority.runs ? "first of those that wait" : "last of those that run");
  if (!priority.decisive) {
    if (priority_sum(priority.own) == priority_sum(priority.others)) {
      return "not by order: equal to " + other;
    }
    return fmt::format("not by order: {} {}", priority.runs ? "after" : "before", other);
  }
  const std::size_t t = *priority.decisive;
  return fmt::format("by {}: {} against {} of {}", priority.own[t].name,
                     value_text(priority.own[t].value), value_text(priority.others[t].value),
                     other);
}

std::string priority_table(const PriorityExplanation& priority, const Workload& workload) {
  const bool alone = !priority.other.valid();
  std::vector<Table::Column> columns{{"term", Align::kLeft}, {"this job"}};
  if (!alone) {
    columns.push_back({"job " + printable(workload.names[priority.other.index()])});
    columns.push_back({"difference"});
  }
  Table table(std::move(columns));
  const auto add = [&](std::string_view name, double own, double other) {
    std::vector<std::string> cells{std::string(name), value_text(own)};
    if (!alone) {
      cells.push_back(value_text(other));
      cells.push_back(fmt::format("{:+.3f}", own - other));
    }
    table.add_row(std::move(cells));
  };
  for (std::size_t t = 0; t < priority.own.size(); ++t) {
    add(priority.own[t].name, priority.own[t].value, alone ? 0 : priority.others[t].value);
  }
  add("priority", priority_sum(priority.own), priority_sum(priority.others));
  return fmt::format("priority as of the decision at {} s; larger goes first\n{}decided {}\n",
                     seconds_text(priority.decided_us), table.text(),
                     priority_decision_text(priority, workload));
}

Json priority_json(const PriorityExplanation* priority, const Workload& workload) {
  if (priority == nullptr) return nullptr;
  Json out = {{"decided_s", seconds(priority->decided_us)},
              {"terms", to_json(std::span<const PriorityTerm>(priority->own))},
              {"sum", priority_sum(priority->own)},
              {"against", job_json(priority->other, workload)},
              {"decisive", nullptr}};
  if (!priority->other.valid()) return out;
  out["against"]["terms"] = to_json(std::span<const PriorityTerm>(priority->others));
  out["against"]["sum"] = priority_sum(priority->others);
  if (priority->decisive) out["decisive"] = priority->own[*priority->decisive].name;
  return out;
}

}  // namespace berth::cli
