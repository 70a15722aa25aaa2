#include "policy/drf/drf.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/id_set.h"
#include "base/int128.h"
#include "policy/common/cached_policy.h"
#include "policy/common/demand.h"
#include "policy/common/options.h"
#include "policy/common/waiting_jobs.h"

namespace berth {
namespace {

// Who is charged for a job, and what they hold.
struct Account {
  ResourceVector used;
  std::set<JobId> waiting;
  JobId next;  // the first that waits; invalid: none
};

class Drf final : public CachedPolicy {
 public:
  explicit Drf(TimeUs patience_us) : patience_us_(patience_us) {}

 protected:
  void reset(const Round& round) override;
  void file_job(const Round& round, JobId id) override;
  void make_plan(const Round& round) override;

 private:
  enum class Filed : std::uint8_t { kNowhere, kWaiting, kRunning };

  [[nodiscard]] std::uint32_t account_of(const Job& job, JobId id);
  [[nodiscard]] std::int64_t dominant_share(const Account& account) const;
  void file_as(const Round& round, JobId id, Filed where);
  void renew_turn(const Round& round, Account& account);
  [[nodiscard]] JobId next_that_fits(GpuTypeMask kept) const;
  [[nodiscard]] JobId impatient(const Round& round) const;

  TimeUs patience_us_;
  ResourceVector capacity_;
  std::vector<Account> accounts_;
  std::map<std::pair<int, std::uint32_t>, std::uint32_t> account_by_owner_;  // kind, and its id
  std::vector<Filed> filed_;                                                 // by JobId
  IdSet waiting_;
  WaitingJobs turns_;  // the next job of each account, by dominant share in billionths
  std::vector<JobId> newly_filed_;
};

void Drf::reset(const Round& round) {
  capacity_ = capacity_of(*round.view.cluster);
  accounts_.clear();
  account_by_owner_.clear();
  filed_.clear();
  waiting_.clear();
  turns_.clear();
  newly_filed_.clear();
}

std::uint32_t Drf::account_of(const Job& job, JobId id) {
  std::pair<int, std::uint32_t> owner{0, id.value};
  if (job.vc.valid()) owner = {1, job.vc.value};
  if (job.user.valid()) owner = {2, job.user.value};
  const auto [it, fresh] =
      account_by_owner_.emplace(owner, static_cast<std::uint32_t>(accounts_.size()));
  if (fresh) accounts_.emplace_back();
  return it->second;
}

std::int64_t Drf::dominant_share(const Account& account) const {
  constexpr Int128 kBillion = 1'000'000'000;
  Int128 largest = 0;
  for (const Resource kind : kDemanded) {
    if (capacity_[kind] <= 0) continue;
    largest = std::max(largest, kBillion * account.used[kind] / capacity_[kind]);
  }
  return static_cast<std::int64_t>(largest);
}

void Drf::renew_turn(const Round& round, Account& account) {
  if (account.next.valid()) turns_.erase(account.next);
  account.next = account.waiting.empty() ? JobId{} : *account.waiting.begin();
  if (!account.next.valid()) return;
  turns_.insert(account.next, round.view.job(account.next), dominant_share(account));
}

void Drf::file_as(const Round& round, JobId id, Filed where) {
  if (filed_.size() <= id.index()) {
    filed_.resize(round.view.jobs.size(), Filed::kNowhere);
    waiting_.grow(round.view.jobs.size());
  }
  const Filed was = std::exchange(filed_[id.index()], where);
  if (was == where) return;
  const Job& job = round.view.job(id);
  Account& account = accounts_[account_of(job, id)];
  if (was == Filed::kWaiting) {
    account.waiting.erase(id);
    waiting_.erase(id.value);
  }
  if (was == Filed::kRunning) account.used -= demand_of(job);
  if (where == Filed::kWaiting) {
    account.waiting.insert(id);
    waiting_.insert(id.value);
  }
  if (where == Filed::kRunning) account.used += demand_of(job);
  renew_turn(round, account);
}

void Drf::file_job(const Round& round, JobId id) {
  if (waits_for_places(round, id)) {
    newly_filed_.push_back(id);
    return file_as(round, id, Filed::kWaiting);
  }
  const bool runs = round.view.state(id).status == JobStatus::kRunning;
  file_as(round, id, runs ? Filed::kRunning : Filed::kNowhere);
}

JobId Drf::next_that_fits(GpuTypeMask kept) const {
  const OrderedBlocks::Entry* best = nullptr;
  for (const auto& [shape, jobs] : turns_.classes()) {
    if (jobs.empty() || (best != nullptr && *best < jobs.front())) continue;
    if (shape.gpu_milli_per_task > 0 && (shape.gpu_types & kept) != 0) continue;
    if (free_.fits(shape)) best = &jobs.front();
  }
  return best == nullptr ? JobId{} : JobId{best->id};
}

// The job that has waited longest, if that is too long.
JobId Drf::impatient(const Round& round) const {
  if (patience_us_ == kNever || waiting_.empty()) return {};
  const JobId first{waiting_.first()};
  const TimeUs waited_us = round.view.now_us - round.view.job(first).submit_us;
  return waited_us >= patience_us_ ? first : JobId{};
}

void Drf::make_plan(const Round& round) {
  GpuTypeMask kept = 0;
  JobId keeper = impatient(round);
  while (keeper.valid() && try_start(round, keeper)) {
    file_as(round, keeper, Filed::kRunning);
    keeper = impatient(round);
  }
  if (keeper.valid()) kept = round.view.job(keeper).gpu_types;
  for (JobId id = next_that_fits(kept); id.valid(); id = next_that_fits(kept)) {
    // Room in all may still be of no use to a gang.
    if (!try_start(round, id)) break;
    file_as(round, id, Filed::kRunning);
  }
  for (const JobId id : newly_filed_) {
    if (!waiting_.contains(id.value)) continue;
    const bool reserved = id != keeper && (round.view.job(id).gpu_types & kept) != 0;
    give_reason(round, id,
                reserved ? Reason{.code = ReasonCode::kReserved, .subject = keeper.value}
                         : shortage(round.view.job(id)));
  }
  newly_filed_.clear();
  if (patience_us_ == kNever || waiting_.empty()) return;
  const TimeUs until_us = round.view.job(JobId{waiting_.first()}).submit_us + patience_us_;
  if (until_us > round.view.now_us) round.plan.wake_us = until_us;
}

}  // namespace

Result<std::unique_ptr<Policy>> make_drf(std::span<const PolicyOption> options) {
  double patience_h = 0;  // tried: 0, 1, 6, 24
  const NumberSetting settings[] = {{"patience_h", &patience_h, 0, 1e6}};
  BERTH_CHECK_OK(read_options("drf", options, settings));
  return std::make_unique<Drf>(patience_h > 0 ? us_of(patience_h, kUsPerHour) : kNever);
}

}  // namespace berth
