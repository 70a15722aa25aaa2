#include "report/interference_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/table.h"

namespace berth::report {
namespace {

using interference::Choice;
using interference::Evaluation;
using interference::Score;

nlohmann::ordered_json score_json(const Score& score) {
  nlohmann::ordered_json out;
  out["mae"] = score.mae;
  out["mae_sd"] = score.mae_sd;
  out["rmse"] = score.rmse;
  out["r2"] = score.r2 ? nlohmann::ordered_json(*score.r2) : nullptr;
  out["coverage"] = score.coverage ? nlohmann::ordered_json(*score.coverage) : nullptr;
  out["category"] = score.category;
  out["fit_ms"] = score.fit_ms;
  out["predict_us"] = score.predict_us;
  return out;
}

nlohmann::ordered_json choices_json(const std::vector<Choice>& choices, std::size_t folds) {
  auto out = nlohmann::ordered_json::array();
  for (const Choice& choice : choices) {
    out.push_back({{"name", choice.name},
                   {"share", static_cast<double>(choice.folds) / static_cast<double>(folds)}});
  }
  return out;
}

std::vector<std::string> score_cells(const Score& score) {
  const auto maybe = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.3f}", *value) : std::string("-");
  };
  return {score.name,
          fmt::format("{:.4f}", score.mae),
          fmt::format("{:.4f}", score.mae_sd),
          fmt::format("{:.4f}", score.rmse),
          maybe(score.r2),
          maybe(score.coverage),
          fmt::format("{:.1f}", score.fit_ms),
          fmt::format("{:.1f}", score.predict_us)};
}

std::string choices_text(std::string_view what, const std::vector<Choice>& choices,
                         std::size_t folds) {
  constexpr std::size_t kShown = 4;
  std::string out = fmt::format("{}:", what);
  for (std::size_t i = 0; i < std::min(kShown, choices.size()); ++i) {
    out += fmt::format("{} {} ({} of {})", i == 0 ? "" : ",", choices[i].name, choices[i].folds,
                       folds);
  }
  return out + "\n";
}

}  // namespace

nlohmann::ordered_json evaluation_json(const Evaluation& e) {
  nlohmann::ordered_json out;
  out["mode"] = interference::mode_name(e.mode);
  out["foldings"] = e.foldings;
  out["folds"] = e.folds;
  out["tested"] = e.tested;
  out["mean_mae"] = e.mean.mae;
  auto& techniques = out["techniques"] = nlohmann::ordered_json::object();
  for (const Score& score : e.techniques) techniques[score.name] = score_json(score);
  out["failed"] = e.failed;
  auto& selected = out["selected_model"] = score_json(e.selected);
  selected["name"] = e.selected.name;
  out["stability"] = {{"leading", choices_json(e.leading, e.folds)},
                      {"members", choices_json(e.members, e.folds)},
                      {"categories", choices_json(e.categories, e.folds)}};
  auto& leaks = out["suspected_leaks"] = nlohmann::ordered_json::array();
  for (const auto& leak : e.leaks) {
    leaks.push_back({{"feature", leak.feature}, {"rank_correlation", leak.correlation}});
  }
  return out;
}

std::string evaluation_text(const Evaluation& e) {
  Table table({{"model", Align::kLeft},
               {"MAE"},
               {"sd"},
               {"RMSE"},
               {"R2"},
               {"coverage"},
               {"fit ms"},
               {"predict us"}});
  table.add_row({"mean rate", fmt::format("{:.4f}", e.mean.mae)});
  for (const Score& score : e.techniques) table.add_row(score_cells(score));
  table.add_row(score_cells(e.selected));
  std::string out = fmt::format("mode {}, {}, {} tested\n", interference::mode_name(e.mode),
                                counted(e.folds, "fold"), counted(e.tested, "row"));
  out += table.text();
  out += choices_text("leading member", e.leading, e.folds);
  out += choices_text("in the mean", e.members, e.folds);
  for (const auto& failed : e.failed) out += fmt::format("not fitted: {}\n", failed);
  for (const auto& leak : e.leaks) {
    out += fmt::format("suspected leak: {} almost gives the rate away (rank correlation {:.3f})\n",
                       leak.feature, leak.correlation);
  }
  return out;
}

}  // namespace berth::report
