#include "policy/sjf/sjf.h"

#include "policy/common/cached_policy.h"
#include "policy/common/options.h"
#include "policy/common/waiting_jobs.h"

namespace berth {
namespace {

class Sjf final : public CachedPolicy {
 protected:
  void reset(const Round& round) override;
  void file_job(const Round& round, JobId id) override;
  void make_plan(const Round& round) override;

 private:
  WaitingJobs waiting_;  // by predicted run time
  std::vector<JobId> newly_filed_;
};

void Sjf::reset(const Round& /*round*/) {
  waiting_.clear();
  newly_filed_.clear();
}

void Sjf::file_job(const Round& round, JobId id) {
  waiting_.erase(id);
  if (!waits_for_places(round, id)) return;
  waiting_.insert(id, round.view.job(id), round.predictors.run_time_us(id).value_or(kNever - 1));
  newly_filed_.push_back(id);
}

void Sjf::make_plan(const Round& round) {
  while (true) {
    const OrderedBlocks::Entry* shortest = nullptr;
    for (const auto& [shape, waiting] : waiting_.classes()) {
      if (waiting.empty() || !free_.fits(shape)) continue;
      if (shortest == nullptr || waiting.front() < *shortest) shortest = &waiting.front();
    }
    if (shortest == nullptr) break;
    const JobId id{shortest->id};
    if (!try_start(round, id)) break;
    waiting_.erase(id);
  }
  for (const JobId id : newly_filed_) {
    if (waiting_.contains(id)) give_reason(round, id, shortage(round.view.job(id)));
  }
  newly_filed_.clear();
}

}  // namespace

Result<std::unique_ptr<Policy>> make_sjf(std::span<const PolicyOption> options) {
  BERTH_CHECK_OK(no_options("sjf", options));
  return std::make_unique<Sjf>();
}

}  // namespace berth
