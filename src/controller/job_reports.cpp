#include "controller/job_reports.h"

#include <algorithm>

namespace berth {
namespace {

// Read of one source at a time, so that one job that writes much does not keep the others waiting.
constexpr std::size_t kMostBytes = 256 << 10;
// A folder of event files is walked through so often.
constexpr TimeUs kFollowEveryUs = 5 * kUsPerS;
// A speed is that over at least so long.
constexpr TimeUs kLeastSpanUs = 2 * kUsPerS;

}  // namespace

void JobReports::follow_run(const JobSpec& spec, const std::string& folder, std::uint32_t uid) {
  runs_.push_back(follow_json_lines(folder + "/0.progress", uid));
  if (runs_.size() > 1 || spec.tensorboard.empty()) return;
  const bool absolute = spec.tensorboard.front() == '/';
  followed_.push_back(follow_tensorboard(
      absolute ? spec.tensorboard : spec.directory + "/" + spec.tensorboard, uid));
}

void JobReports::set_replicas(std::uint32_t replicas) {
  replicas_ = replicas;
  from_iteration_ = -1;
  per_s_.reset();
}

bool JobReports::poll(TimeUs now_us) {
  fresh_.clear();
  while (reading_ < runs_.size()) {
    const bool more = runs_[reading_]->poll(fresh_, kMostBytes);
    if (more || reading_ + 1 == runs_.size()) break;
    ++reading_;
  }
  if (now_us >= next_follow_us_) {
    for (const auto& source : followed_) (void)source->poll(fresh_, kMostBytes);
    next_follow_us_ = now_us + kFollowEveryUs;
  }
  if (fresh_.empty()) return false;
  for (const ProgressPoint& point : fresh_) curve_.add(point);
  measure(now_us);
  return true;
}

void JobReports::read_to_end(TimeUs now_us) {
  constexpr int kMostReads = 64;
  next_follow_us_ = 0;
  for (int i = 0; i < kMostReads && poll(now_us); ++i) {
  }
}

void JobReports::measure(TimeUs now_us) {
  const std::int64_t last = curve_.last_iteration();
  if (replicas_ == 0 || last < 0) return;
  // The first report of a run, or one that goes back to a checkpoint, is where counting begins.
  if (from_iteration_ < 0 || last < from_iteration_) {
    from_iteration_ = last;
    from_us_ = now_us;
    return;
  }
  if (now_us - from_us_ < kLeastSpanUs || last == from_iteration_) return;
  per_s_ = static_cast<double>(last - from_iteration_) / seconds(now_us - from_us_);
  best_ = std::max(best_.value_or(0.0), *per_s_ / replicas_);
  from_iteration_ = last;
  from_us_ = now_us;
}

std::optional<std::int64_t> JobReports::iterations() const {
  if (curve_.last_iteration() < 0) return std::nullopt;
  return curve_.last_iteration();
}

std::int64_t JobReports::damaged() const {
  std::int64_t sum = 0;
  for (const auto* sources : {&runs_, &followed_}) {
    for (const auto& source : *sources) sum += source->issues().damaged;
  }
  return sum;
}

std::string JobReports::last_issue() const {
  for (const auto* sources : {&followed_, &runs_}) {
    for (auto source = sources->rbegin(); source != sources->rend(); ++source) {
      if (!(*source)->issues().last.empty()) return (*source)->issues().last;
    }
  }
  return {};
}

}  // namespace berth
