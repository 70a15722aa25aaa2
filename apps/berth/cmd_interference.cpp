// berth interference fit, predict, evaluate; berth reproduce aip.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "base/number.h"
#include "base/text.h"
#include "commands.h"
#include "console.h"
#include "interference/aip.h"
#include "interference/evaluate.h"
#include "interference/rate_model.h"
#include "output.h"
#include "report/aip_report.h"
#include "report/interference_report.h"
#include "report/json.h"
#include "report/table.h"

namespace berth::cli {
namespace {

namespace inf = interference;

constexpr std::string_view kModes[] = {"solo", "measured"};
constexpr std::int64_t kMostSeed = 1'000'000'000'000;

const Option kDataOption{
    .name = "--data", .metavar = "F.csv", .help = "measured co-locations", .required = true};
const Option kModeOption{
    .name = "--mode",
    .metavar = "M",
    .help = "solo: profiles of jobs alone; measured: with the co-run's figures",
    .default_value = "solo"};
const Option kSeedOption{
    .name = "--seed", .metavar = "S", .help = "of folds", .default_value = "1"};
const Option kJsonOption{
    .name = "--json", .metavar = "F", .help = "write the figures; -: print them"};

Result<inf::Mode> mode_of(const Args& args) {
  BERTH_TRY(const std::string name, args.choice("--mode", kModes));
  return name == kModes[0] ? inf::Mode::kSolo : inf::Mode::kMeasured;
}

Result<Rng> rng_of(const Args& args) {
  BERTH_TRY(const auto seed, args.integer("--seed", 0, kMostSeed));
  return Rng(static_cast<std::uint64_t>(seed));
}

// What was rejected or mended, on standard error.
void print_notes(const std::string& path, const trace::RejectReport& report) {
  const auto show = [&](const char* what, std::uint64_t count,
                        const std::vector<trace::RowNote>& notes) {
    if (count == 0) return;
    const trace::RowNote& first = notes.front();
    print_err(fmt::format("berth: {}: {} {}; the first: line {}{}{}: {}\n", printable(path),
                          counted(count, "row"), what, first.line, first.field.empty() ? "" : ": ",
                          printable(first.field), first.reason));
  };
  show("rejected", report.rejected(), report.rejected_notes());
  show("with a warning", report.warned(), report.warned_notes());
}

Status deliver(const Args& args, const nlohmann::ordered_json& json, const std::string& text) {
  if (args.has("--json")) BERTH_CHECK_OK(write_output(args.text("--json"), json.dump(2) + "\n"));
  if (args.text("--json") != "-") BERTH_CHECK_OK(print_out(text));
  return {};
}

Status evaluate_command(const Args& args) {
  BERTH_TRY(const inf::Mode mode, mode_of(args));
  BERTH_TRY(const Rng rng, rng_of(args));
  BERTH_TRY(const inf::DatasetResult input, inf::read_dataset(args.text("--data")));
  print_notes(args.text("--data"), input.report);
  BERTH_TRY(const inf::TrainingSet set, inf::TrainingSet::make(input.data, mode));
  auto plan = inf::make_folds(input.data, args.text("--folds"), rng.fork("folds"));
  if (!plan) {
    Error error = std::move(plan).error();
    if (error.file.empty() && error.kind == ErrorKind::kBadInput) error.file = input.data.source;
    return fail(std::move(error));
  }
  ProgressBar bar("evaluating");
  inf::EvaluateOptions options;
  options.techniques = !args.flag("--selected-only");
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  options.progress = [&](std::size_t done, std::size_t all) {
    bar.update(static_cast<double>(done) / static_cast<double>(all));
  };
  BERTH_TRY(const inf::Evaluation evaluation,
            inf::evaluate(set, *plan, rng.fork("models"), options));
  auto json = report::evaluation_json(evaluation);
  json["rows"] = input.data.rows.size();
  json["input"] = to_json(input.report);
  json["cpu_s"] = usage_now().process_cpu_s;
  return deliver(args, json, report::evaluation_text(evaluation));
}

Status fit_command(const Args& args) {
  BERTH_TRY(const inf::Mode mode, mode_of(args));
  BERTH_TRY(const Rng rng, rng_of(args));
  constexpr std::string_view kKinds[] = {"pair", "job"};
  BERTH_TRY(const std::string kind, args.choice("--folds", kKinds));
  BERTH_TRY(const inf::DatasetResult input, inf::read_dataset(args.text("--data")));
  print_notes(args.text("--data"), input.report);
  BERTH_TRY(const inf::TrainingSet set, inf::TrainingSet::make(input.data, mode));
  BERTH_TRY(const inf::RateModel model,
            inf::RateModel::fit(set, kind == "job" ? inf::FoldKind::kJob : inf::FoldKind::kPair,
                                rng.fork("models")));
  BERTH_CHECK_OK(model.write(args.text("--model")));
  nlohmann::ordered_json json;
  json["model"] = args.text("--model");
  json["name"] = model.ensemble().name();
  json["rows"] = input.data.rows.size();
  json["features"] = model.features().features().size();
  json["input"] = to_json(input.report);
  return deliver(args, json,
                 fmt::format("{}: {}, from {}\n", printable(args.text("--model")),
                             model.ensemble().name(), counted(input.data.rows.size(), "row")));
}

Status predict_command(const Args& args) {
  BERTH_TRY(const inf::RateModel model, inf::RateModel::read(args.text("--model")));
  BERTH_TRY(const inf::DatasetResult input,
            inf::read_dataset(args.text("--data"), inf::RateColumn::kOptional));
  print_notes(args.text("--data"), input.report);
  BERTH_TRY(const auto predictions, model.predict(input.data));
  Table table({{"device", Align::kLeft},
               {"subject", Align::kLeft},
               {"beside", Align::kLeft},
               {"rate"},
               {"low"},
               {"high"}});
  auto rows = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const inf::Row& row = input.data.rows[i];
    std::string beside;
    for (const auto job : row.corunners) {
      beside += (beside.empty() ? "" : "+") + std::string(input.data.jobs.name(job));
    }
    const auto device = printable(input.data.devices.name(row.device));
    const auto subject = printable(input.data.jobs.name(row.subject));
    const auto& p = predictions[i];
    rows.push_back({{"line", row.line},
                    {"device", device},
                    {"subject", subject},
                    {"corunners", printable(beside, 400)},
                    {"rate", p.rate},
                    {"low", p.low},
                    {"high", p.high}});
    table.add_row({device, subject, printable(beside), fmt::format("{:.4f}", p.rate),
                   fmt::format("{:.4f}", p.low), fmt::format("{:.4f}", p.high)});
  }
  nlohmann::ordered_json json;
  json["predictions"] = std::move(rows);
  json["input"] = to_json(input.report);
  return deliver(args, json, table.text());
}

// The paper's AIP beside the honest evaluation on 5 folds by pair.
Status reproduce_aip_command(const Args& args) {
  BERTH_TRY(const inf::Mode mode, mode_of(args));
  BERTH_TRY(const Rng rng, rng_of(args));
  BERTH_TRY(const inf::DatasetResult input, inf::read_dataset(args.text("--data")));
  print_notes(args.text("--data"), input.report);
  BERTH_TRY(const inf::TrainingSet set, inf::TrainingSet::make(input.data, mode));
  const double before_s = usage_now().process_cpu_s;
  BERTH_TRY(const inf::AipResult aip, inf::run_aip(set, rng.fork("models")));
  auto json = report::aip_json(aip);
  json["cpu_s"] = usage_now().process_cpu_s - before_s;
  json["input"] = to_json(input.report);
  if (args.has("--report")) {
    BERTH_TRY(const inf::FoldPlan plan, inf::make_folds(input.data, "5", rng.fork("folds")));
    ProgressBar bar("evaluating");
    inf::EvaluateOptions options;
    options.techniques = false;
    options.threads = std::max(1U, std::thread::hardware_concurrency());
    options.progress = [&](std::size_t done, std::size_t all) {
      bar.update(static_cast<double>(done) / static_cast<double>(all));
    };
    BERTH_TRY(const inf::Evaluation evaluation,
              inf::evaluate(set, plan, rng.fork("models"), options));
    json["honest"] = report::evaluation_json(evaluation);
    BERTH_CHECK_OK(write_output(args.text("--report"), report::aip_page(set, aip, evaluation)));
  }
  return deliver(args, json, report::aip_text(aip));
}

template <Status (*kCommand)(const Args&)>
int run(const Args& args) {
  const Status status = kCommand(args);
  return status ? kDone : report_error(status.error());
}

}  // namespace

