#include "report/run_record.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "policy/common/cached_policy.h"
#include "report/json.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

std::optional<std::vector<std::int64_t>> integers(const Json& json, const char* name,
                                                  std::size_t most) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_array() || found->size() > most) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const Json& value : *found) {
    if (!value.is_number_integer()) return std::nullopt;
    out.push_back(value.get<std::int64_t>());
  }
  return out;
}

}  // namespace

std::vector<TimeUs> jct_quantiles(const Workload& workload, const SimulationResult& result) {
  std::vector<TimeUs> all;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const JobState& state = result.states[j];
    if (state.status != JobStatus::kFinished && state.status != JobStatus::kStopped) continue;
    all.push_back(state.last_stop_us - workload.jobs[j].submit_us);
  }
  if (all.empty()) return {};
  std::ranges::sort(all);
  std::vector<TimeUs> out;
  for (std::size_t part = 0; part <= kJctParts; ++part) {
    // The smallest value that this part of the jobs does not exceed.
    const std::size_t rank =
        std::max<std::size_t>(1, (part * all.size() + kJctParts - 1) / kJctParts);
    out.push_back(all[rank - 1]);
  }
  return out;
}

Json to_json(const RunRecord& record) {
  return {{"metrics", to_json(record.metrics)},
          {"jct_us", record.jct_us},
          {"bin_us", record.series.bin_us},
          {"waiting_milli", record.series.waiting_milli},
          {"held_milli", record.series.held_milli}};
}

std::optional<RunRecord> run_record_from_json(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto metrics = json.find("metrics");
  const auto bin_us = json.find("bin_us");
  if (metrics == json.end() || bin_us == json.end() || !bin_us->is_number_integer()) {
    return std::nullopt;
  }
  auto figures = metrics_from_json(*metrics);
  auto jct_us = integers(json, "jct_us", kJctParts + 1);
  auto waiting = integers(json, "waiting_milli", RunSeriesLog::kMostBins);
  auto held = integers(json, "held_milli", RunSeriesLog::kMostBins);
  if (!figures || !jct_us || !waiting || !held || waiting->size() != held->size()) {
    return std::nullopt;
  }
  return RunRecord{*std::move(figures),
                   *std::move(jct_us),
                   {bin_us->get<TimeUs>(), *std::move(waiting), *std::move(held)}};
}

RunSeriesLog::RunSeriesLog(const Cluster& cluster, const Workload& workload)
    : workload_(workload),
      waits_(workload.jobs.size()),
      never_(workload.jobs.size()),
      held_of_(workload.jobs.size()),
      bins_(kMostBins) {
  wants_text_ = true;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    never_[j] = never_reason(cluster, workload.jobs[j]).code != ReasonCode::kNone;
  }
}

// What held since the last event is added to the bins that it passed through.
void RunSeriesLog::pass_to(TimeUs at_us) {
  while (at_us > bin_us_ * static_cast<TimeUs>(kMostBins)) {
    for (std::size_t i = 0; i < kMostBins; ++i) {
      const auto at = [&](std::size_t k) { return k < kMostBins ? bins_[k] : Bin{}; };
      const Bin left = at(2 * i);
      const Bin right = at(2 * i + 1);
      bins_[i] = {left.waiting_us + right.waiting_us, left.held_us + right.held_us};
    }
    bin_us_ *= 2;
  }
  while (now_us_ < at_us) {
    const TimeUs bin = now_us_ / bin_us_;
    const TimeUs until_us = std::min(at_us, (bin + 1) * bin_us_);
    const auto passed_us = static_cast<double>(until_us - now_us_);
    bins_[static_cast<std::size_t>(bin)].waiting_us += static_cast<double>(waiting_) * passed_us;
    bins_[static_cast<std::size_t>(bin)].held_us += static_cast<double>(held_) * passed_us;
    now_us_ = until_us;
  }
}

void RunSeriesLog::set_held(std::uint32_t job, std::span<const Placement> places,
                            std::size_t copies) {
  const auto on_device =
      std::ranges::count_if(places, [](const Placement& place) { return place.device.valid(); }) +
      static_cast<std::ptrdiff_t>(copies);
  const std::int64_t held = on_device * workload_.jobs[job].gpu_milli_per_task;
  held_ += held - held_of_[job];
  held_of_[job] = held;
}

void RunSeriesLog::write(TimeUs at_us, EventKind kind, std::uint32_t id,
                         std::span<const Placement> places, std::span<const TaskCopy> copies) {
  pass_to(at_us);
  bool waits = false;
  switch (kind) {
    case EventKind::kServerDown:
    case EventKind::kServerUp:
    case EventKind::kDeviceDown:
    case EventKind::kDeviceUp:
    case EventKind::kDeviceSpeed:
      return;
    case EventKind::kArrive:
    case EventKind::kPreempt:
    case EventKind::kEvict:
      waits = !never_[id];
      break;
    case EventKind::kStart:
    case EventKind::kFinish:
    case EventKind::kStop:
    case EventKind::kGrow:
    case EventKind::kShrink:
    case EventKind::kMove:
    case EventKind::kCopy:
    case EventKind::kDropCopy:
    case EventKind::kTakeOver:
      break;
  }
  waiting_ += (waits ? 1 : 0) - (waits_[id] ? 1 : 0);
  waits_[id] = waits;
  set_held(id, places, copies.size());
}

RunSeries RunSeriesLog::series() const {
  RunSeries out{.bin_us = bin_us_, .waiting_milli = {}, .held_milli = {}};
  for (TimeUs from_us = 0; from_us < now_us_; from_us += bin_us_) {
    const auto width_us = static_cast<double>(std::min(bin_us_, now_us_ - from_us));
    const Bin& bin = bins_[out.held_milli.size()];
    out.waiting_milli.push_back(std::llround(1000 * bin.waiting_us / width_us));
    out.held_milli.push_back(std::llround(bin.held_us / width_us));
  }
  return out;
}

}  // namespace berth
