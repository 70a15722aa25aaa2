// berth compare: several policies on the same jobs and seeds.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/number.h"
#include "base/text.h"
#include "commands.h"
#include "compare_report.h"
#include "compare_runs.h"
#include "console.h"
#include "output.h"
#include "report/comparison.h"
#include "report/json.h"

namespace berth::cli {
namespace {

constexpr std::array<std::string_view, 1> kOutputs = {"--json"};

Result<std::vector<const PolicyInfo*>> policies_of(const Args& args) {
  std::vector<const PolicyInfo*> policies;
  const std::string list = args.text("--policies");  // outlives the views into it
  for (const auto name : split(list, ',')) {
    BERTH_TRY(const PolicyInfo* const info, find_policy(trim(name)));
    if (std::ranges::find(policies, info) != policies.end()) {
      return fail(usage_error(fmt::format("policy '{}' is named twice", info->name), "--policies"));
    }
    policies.push_back(info);
  }
  return policies;
}

enum class SharingChoice : std::uint8_t { kExclusive, kShared, kBoth, kAuto };

Result<SharingChoice> sharing_choice(const Args& args) {
  if (!args.has("--sharing")) return SharingChoice::kAuto;
  constexpr std::array<std::string_view, 3> kChoices = {"exclusive", "shared", "both"};
  BERTH_TRY(const std::string chosen, args.choice("--sharing", kChoices));
  return static_cast<SharingChoice>(std::ranges::find(kChoices, chosen) - kChoices.begin());
}

// Whether holding GPUs in shares can differ from holding whole ones.
bool has_shares(const RunSetup& setup) {
  if (setup.source.draws()) return true;
  if (setup.report.rejected_by_reason().contains(std::string(kNotWholeGpus))) return true;
  return std::ranges::any_of(setup.workload.jobs, [](const Job& job) {
    return job.gpu_milli_per_task > 0 && job.gpu_milli_per_task < kWholeGpuMilli;
  });
}

// A table to be: how each policy holds GPUs in it.
struct TablePlan {
  std::string name;
  std::string sharing;  // in JSON
  std::vector<Sharing> of_policy;
};

std::vector<TablePlan> plan_tables(SharingChoice choice,
                                   const std::vector<const PolicyInfo*>& policies) {
  const auto all = [&](Sharing sharing) { return std::vector(policies.size(), sharing); };
  if (choice == SharingChoice::kExclusive) {
    return {{"exclusive GPUs", "exclusive", all(Sharing::kExclusive)}};
  }
  if (choice == SharingChoice::kShared) return {{"shared GPUs", "shared", all(Sharing::kShared)}};
  TablePlan published{"as published", "published", {}};
  for (const PolicyInfo* const info : policies) {
    published.of_policy.push_back(
        info->published == PublishedSharing::kShared ? Sharing::kShared : Sharing::kExclusive);
  }
  return {published, {"all sharing", "shared", all(Sharing::kShared)}};
}

// What is to be run for some tables: a run that two of them need is one.
class RunPlan {
 public:
  RunPlan(const std::vector<const PolicyInfo*>& policies, std::uint64_t first_seed,
          std::size_t seeds, std::vector<TablePlan> tables)
      : policies_(policies), seeds_(seeds), tables_(std::move(tables)) {
    for (std::size_t p = 0; p < policies.size(); ++p) {
      for (const Sharing sharing : {Sharing::kExclusive, Sharing::kShared}) {
        const bool used = std::ranges::any_of(
            tables_, [&](const TablePlan& table) { return table.of_policy[p] == sharing; });
        first_task_.push_back(tasks_.size());
        for (std::size_t s = 0; used && s < seeds; ++s) {
          tasks_.push_back({std::string(policies[p]->name), sharing, first_seed + s});
        }
      }
    }
  }

  [[nodiscard]] const std::vector<RunTask>& tasks() const { return tasks_; }
  [[nodiscard]] std::size_t policies() const { return policies_.size(); }
  [[nodiscard]] std::size_t tables() const { return tables_.size(); }

  // What of a table is done: all policies with the seeds that all of them have; if there is none,
  // those that have the first seed. Nothing without the first policy, to which the others compare.
  [[nodiscard]] Comparison table(std::size_t index,
                                 const std::vector<std::optional<RunRecord>>& runs) const {
    const TablePlan& plan = tables_[index];
    std::vector<Comparison::RunsOfPolicy> done;
    std::size_t common = seeds_;
    for (std::size_t p = 0; p < policies_.size(); ++p) {
      Comparison::RunsOfPolicy of_policy;
      for (std::size_t s = 0; s < seeds_; ++s) {
        const auto& run = runs[task_index(p, plan.of_policy[p], s)];
        if (!run) break;
        of_policy.push_back(&*run);
      }
      common = std::min(common, of_policy.size());
      done.push_back(std::move(of_policy));
    }
    if (common == 0) {
      if (done.front().empty()) return {plan.name, plan.sharing, {}};
      std::erase_if(done, [](const auto& of_policy) { return of_policy.empty(); });
    }
    for (auto& of_policy : done) of_policy.resize(std::max<std::size_t>(common, 1));
    return {plan.name, plan.sharing, std::move(done)};
  }

