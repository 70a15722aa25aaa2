#include "policy/common/place_walk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "place/ideal_server.h"
#include "support/placing.h"

namespace berth {
namespace {

// The same places, but nobody is refused by what others asked for, and no devices are counted.
class OneByOnePlacer final : public Placer {
 public:
  explicit OneByOnePlacer(IdealServerPlacer& placer) : placer_(placer) {}

  [[nodiscard]] std::int64_t held_milli(const Job& job) const override {
    return placer_.held_milli(job);
  }
  [[nodiscard]] std::int64_t asked_milli(const Job& job) const override {
    return placer_.asked_milli(job);
  }
  [[nodiscard]] std::int64_t free_milli(GpuTypeMask types) const override {
    return placer_.free_milli(types);
  }
  [[nodiscard]] DeviceDemand device_demand(const Job& job) const override {
    return placer_.device_demand(job);
  }
  [[nodiscard]] bool fits(const Job& job) const override { return placer_.fits(job); }
  [[nodiscard]] bool take(JobId id, const Job& job, std::vector<Placement>& places) override {
    return placer_.take(id, job, places);
  }

 private:
  IdealServerPlacer& placer_;
};

constexpr std::int64_t kGibMib = 1024;

// Servers of two types of GPU, with memory, cores and main memory that may run short.
Cluster mixed_cluster() {
  Cluster cluster;
  cluster.gpu_types.push_back({.name = "small", .memory_mib = 16 * kGibMib});
  cluster.gpu_types.push_back({.name = "large", .memory_mib = 32 * kGibMib});
  for (std::uint32_t s = 0; s < 8; ++s) {
    ResourceVector capacity;
    capacity[Resource::kCpuMilli] = 16'000;
    capacity[Resource::kMemoryMib] = 64 * kGibMib;
    cluster.add_server(fmt::format("s{}", s), GpuTypeId{s % 3 == 0 ? 1U : 0U}, s % 2 == 0 ? 4 : 2,
                       capacity);
  }
  return cluster;
}

std::vector<Job> random_jobs(Rng& rng, std::size_t count) {
  std::vector<Job> jobs(count);
  for (Job& job : jobs) {
    job.tasks = job.replicas = 1U << rng.below(5);
    job.gpu_milli_per_task = static_cast<std::uint32_t>(rng.uniform_int(1, 20) * 50);
    job.gpu_memory_mib_per_task = static_cast<std::uint32_t>(rng.uniform_int(0, 12) * kGibMib);
    job.cpu_milli_per_task = static_cast<std::uint32_t>(rng.below(4) * 1000);
    job.memory_mib_per_task = static_cast<std::uint32_t>(rng.below(4) * kGibMib);
    if (rng.chance(0.2)) job.gpu_types = 1U << rng.below(2);
  }
  return jobs;
}

std::string text_of(const PlaceWalk& walk) {
  std::string out;
  for (const PlaceWalk::Stop& stop : walk.stops()) {
    out +=
        fmt::format("stop {} for {} {}\n", stop.job.value, stop.displaced_by.value, stop.goes_on);
  }
  for (const PlaceWalk::Start& start : walk.starts()) {
    out += fmt::format("start {}", start.job.value);
    for (const Placement& place : start.places) out += fmt::format(" {}", place.device.value);
    out += '\n';
  }
  for (const KeptRoom& kept : walk.kept()) out += fmt::format("kept for {}\n", kept.job.value);
  return out;
}

// Half of the jobs run where the rules allow it, some of them not for long enough to leave; all
// others wait. The walk as `text_of` has it, and the places of the cluster as it leaves them.
class PlaceWalkTest : public ::testing::Test {
 protected:
  static constexpr TimeUs kLeastRunUs = 10 * kUsPerS;

