// Training jobs whose times were worked out by hand, to the microsecond.
#include <gtest/gtest.h>

#include "engine/iteration.h"
#include "engine/simulator.h"
#include "support/training.h"

namespace berth {
namespace {

using testing::Step;

constexpr std::int64_t kMb = 1'000'000;

// A chain of partitions that compute so long, with so many bytes from each to the next.
TaskGraph chain(const std::vector<std::int64_t>& compute_us, std::int64_t bytes) {
  TaskGraph graph;
  for (std::uint32_t k = 0; k < compute_us.size(); ++k) {
    graph.tasks.push_back({.parameters = 1, .compute_us = compute_us[k]});
    if (k > 0) graph.edges.push_back({k - 1, k, bytes});
  }
  return graph;
}

// Jobs of one replica, all submitted at 0.
class Hand {
 public:
  explicit Hand(Cluster cluster) : cluster_(std::move(cluster)) {}

  TrainingTruth& add(const TaskGraph& graph, std::int64_t iterations) {
    Job job;
    job.graph = TaskGraphId{workload_.graphs.size()};
    job.tasks = static_cast<std::uint32_t>(graph.tasks.size());
    workload_.graphs.push_back(graph);
    workload_.jobs.push_back(job);
    workload_.truths.push_back({iterations});
    workload_.names.push_back("job");
    TrainingTruth truth;
    truth.iterations = iterations;
    truth.first_use = static_cast<std::uint32_t>(workload_.training.uses.size());
    workload_.training.uses.resize(truth.first_use + job.tasks);
    workload_.training.jobs.push_back(truth);
    return workload_.training.jobs.back();
  }
  Job& job(std::size_t j) { return workload_.jobs[j]; }
  TaskUse& use(std::size_t j, std::uint32_t task) {
    return workload_.training.uses[workload_.training.jobs[j].first_use + task];
  }
  void add_use() { workload_.training.uses.emplace_back(); }
  [[nodiscard]] Placement at(std::uint32_t device) const {
    return {cluster_.devices[device].server, DeviceId{device}};
  }
  // Starts of all tasks of a job on these devices.
  void start(std::vector<Action>& actions, std::uint32_t job,
             const std::vector<std::uint32_t>& devices) const {
    for (std::uint32_t k = 0; k < devices.size(); ++k) {
      actions.push_back(
          {.kind = ActionKind::kStartTask, .job = JobId{job}, .task = k, .to = at(devices[k])});
    }
  }
  SimulationResult run(std::vector<Step> steps, const std::vector<FaultEvent>& faults = {}) {
    auto result = try_to_run(std::move(steps), faults);
    EXPECT_TRUE(result) << result.error().text();
    return result ? *std::move(result) : SimulationResult{};
  }
  std::string failure(std::vector<Step> steps) {
    const auto result = try_to_run(std::move(steps), {});
    return result ? "" : result.error().text();
  }

 private:
  Result<SimulationResult> try_to_run(std::vector<Step> steps,
                                      const std::vector<FaultEvent>& faults) {
    const auto policy = testing::scripted_policy(std::move(steps));
    const auto predictors = make_predictors("none", workload_, 1);
    const SimulationOptions options{.check = true, .faults = faults};
    return simulate(cluster_, workload_, *policy, **predictors, options);
  }