 private:
  [[nodiscard]] std::size_t task_index(std::size_t policy, Sharing sharing,
                                       std::size_t seed) const {
    return first_task_[2 * policy + (sharing == Sharing::kShared ? 1 : 0)] + seed;
  }

  const std::vector<const PolicyInfo*>& policies_;
  std::size_t seeds_;
  std::vector<TablePlan> tables_;
  std::vector<RunTask> tasks_;           // by policy, sharing, seed
  std::vector<std::size_t> first_task_;  // by policy and sharing
};

// Reads the jobs as shares where shares may matter, and settles which tables there will be.
Result<CompareJobs> read_jobs(const Args& args, SharingChoice& choice) {
  const bool exclusive = choice == SharingChoice::kExclusive;
  CompareJobs jobs;
  BERTH_TRY(jobs.setup, read_run_setup(args, exclusive ? Sharing::kExclusive : Sharing::kShared));
  if (choice == SharingChoice::kAuto) {
    choice = has_shares(jobs.setup) ? SharingChoice::kBoth : SharingChoice::kExclusive;
    if (choice == SharingChoice::kExclusive) jobs.setup.sharing = Sharing::kExclusive;
  }
  if (choice == SharingChoice::kBoth && !jobs.setup.source.draws()) {
    jobs.on_whole_gpus = on_whole_gpus(jobs.setup.workload);
  }
  return jobs;
}

std::string never_fit_notice(const Comparison& table) {
  if (table.policies() == 0 || table.run(0, 0).never_fit == 0) return {};
  const Metrics& run = table.run(0, 0);
  return fmt::format("{} of {} never fit the cluster and {} left out; see: berth simulate\n",
                     with_thousands(static_cast<std::int64_t>(run.never_fit)),
                     counted(run.jobs, "job"), run.never_fit == 1 ? "is" : "are");
}

std::string store_notice(const RunStore* store, const RunResults& results) {
  std::string out;
  if (store == nullptr) return out;
  if (store->damaged_lines() > 0) {
    out += fmt::format("{} of {} not used: damaged\n", counted(store->damaged_lines(), "line"),
                       printable(store->path()));
  }
  if (results.kept > 0) {
    out += fmt::format("{} of {} taken from {}\n",
                       with_thousands(static_cast<std::int64_t>(results.kept)),
                       counted(results.runs.size(), "run"), printable(store->path()));
  }
  return out;
}

// Before anything is read: whether the folder, or the place for it, can be written.
Status check_report_folder(const Args& args) {
  if (!args.has("--report")) return {};
  const std::filesystem::path folder = args.text("--report");
  std::error_code no_matter;
  const bool there = std::filesystem::is_directory(folder, no_matter);
  if (!there && std::filesystem::exists(folder, no_matter)) {
    return fail(io_error(folder.string(), "cannot write: it is not a folder"));
  }
  BERTH_TRY(const AtomicFile probe,
            AtomicFile::create((there ? folder / "report.html" : folder).string()));
  if (!args.has("--json") || args.text("--json") == "-") return {};
  for (const std::string_view own : {"report.html", "runs.jsonl"}) {
    if (whole_path(args.text("--json")) != whole_path((folder / own).string())) continue;
    Error error = usage_error("a file that --report writes itself", "--json");
    error.found = fmt::format("'{}'", printable(args.text("--json")));
    error.expected = "another name";
    return fail(std::move(error));
  }
  return {};
}

struct CompareSetup {
  std::vector<const PolicyInfo*> policies;
  std::size_t seeds = 0;
  SharingChoice choice = SharingChoice::kAuto;
};

Result<CompareSetup> compare_options(const Args& args) {
  CompareSetup out;
  BERTH_TRY(out.policies, policies_of(args));
  BERTH_TRY(const std::int64_t seeds, args.integer("--seeds", 1, 10'000));
  out.seeds = static_cast<std::size_t>(seeds);
  BERTH_TRY(out.choice, sharing_choice(args));
  BERTH_CHECK_OK(check_report_folder(args));
  BERTH_CHECK_OK(check_outputs(args, kOutputs));
  return out;
}

Status check_runs(const CompareSetup& compare, const RunSetup& setup) {
  if (setup.seed > static_cast<std::uint64_t>(INT64_MAX) - (compare.seeds - 1)) {
    return fail(usage_error("with so many --seeds the last one is too large", "--seed"));
  }
  std::vector<std::string_view> names;
  for (const PolicyInfo* const info : compare.policies) names.push_back(info->name);
  BERTH_CHECK_OK(check_addressees(setup, names));
  for (const PolicyInfo* const info : compare.policies) {  // wrong options before any run
    const auto policy = make_policy(std::string(info->name), setup);
    if (!policy) return fail(policy.error());
  }
  return {};
}

std::vector<Option> compare_options_help() {
  std::vector<Option> options = run_options();
  const auto sharing = std::ranges::find(options, "--sharing", &Option::name);
  sharing->help =
      "exclusive: a GPU is a slot; shared: a task takes the share it declares; both: a table with "
      "each policy as published, and one with all sharing [both where jobs have shares: --workload "
      "paper or measured, or a trace with shares; else exclusive]";
  sharing->default_value = {};
  options.push_back(
      {.name = "--policies", .metavar = "A,B,C", .help = policies_help(), .required = true});
  options.push_back({.name = "--seeds",
                     .metavar = "N",
                     .help = "runs of each policy, with seeds S, S+1, ...; at least 20 for a claim",
                     .default_value = "1"});
  options.push_back({.name = "--report",
                     .metavar = "DIR",
                     .help = "write DIR/report.html, a page with plots; finished runs are kept in "
                             "DIR/runs.jsonl: after an interruption the same command goes on"});
  options.push_back({.name = "--bars",
                     .help = "draw the mean completion times below each table",
                     .kind = OptionKind::kFlag});
  options.push_back({.name = "--json", .metavar = "F", .help = "write the figures; -: print them"});
  return options;
}

Status write_results(const Args& args, const CompareJobs& jobs, const PolicyInfo& first,
                     const std::vector<Comparison>& tables, const RunResults& results,
                     bool complete) {
  if (args.has("--json")) {
    std::vector<const Metrics*> runs;
    for (const auto& run : results.runs) {
      if (run) runs.push_back(&run->metrics);
    }
    auto json = comparison_json(tables, runs);
    json["baseline"] = first.name;  // also where nothing of it is done
    json["interrupted"] = !complete;
    json["input"] = to_json(jobs.setup.report);
    BERTH_CHECK_OK(write_output(args.text("--json"), json.dump(2) + "\n"));
  }
  if (any_on_stdout(args, kOutputs)) return {};
  std::string text;
  for (const Comparison& table : tables) {
    if (table.policies() == 0) continue;
    if (!text.empty()) text += '\n';
    text += table.text(stdout_has_colour());
    if (args.flag("--bars")) text += '\n' + table.bars();
  }
  return print_out(text);
}

Result<int> compare_command(const Args& args) {
  BERTH_TRY(CompareSetup compare, compare_options(args));
  const bool automatic = compare.choice == SharingChoice::kAuto;
  BERTH_TRY(const CompareJobs jobs, read_jobs(args, compare.choice));
  BERTH_CHECK_OK(check_runs(compare, jobs.setup));
  const RunPlan plan(compare.policies, jobs.setup.seed, compare.seeds,
                     plan_tables(compare.choice, compare.policies));
  std::vector<std::string> keys;
  std::optional<RunStore> store;
  if (args.has("--report")) {
    BERTH_TRY(const std::string of_setup, setup_fingerprint(args, jobs.setup));
    for (const RunTask& task : plan.tasks()) keys.push_back(run_key(of_setup, task));
    BERTH_TRY(auto opened, RunStore::open(args.text("--report"), {keys.begin(), keys.end()}));
    store.emplace(std::move(opened));
  }
  RunStore* const kept = store ? &*store : nullptr;
  BERTH_TRY(const RunResults results,
            run_tasks(jobs, plan.tasks(), keys, kept, catch_interrupts()));
  const auto done = static_cast<std::size_t>(
      std::ranges::count_if(results.runs, [](const auto& run) { return run.has_value(); }));
  const bool complete = done == results.runs.size();
  std::vector<Comparison> tables;
  for (std::size_t t = 0; t < plan.tables(); ++t) tables.push_back(plan.table(t, results.runs));
  if (args.has("--report")) {
    const std::string command = command_line("berth compare", compare_options_help(), args);
    BERTH_CHECK_OK(write_report(args, jobs.setup, command, compare.seeds, tables, complete));
  }
  BERTH_CHECK_OK(write_results(args, jobs, *compare.policies.front(), tables, results, complete));
  const bool one_enough = automatic && compare.choice == SharingChoice::kExclusive;
  print_err(fmt::format(
      "{}{}{}{}", one_enough ? "every job takes whole GPUs: sharing would change nothing\n" : "",
      notices(jobs.setup, args), never_fit_notice(tables.front()), store_notice(kept, results)));
  if (complete) return kDone;
  print_err(fmt::format("berth: interrupted; {} of {} done{}\n", done,
                        counted(results.runs.size(), "run"),
                        kept != nullptr ? "; the same command goes on from there" : ""));
  return kInterrupted;
}

int run(const Args& args) {
  const auto code = compare_command(args);
  return code ? *code : report_error(code.error());
}

}  // namespace

Command compare_command_info() {
  return {.path = "compare",
          .summary = "run several policies on the same jobs and seeds",
          .example =
              "berth compare --trace trace.csv --cluster 64x8 "
              "--policies fifo,fifo-backfill,srtf --seeds 3 --predict noisy:0.5",
          .options = compare_options_help(),
          .run = run};
}

}  // namespace berth::cli
