#include "policy/srtf/srtf.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "policy/common/cached_policy.h"
#include "policy/common/options.h"
#include "policy/common/place_walk.h"
#include "policy/srtf/pool.h"

namespace berth {
namespace {

class Srtf final : public CachedPolicy {
 public:
  void priority_terms(const ClusterView& view, const Predictors& predictors, JobId id,
                      std::vector<PriorityTerm>& out) const override {
    out.push_back({"-hours left", -seconds(remaining_us(view, predictors, id)) / 3600});
  }

 protected:
  void reset(const Round& round) override;
  void file_job(const Round& round, JobId id) override;
  void make_plan(const Round& round) override;

 private:
  static TimeUs remaining_us(const ClusterView& view, const Predictors& predictors, JobId id);
  static TimeUs remaining_us(const Round& round, JobId id) {
    return remaining_us(round.view, round.predictors, id);
  }
  [[nodiscard]] GpuTypeMask present_types(const Round& round, JobId id) const;
  [[nodiscard]] SrtfPool& pool_of(const Round& round, JobId id);
  bool join_types(GpuTypeMask types);
  [[nodiscard]] GpuTypeMask types_of(std::uint32_t pool) const;
  void carry_out(const Round& round);
  void walk(const Round& round, SrtfPool& pool);

  // GPU types that some job may use in place of one another share a pool; pools do not interact.
  std::vector<std::uint32_t> pool_of_type_;  // by GpuTypeId
  std::vector<SrtfPool> pools_;              // by number; the last is for jobs without GPUs
  bool pools_changed_ = false;
  std::vector<SrtfPool::Switch> switches_;
  std::vector<JobId> newly_filed_;
};

GpuTypeMask Srtf::present_types(const Round& round, JobId id) const {
  const std::size_t count = pool_of_type_.size();
  const GpuTypeMask present = count == kMaxGpuTypes ? kAnyGpuType : (GpuTypeMask{1} << count) - 1;
  return round.view.job(id).gpu_types & present;
}

// One pool for all these types; whether that changed anything.
bool Srtf::join_types(GpuTypeMask types) {
  bool changed = false;
  const std::uint32_t pool = pool_of_type_[static_cast<std::size_t>(std::countr_zero(types))];
  for (types &= types - 1; types != 0; types &= types - 1) {
    const std::uint32_t other = pool_of_type_[static_cast<std::size_t>(std::countr_zero(types))];
    if (other == pool) continue;
    std::replace(pool_of_type_.begin(), pool_of_type_.end(), other, pool);
    changed = true;
  }
  return changed;
}

void Srtf::reset(const Round& round) {
  const std::size_t types = round.view.cluster->gpu_types.size();
  pool_of_type_.resize(types);
  std::iota(pool_of_type_.begin(), pool_of_type_.end(), 0U);
  for (std::size_t j = 0; j < round.view.jobs.size(); ++j) {
    const GpuTypeMask mask = present_types(round, JobId{j});
    if (mask != 0) join_types(mask);
  }
  pools_.assign(types + 1, {});
  for (std::uint32_t pool = 0; pool < types; ++pool) pools_[pool].set_types(types_of(pool));
  newly_filed_.clear();
  pools_changed_ = false;
}

GpuTypeMask Srtf::types_of(std::uint32_t pool) const {
  GpuTypeMask types = 0;
  for (std::size_t t = 0; t < pool_of_type_.size(); ++t) {
    if (pool_of_type_[t] == pool) types |= GpuTypeMask{1} << t;
  }
  return types;
}

// May be negative: the job has outlived its prediction.
TimeUs Srtf::remaining_us(const ClusterView& view, const Predictors& predictors, JobId id) {
  return predictors.run_time_us(id).value_or(kNever / 2) - view.state(id).attained_by(view.now_us);
}

SrtfPool& Srtf::pool_of(const Round& round, JobId id) {
  const GpuTypeMask types = present_types(round, id);
  if (round.view.job(id).gpu_milli_per_task == 0 || types == 0) return pools_.back();
  return pools_[pool_of_type_[static_cast<std::size_t>(std::countr_zero(types))]];
}

void Srtf::file_job(const Round& round, JobId id) {
  const Job& job = round.view.job(id);
  const GpuTypeMask types = present_types(round, id);
  if (types != 0 && join_types(types)) pools_changed_ = true;
  SrtfPool& pool = pool_of(round, id);
  pool.remove(id);
  if (round.view.state(id).status == JobStatus::kRunning) {
    pool.add_running(id, job, round.view.now_us + remaining_us(round, id));
    return;
  }
  if (!waits_for_places(round, id)) return;
  pool.add_waiting(id, job, remaining_us(round, id));
  newly_filed_.push_back(id);
}

void Srtf::make_plan(const Round& round) {
  if (pools_changed_) {
    reset(round);
    for (std::size_t j = 0; j < round.view.jobs.size(); ++j) file_job(round, JobId{j});
  }
  switches_.clear();
  for (std::uint32_t pool = 0; pool < pools_.size(); ++pool) {
    if (!pools_[pool].anyone_waits()) continue;
    if (!pools_[pool].counts_suffice()) {
      walk(round, pools_[pool]);
      continue;
    }
    pools_[pool].set_capacity(free_.capacity_milli(types_of(pool)));
    pools_[pool].select(round.view.now_us, round.view.jobs, switches_);
  }
  carry_out(round);
  for (const JobId id : newly_filed_) {
    if (round.view.reasons[id.index()].code == ReasonCode::kNotConsidered &&
        pool_of(round, id).waits(id)) {
      give_reason(round, id,
                  {.code = ReasonCode::kOrderedLater, .asked = round.view.job(id).gpu_milli()});
    }
  }
  newly_filed_.clear();
}

void Srtf::carry_out(const Round& round) {
  // Who stops makes room for who starts.
  for (const auto& [id, start, displaced_by] : switches_) {
    if (start) continue;
    free_.give_back(round.view.job(id), round.view.placements_of(id));
    preempt(round, id);
    give_reason(round, id, {.code = ReasonCode::kPreempted, .subject = displaced_by.value});
  }
  for (const auto& [id, start, displaced_by] : switches_) {
    if (!start || try_start(round, id)) continue;
    // Not every device of the pool may be up.
    give_reason(round, id, shortage(round.view.job(id)));
    file_again(id);
  }
}

void Srtf::walk(const Round& round, SrtfPool& pool) {
  const PlaceWalk::Running running = [&]() -> const OrderedBlocks& { return pool.running(); };
  const PlaceWalk walk(round.view, free_, running, pool.waiting(),
                       {.waiting_offset = round.view.now_us});
  carry_out_walk(round, walk);
  for (const PlaceWalk::Start& start : walk.starts()) pool.remove(start.job);
}

}  // namespace

Result<std::unique_ptr<Policy>> make_srtf(std::span<const PolicyOption> options) {
  BERTH_CHECK_OK(no_options("srtf", options));
  return std::make_unique<Srtf>();
}

}  // namespace berth
