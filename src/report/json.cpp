#include "report/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json maybe(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(*value)) return nullptr;
  }
  return *value;
}

}  // namespace

Json to_json(const Metrics& m) {
  return {
      {"policy", m.policy},
      {"seed", m.seed},
      {"rho_whole", maybe(m.rho_whole)},
      {"rho_share", maybe(m.rho_share)},
      {"jobs", m.jobs},
      {"finished", m.finished},
      {"stopped", m.stopped},
      {"failed", m.failed},
      {"unfinished", m.unfinished},
      {"mean_jct_s", maybe(m.mean_jct_s)},
      {"p50_jct_s", maybe(m.p50_jct_s)},
      {"p95_jct_s", maybe(m.p95_jct_s)},
      {"p99_jct_s", maybe(m.p99_jct_s)},
      {"makespan_s", maybe(m.makespan_s)},
      {"mean_wait_s", maybe(m.mean_wait_s)},
      {"deadline_ratio", maybe(m.deadline_ratio)},
      {"mean_accuracy", maybe(m.mean_accuracy)},
      {"accuracy_ratio", maybe(m.accuracy_ratio)},
      {"inter_server_bytes", maybe(m.inter_server_bytes)},
      {"gpu_utilisation", maybe(m.gpu_utilisation)},
      {"overloads", maybe(m.overloads)},
      {"migrations", maybe(m.migrations)},
      {"evictions", m.evictions},
      {"preemptions", m.preemptions},
      {"lost_iterations", maybe(m.lost_iterations)},
      {"rounds", m.rounds},
      {"round_mean_us", maybe(m.round_mean_us)},
      {"round_p99_us", maybe(m.round_p99_us)},
      {"active_rounds", m.active_rounds},
      {"never_fit", m.never_fit},
      {"events", m.events},
      {"event_hash", m.event_hash},
      {"interrupted", m.interrupted},
      {"cpu_s", m.cpu_s},
      {"wall_s", m.wall_s},
      {"peak_rss_mib", m.peak_rss_mib},
  };
}

Json to_json(const trace::RejectReport& report) {
  Json out = {{"rejected", report.rejected()},
              {"rejected_by_reason", Json::object()},
              {"warnings", Json::object()},
              {"counts", Json::object()}};
  for (const auto& [reason, count] : report.rejected_by_reason()) {
    out["rejected_by_reason"][reason] = count;
  }
  for (const auto& [reason, count] : report.warned_by_reason()) out["warnings"][reason] = count;
  for (const auto& [what, count] : report.counts()) out["counts"][what] = count;
  return out;
}

}  // namespace berth
