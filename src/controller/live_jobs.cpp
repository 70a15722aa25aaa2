#include "controller/live_jobs.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/number.h"
#include "base/text.h"

namespace berth {

std::string attempt_key(JobNumber job, std::uint32_t attempt) {
  return fmt::format("{}.{}", job, attempt);
}

std::optional<AttemptName> parse_attempt_key(std::string_view key) {
  const auto parts = split(key, '.');
  if (parts.size() != 2) return std::nullopt;
  const auto job = parse_int(parts[0]);
  const auto attempt = parse_int(parts[1]);
  if (!job || !attempt || *job <= 0 || *attempt <= 0 ||
      *attempt > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  return AttemptName{*job, static_cast<std::uint32_t>(*attempt)};
}

LiveJob& LiveJobs::add(JobRecord record) {
  const JobNumber number = record.number;
  LiveJob& job = jobs_[number];
  job.record = std::move(record);
  return job;
}

void LiveJobs::erase(JobNumber number) {
  const auto found = jobs_.find(number);
  if (found == jobs_.end()) return;
  unbind(found->second);
  jobs_.erase(found);
}

const LiveJob* LiveJobs::find(JobNumber number) const {
  const auto found = jobs_.find(number);
  return found == jobs_.end() ? nullptr : &found->second;
}

LiveJob* LiveJobs::find(JobNumber number) {
  return const_cast<LiveJob*>(std::as_const(*this).find(number));
}

const LiveJob* LiveJobs::find(JobId id) const {
  return id.index() < by_id_.size() ? by_id_[id.index()] : nullptr;
}

LiveJob* LiveJobs::find(JobId id) {
  return const_cast<LiveJob*>(std::as_const(*this).find(id));
}

void LiveJobs::bind(LiveJob& job, JobId id) {
  unbind(job);
  job.id = id;
  if (by_id_.size() <= id.index()) by_id_.resize(id.index() + 1, nullptr);
  by_id_[id.index()] = &job;
}

void LiveJobs::unbind(LiveJob& job) {
  if (job.id.valid()) by_id_[job.id.index()] = nullptr;
  job.id = {};
}

void LiveJobs::unbind_all() {
  for (auto& [number, job] : jobs_) job.id = {};
  by_id_.clear();
}

}  // namespace berth
