#include "report/json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

// Every field in its order, for both directions.
template <class AnyMetrics, class Field>
void each_field(AnyMetrics& m, const Field& field) {
  field("policy", m.policy);
  field("sharing", m.sharing);
  field("predict", m.predict);
  field("seed", m.seed);
  field("rho_whole", m.rho_whole);
  field("rho_share", m.rho_share);
  field("jobs", m.jobs);
  field("finished", m.finished);
  field("stopped", m.stopped);
  field("failed", m.failed);
  field("unfinished", m.unfinished);
  field("mean_jct_s", m.mean_jct_s);
  field("p50_jct_s", m.p50_jct_s);
  field("p95_jct_s", m.p95_jct_s);
  field("p99_jct_s", m.p99_jct_s);
  field("makespan_s", m.makespan_s);
  field("mean_wait_s", m.mean_wait_s);
  field("deadline_ratio", m.deadline_ratio);
  field("urgent_deadline_ratio", m.urgent_deadline_ratio);
  field("mean_accuracy", m.mean_accuracy);
  field("accuracy_ratio", m.accuracy_ratio);
  field("inter_server_bytes", m.inter_server_bytes);
  field("gpu_utilisation", m.gpu_utilisation);
  field("overloads", m.overloads);
  field("migrations", m.migrations);
  field("copies", m.copies);
  field("copies_held_gpu_s", m.copies_held_gpu_s);
  field("evictions", m.evictions);
  field("preemptions", m.preemptions);
  field("lost_iterations", m.lost_iterations);
  field("prediction_log_error_mean", m.prediction_log_error_mean);
  field("prediction_log_error_sd", m.prediction_log_error_sd);
  field("prediction_ratio_p50", m.prediction_ratio_p50);
  field("rounds", m.rounds);
  field("round_mean_us", m.round_mean_us);
  field("round_p99_us", m.round_p99_us);
  field("active_rounds", m.active_rounds);
  field("never_fit", m.never_fit);
  field("events", m.events);
  field("event_hash", m.event_hash);
  field("interrupted", m.interrupted);
  field("deadlock_at_s", m.deadlock_at_s);
  field("deadlock_holding_jobs", m.deadlock_holding_jobs);
  field("deadlock_held_gpus", m.deadlock_held_gpus);
  field("deadlock_waiting_jobs", m.deadlock_waiting_jobs);
  field("cpu_s", m.cpu_s);
  field("wall_s", m.wall_s);
  field("peak_rss_mib", m.peak_rss_mib);
}

template <class T>
Json value_json(const T& value) {
  return value;
}
template <class T>
Json value_json(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(*value)) return nullptr;
  }
  return *value;
}

template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

// Whether the value has the type of the field, which then gets it.
template <class T>
bool read_value(const Json& json, T& out) {
  if constexpr (kIsOptional<T>) {
    out.reset();
    return json.is_null() || read_value(json, out.emplace());
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) return false;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) return false;
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!json.is_number()) return false;
  } else {
    if (!json.is_number_unsigned()) return false;
  }
  if constexpr (!kIsOptional<T>) {
    out = json.get<T>();
    return true;
  }
}

}  // namespace

Json to_json(const Metrics& metrics) {
  Json out = Json::object();
  each_field(metrics, [&](const char* name, const auto& value) { out[name] = value_json(value); });
  return out;
}

std::optional<Metrics> metrics_from_json(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  Metrics metrics;
  bool right = true;
  each_field(metrics, [&](const char* name, auto& value) {
    const auto found = json.find(name);
    right = right && found != json.end() && read_value(*found, value);
  });
  if (!right) return std::nullopt;
  return metrics;
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

nlohmann::ordered_json to_json(std::span<const PriorityTerm> terms) {
  auto out = nlohmann::ordered_json::array();
  for (const PriorityTerm& term : terms) {
    // + 0.0: not -0.
    out.push_back({{"term", term.name}, {"value", term.value + 0.0}});
  }
  return out;
}

}  // namespace berth