  Cluster cluster_;
  Workload workload_;
};

TEST(TrainingByHand, AThreeStagePipelineOverTwoServers) {
  Hand hand(testing::servers_of({2, 1}, 10 * kMb));
  hand.add(chain({100'000, 200'000, 300'000}, 1 * kMb), 10).load_us = kUsPerS;
  Step step;
  hand.start(step.actions, 0, {0, 1, 2});
  const SimulationResult result = hand.run({step});
  // Loads 1 s; an iteration: 0.1 + 0.2 + 0.3 s, and 1 MB over the link of 10 MB/s once: 0.7 s.
  EXPECT_EQ(result.states[0].last_stop_us, 8'000'000);
  EXPECT_DOUBLE_EQ(result.totals.inter_server_bytes, 10.0 * kMb);
}

// Hours for one iteration are exact, too.
TEST(TrainingByHand, ATwoHourIterationOverASlowLink) {
  Hand hand(testing::servers_of({1, 1}, 1 * kMb));
  hand.add(chain({1'000'001, 2'000'002}, 7'200 * kMb), 3);
  Step step;
  hand.start(step.actions, 0, {0, 1});
  const SimulationResult result = hand.run({step});
  // 1.000001 s, 7,200 MB at 1 MB/s, 2.000002 s; three times.
  EXPECT_EQ(result.states[0].last_stop_us, 3 * (7'200 * kUsPerS + 3'000'003));
  EXPECT_DOUBLE_EQ(result.totals.inter_server_bytes, 3.0 * 7'200 * kMb);
}

// A day of computing at a thousandth of the speed: cut, but no overflow on the way.
TEST(TrainingByHand, AnIterationBeyondAllBoundsIsCut) {
  Cluster cluster = testing::servers_of({1, 1, 1}, 1);
  cluster.gpu_types[0].speed_milli = 1;
  Hand hand(cluster);
  hand.add(chain({kUsPerDay, kUsPerDay, kUsPerDay}, 1'000'000'000 * kMb), 2);
  Step step;
  hand.start(step.actions, 0, {0, 1, 2});
  const SimulationResult result = hand.run({step});
  const TimeUs cut_us = kLongestIteration / kPicosecondsPerUs;
  EXPECT_GE(result.states[0].last_stop_us, 2 * cut_us);
  EXPECT_LT(result.states[0].last_stop_us, kNever);
}

TEST(TrainingByHand, TwoJobsShareADevice) {
  Hand hand(testing::servers_of({1}, 0));
  hand.add(chain({100'000}, 0), 1000);
  hand.add(chain({100'000}, 0), 100);
  for (const std::size_t j : {0U, 1U}) hand.job(j).gpu_milli_per_task = 500;
  hand.use(0, 0) = {.sm_ppm = 400'000, .memory_bandwidth_ppm = 600'000};
  hand.use(1, 0) = {.sm_ppm = 500'000};
  Step step;
  hand.start(step.actions, 0, {0});
  hand.start(step.actions, 1, {0});
  const SimulationResult result = hand.run({step});
  // Beside job 0, whose pressure is 1: 1.241 times as long, 100 iterations of 0.1241 s.
  EXPECT_EQ(result.states[1].last_stop_us, 12'410'000);
  // Beside job 1: 0.241 * 0.5^11, in millionths, each step rounded up: 118. In 12.41 s it does
  // 12.41 / 0.1000118 = 124.0853579... iterations; the others take 0.1 s each: 87.59146420... s.
  EXPECT_EQ(result.states[0].last_stop_us, 12'410'000 + 87'591'465);
}

TEST(TrainingByHand, MoreThanADeviceHasStretchesAll) {
  Hand hand(testing::servers_of({1}, 0));
  for (const std::uint32_t j : {0U, 1U}) {
    hand.add(chain({100'000}, 0), 10);
    hand.job(j).gpu_milli_per_task = 500;
    hand.use(j, 0) = {.sm_ppm = 650'000};
  }
  Step step;
  hand.start(step.actions, 0, {0});
  hand.start(step.actions, 1, {0});
  const SimulationResult result = hand.run({step});
  EXPECT_EQ(result.states[0].last_stop_us, 1'300'000);
  EXPECT_EQ(result.states[1].last_stop_us, 1'300'000);
  EXPECT_EQ(result.totals.overloads, 1U);
}

TEST(TrainingByHand, AnOverloadedServerSlowsWhoUsesWhatIsShort) {
  Cluster cluster = testing::servers_of({2}, 0);
  cluster.servers[0].capacity[Resource::kCpuMilli] = 4'000;
  Hand hand(cluster);
  hand.add(chain({100'000}, 0), 10);
  hand.add(chain({100'000}, 0), 10);
  hand.use(0, 0) = {.cpu_milli = 5'000};
  Step step;
  hand.start(step.actions, 0, {0});
  hand.start(step.actions, 1, {1});
  const SimulationResult result = hand.run({step});
  EXPECT_EQ(result.states[0].last_stop_us, 1'250'000);
  EXPECT_EQ(result.states[1].last_stop_us, 1'000'000);
  EXPECT_EQ(result.totals.overloads, 1U);
}

TEST(TrainingByHand, FourFlowsOverThreeLinks) {
  Hand hand(testing::servers_of({3, 3, 2}, 9 * kMb));
  // Each: 0.1 s of computing and 3 MB, 1/3 s over a link of its own, so each wants 6.9 MB/s.
  for (const std::int64_t iterations : {10, 10, 6, 4}) {
    hand.add(chain({50'000, 50'000}, 3 * kMb), iterations);
  }
  Step step;
  hand.start(step.actions, 0, {0, 3});  // servers 0 and 1
  hand.start(step.actions, 1, {1, 4});  // servers 0 and 1
  hand.start(step.actions, 2, {5, 6});  // servers 1 and 2
  hand.start(step.actions, 3, {2, 7});  // servers 0 and 2
  const SimulationResult result = hand.run({step});
  // Three flows share link 0 and three share link 1: 3 MB/s each, an iteration a second.
  EXPECT_EQ(result.states[3].last_stop_us, 4'000'000);
  // Without the fourth, link 1 still holds the first three at 3 MB/s.
  EXPECT_EQ(result.states[2].last_stop_us, 6'000'000);
  // Then two share: 4.5 MB/s, 2/3 s an iteration, four to go.
  EXPECT_EQ(result.states[0].last_stop_us, 8'666'667);
  EXPECT_EQ(result.states[1].last_stop_us, 8'666'667);
}

TEST(TrainingByHand, AMigrationWithItsLostIterations) {
  Hand hand(testing::servers_of({1, 1}, 10 * kMb));
  TrainingTruth& truth = hand.add(chain({1'000'000}, 0), 10);
  truth.load_us = 2 * kUsPerS;
  truth.checkpoint_iterations = 4;
  truth.state_bytes = 8 * kMb;
  Step start;
  hand.start(start.actions, 0, {0});
  const Step move{.at_us = 9'500'000,
                  .actions = {{.kind = ActionKind::kMoveTask, .job = JobId{0U}, .to = hand.at(1)}}};
  const SimulationResult result = hand.run({start, move});
  // From 2 s on 7.5 iterations; 4 are kept. 0.8 s for 8 MB, 2 s to load, 6 iterations.
  EXPECT_EQ(result.states[0].last_stop_us, 9'500'000 + 800'000 + 2'000'000 + 6'000'000);
  EXPECT_EQ(result.lost_iterations, 3);
  EXPECT_EQ(result.totals.migrations, 1U);
  EXPECT_DOUBLE_EQ(result.totals.inter_server_bytes, 8.0 * kMb);
}

TEST(TrainingByHand, AMoveWithACheckpointOfItsOwnLosesTheIterationUnderWay) {
  Hand hand(testing::servers_of({2}, 0));
  TrainingTruth& truth = hand.add(chain({1'000'000}, 0), 10);
  truth.checkpoint_on_stop = true;
  truth.checkpoint_us = 300'000;
  Step start;
  hand.start(start.actions, 0, {0});
  const Step move{.at_us = 3'500'000,
                  .actions = {{.kind = ActionKind::kMoveTask, .job = JobId{0U}, .to = hand.at(1)}}};
  const SimulationResult result = hand.run({start, move});
  EXPECT_EQ(result.states[0].last_stop_us, 3'500'000 + 300'000 + 7'000'000);
}

TEST(TrainingByHand, AServerFailsBetweenTwoCheckpoints) {
  Hand hand(testing::servers_of({1, 1}, 0));
  hand.add(chain({1'000'000}, 0), 10).checkpoint_iterations = 3;
  Step start;
  hand.start(start.actions, 0, {0});
  Step again{.at_us = 7'200'000, .actions = {}};
  hand.start(again.actions, 0, {1});
  const SimulationResult result =
      hand.run({start, again}, {{.at_us = 7'200'000, .kind = FaultKind::kServerDown, .id = 0}});
  // 7.2 iterations; 6 are in the last checkpoint; 4 to go.
  EXPECT_EQ(result.states[0].last_stop_us, 11'200'000);
  EXPECT_EQ(result.lost_iterations, 1);
  EXPECT_EQ(result.evictions, 1U);
  EXPECT_EQ(result.states[0].evictions, 1U);
  EXPECT_EQ(result.preemptions, 0U);
}

TEST(TrainingByHand, CheckpointsCostTheirTime) {
  Hand hand(testing::servers_of({1}, 0));
  TrainingTruth& truth = hand.add(chain({1'000'000}, 0), 10);
  truth.checkpoint_iterations = 5;
  truth.checkpoint_us = 250'000;
  Step start;
  hand.start(start.actions, 0, {0});
  EXPECT_EQ(hand.run({start}).states[0].last_stop_us, 10'500'000);
}

TEST(TrainingByHand, AStragglerIsSlowForAWhile) {
  Hand hand(testing::servers_of({2}, 0));
  hand.add(chain({1'000'000}, 0), 10);
  hand.add(chain({1'000'000}, 0), 10);
  Step start;
  hand.start(start.actions, 0, {0});
  hand.start(start.actions, 1, {1});
  const SimulationResult result = hand.run(
      {start},
      {{.at_us = 2'000'000, .kind = FaultKind::kDeviceSpeed, .id = 0, .speed_ppm = 500'000},
       {.at_us = 6'000'000, .kind = FaultKind::kDeviceSpeed, .id = 0, .speed_ppm = 1'000'000}});
  EXPECT_EQ(result.states[0].last_stop_us, 12'000'000);  // 2 iterations in those 4 s
  EXPECT_EQ(result.states[1].last_stop_us, 10'000'000);
}

TEST(TrainingByHand, AReplicaLostAndBackChangesTheSpeedAndNothingElse) {
  Hand hand(testing::servers_of({1, 1, 1}, 0));
  hand.add(chain({1'000'000}, 0), 20);
  hand.job(0).replicas = 2;
  hand.job(0).tasks = 2;
  hand.add_use();
  Step start;
  hand.start(start.actions, 0, {0, 1});
  const Step grow{
      .at_us = 8'000'000,
      .actions = {{.kind = ActionKind::kStartTask, .job = JobId{0U}, .task = 1, .to = hand.at(2)}}};
  const SimulationResult result =
      hand.run({start, grow}, {{.at_us = 4'000'000, .kind = FaultKind::kDeviceDown, .id = 1}});
  // 8 iterations by 4 s, 4 more by 8 s with one replica, 8 more with two.
  EXPECT_EQ(result.states[0].last_stop_us, 12'000'000);
  EXPECT_EQ(result.lost_iterations, 0);
  EXPECT_EQ(result.evictions, 0U);
  EXPECT_DOUBLE_EQ(result.outcomes[0].held_gpu_us, 4e6 * 2 + 4e6 + 4e6 * 2);
}

TEST(TrainingByHand, StopsAtTheAccuracyItsUserAskedFor) {
  Hand hand(testing::servers_of({1}, 0));
  // 1 - 1 / (1 + i): 0.9 after 9 iterations.
  hand.add(chain({1'000'000}, 0), 100).curve = {.half_iterations = 1.0, .exponent = 1.0};
  hand.job(0).stop = StopOption::kAccuracy;
  hand.job(0).required_accuracy_ppm = 900'000;
  hand.job(0).deadline_us = 4'500'000;
  Step start;
  hand.start(start.actions, 0, {0});
  const SimulationResult result = hand.run({start});
  EXPECT_EQ(result.states[0].last_stop_us, 9'000'000);
  EXPECT_EQ(result.states[0].status, JobStatus::kStopped);
  EXPECT_EQ(result.outcomes[0].iterations_by_deadline, 4);
}

TEST(TrainingByHand, StopsAtTheIterationThatAPolicyNames) {
  Hand hand(testing::servers_of({1}, 0));
  hand.add(chain({1'000'000}, 0), 100);
  Step start;
  hand.start(start.actions, 0, {0});
  const Step stop{.at_us = 1'500'000,
                  .actions = {{.kind = ActionKind::kStopJob, .job = JobId{0U}, .value = 7}}};
  const SimulationResult result = hand.run({start, stop});
  EXPECT_EQ(result.states[0].last_stop_us, 7'000'000);
  EXPECT_EQ(result.states[0].status, JobStatus::kStopped);
  EXPECT_EQ(result.outcomes[0].iterations, 7);
}

Action copy_of(std::uint32_t task, const Placement& to) {
  return {.kind = ActionKind::kCopyTask, .job = JobId{0U}, .task = task, .to = to};
}

FaultEvent half_speed(std::uint32_t device, TimeUs at_us) {
  return {.at_us = at_us, .kind = FaultKind::kDeviceSpeed, .id = device, .speed_ppm = 500'000};
}

TEST(TrainingByHand, ACopyLoadsWhileItsTaskGoesOn) {
  Hand hand(testing::servers_of({1, 1}, 10 * kMb));
  TrainingTruth& truth = hand.add(chain({1'000'000}, 0), 20);
  truth.load_us = 2 * kUsPerS;
  truth.state_bytes = 8 * kMb;
  Step start;
  hand.start(start.actions, 0, {0});
  const Step copy{.at_us = 6'000'000, .actions = {copy_of(0, hand.at(1))}};
  const SimulationResult result = hand.run({start, copy}, {half_speed(0, 4'000'000)});
  // 2 iterations from 2 s to 4 s; the copy needs 0.8 s for 8 MB and 2 s to load: 2.4 more by 8.8 s.
  // Then it is the first with each of the other 15.6.
  EXPECT_EQ(result.states[0].last_stop_us, 8'800'000 + 15'600'000);
  EXPECT_EQ(result.copies, 1U);
  EXPECT_DOUBLE_EQ(result.copies_held_gpu_us, 18'400'000.0);
  EXPECT_DOUBLE_EQ(result.totals.inter_server_bytes, 8.0 * kMb);
  EXPECT_EQ(result.lost_iterations, 0);
  EXPECT_EQ(result.totals.migrations, 0U);
}

// A copy that was asked for while its task still loads begins when that has loaded.
TEST(TrainingByHand, ACopyWaitsForTheStateOfItsTask) {
  Hand hand(testing::servers_of({1, 1}, 0));
  hand.add(chain({1'000'000}, 0), 10).load_us = 3 * kUsPerS;
  Step start;
  hand.start(start.actions, 0, {0});
  start.actions.push_back(copy_of(0, hand.at(1)));
  const SimulationResult result = hand.run({start}, {half_speed(0, 0)});
  // 1.5 iterations from 3 s to 6 s, then 8.5 more.
  EXPECT_EQ(result.states[0].last_stop_us, 14'500'000);
}

TEST(TrainingByHand, TheFirstOfATaskAndItsCopyWins) {
  Hand hand(testing::servers_of({3, 1}, 10 * kMb));
  hand.add(chain({100'000, 300'000, 200'000}, 1 * kMb), 10);
  Step start;
  hand.start(start.actions, 0, {0, 1, 2});
  start.actions.push_back(copy_of(1, hand.at(3)));
  const SimulationResult slow = hand.run({start}, {half_speed(1, 0)});
  // At its place 0.1 + 0.6 + 0.2 s; by the copy 0.1 s more each way, 0.1 + 0.5 + 0.2 s.
  EXPECT_EQ(slow.states[0].last_stop_us, 8'000'000);
  EXPECT_DOUBLE_EQ(slow.totals.inter_server_bytes, 10.0 * 2 * kMb);
  // In health the task wins; its copy is sent its data all the same.
  const SimulationResult well = hand.run({start});
  EXPECT_EQ(well.states[0].last_stop_us, 6'000'000);
  EXPECT_DOUBLE_EQ(well.totals.inter_server_bytes, 10.0 * kMb);
}

// It goes on at the copy's place, and takes that along when it moves: 4 s there were not lost.
TEST(TrainingByHand, ACopyTakesOverWhenItsTaskFails) {
  Hand hand(testing::servers_of({1, 1, 1}, 0));
  hand.add(chain({1'000'000}, 0), 10);
  Step start;
  hand.start(start.actions, 0, {0});
  start.actions.push_back(copy_of(0, hand.at(1)));
  const FaultEvent down{.at_us = 4'500'000, .kind = FaultKind::kServerDown, .id = 0};
  const SimulationResult result = hand.run({start}, {down});
  EXPECT_EQ(result.states[0].last_stop_us, 10'000'000);
  EXPECT_EQ(result.states[0].last_move_us, 4'500'000);
  EXPECT_EQ(result.evictions, 0U);
  EXPECT_EQ(result.lost_iterations, 0);
  EXPECT_DOUBLE_EQ(result.copies_held_gpu_us, 4'500'000.0);
  EXPECT_DOUBLE_EQ(result.outcomes[0].held_gpu_us, 10'000'000.0);
}

TEST(TrainingByHand, ACopyThatStillLoadsDoesNotTakeOver) {
  Hand hand(testing::servers_of({1, 1}, 0));
  TrainingTruth& truth = hand.add(chain({1'000'000}, 0), 10);
  truth.load_us = 2 * kUsPerS;
  truth.checkpoint_iterations = 1;
  Step start;
  hand.start(start.actions, 0, {0});
  const Step copy{.at_us = 3'000'000, .actions = {copy_of(0, hand.at(1))}};
  Step again{.at_us = 4'500'000, .actions = {}};
  hand.start(again.actions, 0, {1});
  const SimulationResult result = hand.run(
      {start, copy, again}, {{.at_us = 4'500'000, .kind = FaultKind::kDeviceDown, .id = 0}});
  // 2 iterations are kept; 2 s to load, 8 to go.
  EXPECT_EQ(result.states[0].last_stop_us, 4'500'000 + 2'000'000 + 8'000'000);
  EXPECT_EQ(result.evictions, 1U);
  EXPECT_DOUBLE_EQ(result.copies_held_gpu_us, 1'500'000.0);
}

TEST(TrainingByHand, AJobGoesOnWithoutACopyThatFails) {
  Hand hand(testing::servers_of({1, 1}, 0));
  hand.add(chain({1'000'000}, 0), 10);
  Step start;
  hand.start(start.actions, 0, {0});
  start.actions.push_back(copy_of(0, hand.at(1)));
  const SimulationResult result = hand.run(
      {start}, {half_speed(0, 0), {.at_us = 4'000'000, .kind = FaultKind::kDeviceDown, .id = 1}});
  // 4 iterations by the copy, 6 at half of the speed.
  EXPECT_EQ(result.states[0].last_stop_us, 16'000'000);
  EXPECT_EQ(result.states[0].evictions, 0U);
}

TEST(TrainingByHand, CopiesEndWithAMoveAndWhenTheyAreDropped) {
  Hand hand(testing::servers_of({1, 1, 1}, 0));
  hand.add(chain({1'000'000}, 0), 10).checkpoint_iterations = 1;
  Step start;
  hand.start(start.actions, 0, {0});
  start.actions.push_back(copy_of(0, hand.at(1)));
  Action drop = copy_of(0, hand.at(1));
  drop.kind = ActionKind::kDropCopy;
  const SimulationResult dropped =
      hand.run({start, {.at_us = 2'000'000, .actions = {drop}}}, {half_speed(0, 0)});
  EXPECT_EQ(dropped.states[0].last_stop_us, 18'000'000);
  EXPECT_DOUBLE_EQ(dropped.copies_held_gpu_us, 2'000'000.0);
  // Also when it moves to where its copy's server has room.
  const Step move{.at_us = 3'000'000,
                  .actions = {{.kind = ActionKind::kMoveTask, .job = JobId{0U}, .to = hand.at(2)}}};
  const SimulationResult moved = hand.run({start, move}, {half_speed(0, 0)});
  EXPECT_EQ(moved.states[0].last_stop_us, 10'000'000);
  EXPECT_DOUBLE_EQ(moved.copies_held_gpu_us, 3'000'000.0);
}

// Jobs as traced: what they have done is the time that they ran.
TEST(TrainingByHand, AsTracedJobsHaveCopiesToo) {
  const Workload jobs = testing::workload_of({{0, 10, 1}});
  const Cluster cluster = testing::servers_of({1, 1}, 0);
  const std::vector<FaultEvent> faults{half_speed(0, 0)};
  Action start{
      .kind = ActionKind::kStartTask, .job = JobId{0U}, .to = {ServerId{0U}, DeviceId{0U}}};
  const auto policy = testing::scripted_policy(
      {{.at_us = 0, .actions = {start}},
       {.at_us = 2'000'000, .actions = {copy_of(0, {ServerId{1U}, DeviceId{1U}})}}});
  const auto predictors = make_predictors("none", jobs, 1);
  const auto result =
      simulate(cluster, jobs, *policy, **predictors, {.check = true, .faults = faults});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->states[0].last_stop_us, 11'000'000);
  EXPECT_DOUBLE_EQ(result->copies_held_gpu_us, 9'000'000.0);
}

TEST(TrainingByHand, CopiesThatMakeNoSenseAreRefused) {
  Hand hand(testing::servers_of({2, 2}, 0));
  hand.add(chain({1'000'000}, 0), 10);
  Step start;
  hand.start(start.actions, 0, {0});
  const auto why = [&](const std::vector<Action>& actions) {
    Step step = start;
    step.actions.insert(step.actions.end(), actions.begin(), actions.end());
    return hand.failure({step});
  };
  EXPECT_NE(why({copy_of(0, hand.at(1))}).find("a copy beside its task"), std::string::npos);
  EXPECT_NE(
      why({copy_of(0, hand.at(2)), copy_of(0, hand.at(3))}).find("a second copy on one server"),
      std::string::npos);
  Action drop = copy_of(0, hand.at(2));
  drop.kind = ActionKind::kDropCopy;
  EXPECT_NE(why({drop}).find("no such copy"), std::string::npos);
  EXPECT_NE(why({copy_of(1, hand.at(2))}).find("runs on no device"), std::string::npos);
}

TEST(TrainingByHand, APartOfAReplicaIsRefused) {
  Hand hand(testing::servers_of({2}, 0));
  hand.add(chain({1'000'000, 1'000'000}, 0), 10);
  Step start;
  hand.start(start.actions, 0, {0});
  const std::string why = hand.failure({start});
  EXPECT_NE(why.find("a part of a replica"), std::string::npos) << why;
}

}  // namespace
}  // namespace berth
