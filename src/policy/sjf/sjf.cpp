#include "policy/sjf/sjf.h"

#include "base/ordered_blocks.h"
#include "policy/common/cached_policy.h"
#include "policy/common/job_classes.h"
#include "policy/common/options.h"

namespace berth {
namespace {

class Sjf final : public CachedPolicy {
 protected:
  void reset(const Round& round) override;
  void file_job(const Round& round, JobId id) override;
  void make_plan(const Round& round) override;

 private:
  struct Filed {
    TimeUs run_time_us = kNever;  // kNever: does not wait
    std::uint32_t class_index = 0;
  };

  void remove(JobId id);

  JobClasses<OrderedBlocks> classes_;  // waiting, by predicted run time
  std::vector<Filed> filed_;           // by JobId
  std::vector<JobId> newly_filed_;
};

void Sjf::reset(const Round& /*round*/) {
  classes_.clear();
  filed_.clear();
  newly_filed_.clear();
}

void Sjf::remove(JobId id) {
  Filed& filed = filed_[id.index()];
  if (filed.run_time_us == kNever) return;
  classes_[filed.class_index].jobs.erase(filed.run_time_us, id.value);
  filed.run_time_us = kNever;
}

void Sjf::file_job(const Round& round, JobId id) {
  if (filed_.size() <= id.index()) filed_.resize(round.view.jobs.size());
  remove(id);
  if (round.view.state(id).status != JobStatus::kPending) return;
  const Reason never = never_reason(*round.view.cluster, round.view.job(id));
  if (never.code != ReasonCode::kNone) {
    give_reason(round, id, never);
    return;
  }
  Filed& filed = filed_[id.index()];
  filed.class_index = classes_.class_of(round.view.job(id));
  filed.run_time_us = round.predictors.run_time_us(id).value_or(kNever - 1);
  classes_[filed.class_index].jobs.insert({filed.run_time_us, id.value, 0});
  newly_filed_.push_back(id);
}

void Sjf::make_plan(const Round& round) {
  while (true) {
    const OrderedBlocks::Entry* shortest = nullptr;
    for (auto& [shape, waiting] : classes_.all()) {
      if (waiting.empty() || !free_.fits(shape)) continue;
      if (shortest == nullptr || waiting.front() < *shortest) shortest = &waiting.front();
    }
    if (shortest == nullptr) break;
    const JobId id{shortest->id};
    if (!try_start(round, id)) break;
    remove(id);
  }
  for (const JobId id : newly_filed_) {
    if (filed_[id.index()].run_time_us != kNever) {
      give_reason(round, id, shortage(round.view.job(id)));
    }
  }
  newly_filed_.clear();
}

}  // namespace

Result<std::unique_ptr<Policy>> make_sjf(std::span<const PolicyOption> options) {
  BERTH_CHECK_OK(no_options("sjf", options));
  return std::make_unique<Sjf>();
}

}  // namespace berth
