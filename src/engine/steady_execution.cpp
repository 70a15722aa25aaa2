#include "engine/steady_execution.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace berth {

TimeUs SteadyExecution::target_us(JobId id) const {
  const TimeUs work_us = workload_->truths[id.index()].work_us;
  if (limits_.empty()) return work_us;
  const auto limit = limits_.find(id);
  return limit == limits_.end() ? work_us : limit->second;
}

void SteadyExecution::start(JobId id, std::span<const TaskPlace> /*tasks*/,
                            std::span<const Placement> /*before*/, TimeUs /*now_us*/) {
  changed_.push_back(id);
}

// Whole microseconds, so that nothing is lost.
void SteadyExecution::leave(JobId id, std::span<const std::uint32_t> /*tasks*/, Departure /*why*/,
                            TimeUs now_us) {
  totals_.run += units_of(now_us - state_->state(id).last_start_us);
}

void SteadyExecution::move(JobId /*id*/, std::span<const TaskPlace> tasks,
                           std::span<const Placement> /*before*/, TimeUs /*now_us*/) {
  totals_.migrations += tasks.size();
}

// Where no device is slow or fails a copy changes nothing.
void SteadyExecution::copy(JobId /*id*/, const TaskPlace& /*copy*/, TimeUs /*now_us*/) {}

void SteadyExecution::drop_copy(JobId /*id*/, const TaskPlace& /*copy*/, TimeUs /*now_us*/) {}

void SteadyExecution::take_over(JobId /*id*/, const TaskPlace& /*copy*/,
                                const Placement& /*before*/, TimeUs /*now_us*/) {
  assert(false);
}

bool SteadyExecution::copy_is_ready(JobId /*id*/, const TaskPlace& /*copy*/,
                                    TimeUs /*now_us*/) const {
  return true;
}

void SteadyExecution::end(JobId id, TimeUs now_us) {
  const JobState& state = state_->state(id);
  if (state.status == JobStatus::kRunning) totals_.run += units_of(now_us - state.last_start_us);
  if (!limits_.empty()) limits_.erase(id);
}

void SteadyExecution::set_device_speed(DeviceId /*id*/, std::int32_t /*speed_ppm*/) {
  assert(false);
}

void SteadyExecution::stop_at(JobId id, std::int64_t iterations) {
  const TimeUs limit_us = std::max<TimeUs>(0, iterations);
  if (limit_us >= target_us(id)) return;
  limits_.insert_or_assign(id, limit_us);
  changed_.push_back(id);
}

// Such jobs have no curve to stop by.
void SteadyExecution::set_stop(JobId /*id*/) {}

// What the queue has of earlier runs of a job comes before its work is done.
bool SteadyExecution::due(const FutureEvent& event, TimeUs now_us) {
  const JobId id{event.id};
  const JobState& state = state_->state(id);
  return state.status == JobStatus::kRunning &&
         state.attained_us + (now_us - state.last_start_us) >= target_us(id);
}

bool SteadyExecution::ends_early(JobId id) const {
  return target_us(id) < workload_->truths[id.index()].work_us;
}

bool SteadyExecution::refresh(TimeUs now_us, EventQueue& queue) {
  for (const JobId id : changed_) {
    const JobState& state = state_->state(id);
    if (state.status != JobStatus::kRunning) continue;
    const TimeUs left_us = std::max<TimeUs>(0, target_us(id) - state.attained_by(now_us));
    if (left_us >= kNever - now_us) return false;
    queue.push({.at_us = now_us + left_us, .id = id.value});
  }
  changed_.clear();
  return true;
}

bool SteadyExecution::whole(JobId id) const {
  return state_->state(id).tasks_placed == state_->job(id).tasks;
}

// A gang is one replica.
void SteadyExecution::failing_with(JobId id, std::uint32_t /*task*/,
                                   std::vector<std::uint32_t>& tasks) const {
  tasks.resize(state_->job(id).tasks);
  std::iota(tasks.begin(), tasks.end(), 0U);
}

void SteadyExecution::tasks_at(ServerId /*server*/, DeviceId /*device*/,
                               std::vector<std::pair<JobId, std::uint32_t>>& /*out*/) const {
  assert(false);
}

std::int64_t SteadyExecution::iterations(JobId id, TimeUs now_us) const {
  return std::min(target_us(id), state_->state(id).attained_by(now_us));
}

double SteadyExecution::iterations_per_s(JobId id) const {
  return state_->state(id).status == JobStatus::kRunning ? per_s_of(kPicosecondsPerUs) : 0.0;
}

double SteadyExecution::best_replica_iterations_per_s(JobId id) const {
  return state_->state(id).first_start_us == kNever ? 0.0 : per_s_of(kPicosecondsPerUs);
}

std::vector<JobOutcome> SteadyExecution::outcomes(TimeUs /*now_us*/) {
  return {};
}

// Runs that go on are in neither sum.
bool SteadyExecution::work_is_conserved() const {
  WorkUnits kept = 0;
  for (std::size_t j = 0; j < state_->arrived(); ++j) {
    kept += units_of(state_->state(JobId{j}).attained_us);
  }
  return kept == totals_.run;
}

}  // namespace berth
