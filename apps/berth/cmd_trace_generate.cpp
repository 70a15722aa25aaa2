#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/text.h"
#include "commands.h"
#include "console.h"
#include "trace/generate.h"
#include "trace/writer.h"

namespace berth::cli {
namespace {

Status write_json(const std::string& path, const trace::Trace& trace, std::int64_t seed,
                  const trace::GenerateOptions& options) {
  double gpu_hours = 0;
  for (const trace::TraceJob& job : trace.jobs) {
    gpu_hours +=
        static_cast<double>(job.gpu_milli.value()) / 1000 * seconds(job.duration_us.value()) / 3600;
  }
  const nlohmann::ordered_json out = {{"jobs", trace.jobs.size()},
                                      {"seed", seed},
                                      {"load", options.load},
                                      {"gpus", options.gpus},
                                      {"span_s", seconds(trace.jobs.back().arrival_us)},
                                      {"gpu_hours", gpu_hours}};
  BERTH_TRY(AtomicFile file, AtomicFile::create(path));
  BERTH_CHECK_OK(file.write(out.dump(2) + "\n"));
  return file.commit();
}

Result<std::string> generate(const Args& args) {
  trace::GenerateOptions options;
  BERTH_TRY(const std::int64_t jobs, args.integer("--jobs", 1, trace::kMaxGeneratedJobs));
  BERTH_TRY(const std::int64_t seed, args.integer("--seed", 0, 1'000'000'000'000));
  BERTH_TRY(options.load, args.number("--load", 1e-6, 1e6));
  BERTH_TRY(options.gpus, args.integer("--gpus", 1, 1'000'000'000));
  if (args.text("--out") == "-" && args.has("--json") && args.text("--json") == "-") {
    return fail(usage_error("the trace and the JSON cannot both go to standard output", "--json"));
  }
  options.jobs = static_cast<std::uint64_t>(jobs);
  BERTH_TRY(const trace::Trace generated,
            trace::generate_philly_like(options, Rng(static_cast<std::uint64_t>(seed))));
  const std::string path = args.text("--out");
  BERTH_CHECK_OK(trace::write_trace(generated, path));
  if (args.has("--json")) {
    BERTH_CHECK_OK(write_json(args.text("--json"), generated, seed, options));
  }
  return fmt::format("{} over {} written to {}\n", counted(options.jobs, "job"),
                     human_duration(generated.jobs.back().arrival_us), printable(path, 400));
}

int run(const Args& args) {
  const auto message = generate(args);
  if (!message) return report_error(message.error());
  const bool stdout_is_taken = args.text("--out") == "-" || args.text("--json") == "-";
  const auto printed = stdout_is_taken ? Status{} : print_out(*message);
  return printed ? kDone : report_error(printed.error());
}

}  // namespace

Command trace_generate_command_info() {
  return {.path = "trace generate",
          .summary = "write a workload like Microsoft's Philly, of any length",
          .example = "berth trace generate --jobs 10000 --seed 1 --out philly-like.csv",
          .options = {{"--jobs", "N", "number of jobs; the span grows with it", OptionKind::kValue,
                       "10000"},
                      {"--seed", "S", "the same seed gives the same file", OptionKind::kValue, "1"},
                      {"--load", "X", "arrivals per second, relative to Philly's on as many GPUs",
                       OptionKind::kValue, "1"},
                      {"--gpus", "N", "size of the cluster that the load refers to",
                       OptionKind::kValue, "2490"},
                      {"--out",
                       "F",
                       "file to write (.gz, .xz, .zst: compressed), - for stdout",
                       OptionKind::kValue,
                       {},
                       true},
                      {"--json", "F", "what was written, as JSON; - for stdout"}},
          .run = run};
}

}  // namespace berth::cli