Command interference_evaluate_info() {
  return {
      .path = "interference evaluate",
      .summary = "how well slow-downs of jobs that share a device are predicted",
      .example = "berth interference evaluate --data pairs.csv --folds job",
      .options = {kDataOption,
                  {.name = "--folds",
                   .metavar = "pair|job|K|FILE",
                   .help = "what is new in a test: a pair, a job, a K-th of the pairs, as in FILE",
                   .default_value = "5"},
                  kModeOption,
                  {.name = "--selected-only",
                   .metavar = {},
                   .help = "skip the single techniques",
                   .kind = OptionKind::kFlag},
                  kSeedOption,
                  kJsonOption},
      .run = run<evaluate_command>};
}

Command reproduce_aip_info() {
  return {.path = "reproduce aip",
          .summary = "the interference paper's tables for a data set: error, influence, cost",
          .example = "berth reproduce aip --data pairs.csv --report aip.html",
          .options = {kDataOption,
                      kModeOption,
                      {.name = "--report",
                       .metavar = "F.html",
                       .help = "write a page with the honest evaluation too"},
                      kSeedOption,
                      kJsonOption},
          .run = run<reproduce_aip_command>};
}

Command interference_fit_info() {
  return {.path = "interference fit",
          .summary = "make a model of slow-downs from measured co-locations",
          .example = "berth interference fit --data pairs.csv --model model.json",
          .options =
              {kDataOption,
               {.name = "--model", .metavar = "F", .help = "the file to write", .required = true},
               {.name = "--folds",
                .metavar = "pair|job",
                .help = "what will be new when it predicts: the pair, or the job",
                .default_value = "pair"},
               kModeOption,
               kSeedOption,
               kJsonOption},
          .run = run<fit_command>};
}

Command interference_predict_info() {
  return {.path = "interference predict",
          .summary = "predict slow-downs with their 90 % intervals",
          .example = "berth interference predict --model model.json --data candidates.csv",
          .options = {{.name = "--model", .metavar = "F", .help = "made by fit", .required = true},
                      kDataOption,
                      kJsonOption},
          .run = run<predict_command>};
}

}  // namespace berth::cli