  void arrange(Rng& rng) {
    constexpr std::size_t kJobs = 400;
    state_.emplace(cluster_, random_jobs(rng, kJobs), std::vector<TaskGraph>{});
    running_.clear();
    waiting_.clear();
    FreeIndex free;
    for (std::uint32_t j = 0; j < kJobs; ++j) {
      state_->arrive();
      const JobId id{j};
      // Those that run tend to go first.
      const std::int64_t key = rng.uniform_int(0, 1000);
      std::vector<Placement> places;
      if (j < kJobs / 2 && takes(free, id, places)) {
        const TimeUs start_us = rng.chance(0.5) ? 0 : kLeastRunUs;
        ASSERT_EQ(testing::start_job(*state_, id, places, start_us), "");
        running_.insert({key / 2, j, static_cast<std::int32_t>(state_->job(id).gpu_milli())});
      } else {
        waiting_.insert(id, state_->job(id), key);
      }
    }
  }
  [[nodiscard]] std::string walk(bool one_by_one, bool keeps) {
    const ClusterView view = state_->view(kLeastRunUs + kUsPerS);
    FreeIndex free;
    free.rebuild(view);
    IdealServerPlacer placer(free, {});
    placer.begin(view);
    OneByOnePlacer slow(placer);
    const PlaceWalk::Running running = [&]() -> const OrderedBlocks& { return running_; };
    const PlaceWalk walk(view, free, running, waiting_,
                         {.least_run_us = kLeastRunUs,
                          .placer = one_by_one ? static_cast<Placer*>(&slow) : &placer,
                          .keeps = keeps});
    displaced_ += walk.stops().size();
    started_ += walk.starts().size();
    kept_ += walk.kept().size();
    return text_of(walk);
  }

  Cluster cluster_ = mixed_cluster();
  std::optional<ClusterState> state_;
  OrderedBlocks running_;
  WaitingJobs waiting_;
  std::size_t displaced_ = 0;
  std::size_t started_ = 0;
  std::size_t kept_ = 0;

 private:
  [[nodiscard]] bool takes(FreeIndex& free, JobId id, std::vector<Placement>& places) {
    const ClusterView view = state_->view(0);
    free.rebuild(view);
    IdealServerPlacer placer(free, {});
    placer.begin(view);
    return placer.take(id, view.job(id), places);
  }
};

TEST_F(PlaceWalkTest, WhoIsRefusedUnseenWouldHaveFoundNoRoom) {
  Rng rng(1);
  for (int round = 0; round < 60; ++round) {
    arrange(rng);
    for (const bool keeps : {false, true}) ASSERT_EQ(walk(false, keeps), walk(true, keeps));
  }
  EXPECT_GT(displaced_, 100U);
  EXPECT_GT(started_, 100U);
  EXPECT_GT(kept_, 10U);
}

TEST(DeviceDemand, CountsTasksOneByOne) {
  Rng rng(2);
  for (int round = 0; round < 2000; ++round) {
    const DeviceDemand demand{.milli = static_cast<std::uint32_t>(rng.uniform_int(1, 1000)),
                              .mib = static_cast<std::uint32_t>(rng.below(5000)),
                              .kept_milli = static_cast<std::uint32_t>(rng.below(3) * 100),
                              .alone = rng.chance(0.2)};
    const std::int64_t free_milli = rng.chance(0.2) ? kWholeGpuMilli : rng.uniform_int(0, 1000);
    const std::int64_t free_mib = rng.chance(0.1) ? kUnlimitedMib : rng.uniform_int(0, 20'000);
    std::int64_t tasks = 0;
    if (demand.alone) {
      tasks = free_milli == kWholeGpuMilli && free_mib >= demand.mib ? 1 : 0;
    } else {
      while ((tasks + 1) * demand.milli + demand.kept_milli <= free_milli &&
             (tasks + 1) * demand.mib <= free_mib) {
        ++tasks;
      }
    }
    ASSERT_EQ(demand.tasks_on(free_milli, free_mib), tasks);
  }
}

}  // namespace
}  // namespace berth
