#include "compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "output.h"
#include "report/compare_page.h"

namespace berth::cli {
namespace {

// A word of a shell's command, quoted where it must be (POSIX).
std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string command_line(std::string_view command, std::span<const Option> options,
                         const Args& args) {
  constexpr std::string_view kApart[] = {"--json", "--report"};
  std::string out(command);
  for (const Option& option : options) {
    if (std::ranges::find(kApart, option.name) != std::end(kApart)) continue;
    if (option.kind == OptionKind::kFlag) {
      if (args.flag(option.name)) out += fmt::format(" {}", option.name);
      continue;
    }
    for (const std::string& value : args.list(option.name)) {
      if (value != option.default_value)
        out += fmt::format(" {} {}", option.name, shell_word(value));
    }
  }
  return out;
}

Status write_report(const Args& args, const RunSetup& setup, const std::string& command,
                    std::size_t seeds, std::span<const Comparison> tables, bool complete) {
  const std::size_t policies = split(args.text("--policies"), ',').size();
  report::ComparePage page;
  page.title = fmt::format("{} on {}", counted(policies, "policy", "policies"),
                           std::filesystem::path(args.text("--trace")).filename().string());
  page.summary = fmt::format("{} on {}: {}, {}.{}", counted(setup.workload.jobs.size(), "job"),
                             setup.cluster.name, counted(setup.cluster.servers.size(), "server"),
                             counted(setup.cluster.gpus(), "GPU"),
                             complete ? "" : " Interrupted: these are the runs that were done.");
  page.facts = {
      {"command", command},
      {"program", fmt::format("berth {}", BERTH_VERSION)},
      {"trace", args.text("--trace")},
      {"jobs", fmt::format("{}, {} not used",
                           counted(setup.workload.jobs.size(),
                                   setup.source.draws() ? "job of the first seed" : "job",
                                   setup.source.draws() ? "jobs of the first seed" : "jobs"),
                           counted(setup.report.rejected(), "row"))},
      {"cluster", fmt::format("{}: {}, {}", setup.cluster.name,
                              counted(setup.cluster.servers.size(), "server"),
                              counted(setup.cluster.gpus(), "GPU"))},
      {"workload", args.text("--workload")},
      {"predicted run times", setup.predict},
      {"seeds", seeds == 1 ? fmt::format("{}", setup.seed)
                           : fmt::format("{} to {}", setup.seed, setup.seed + seeds - 1)}};
  page.tables = tables;
  page.gpus = static_cast<double>(setup.cluster.gpus());
  const std::filesystem::path folder = args.text("--report");
  return write_output((folder / "report.html").string(), report::compare_page(page));
}

}  // namespace berth::cli
