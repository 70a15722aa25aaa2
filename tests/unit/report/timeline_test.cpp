#include "report/timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "support/workloads.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr Placement kNowhere{};

Placement gpu(std::uint32_t server, std::uint32_t device) {
  return {ServerId{server}, DeviceId{device}};
}

// Two servers of one GPU. Job 0 takes GPU 0, is preempted by job 1, which takes both; a failure of
// server 1 costs it one, which comes back; job 2 needs no GPU.
TEST(Timeline, ASmallRunToTheByte) {
  const Cluster cluster = testing::cluster_of("2x1");
  Workload workload = testing::workload_of({{0, 9, 1}, {0, 9, 2}, {1, 9, 0}});
  workload.names = {"a \"1\"\n", "b", "c"};
  Timeline timeline(cluster, workload);
  timeline.record(0, EventKind::kArrive, 0);
  timeline.record(0, EventKind::kArrive, 1);
  timeline.record(0, EventKind::kStart, 0, std::vector{gpu(0, 0)});
  timeline.record(5, EventKind::kPreempt, 0);
  timeline.record(5, EventKind::kStart, 1, std::vector{gpu(0, 0), gpu(1, 1)});
  timeline.record(6, EventKind::kServerDown, 1);
  timeline.record(6, EventKind::kShrink, 1, std::vector{gpu(0, 0), kNowhere});
  timeline.record(7, EventKind::kServerUp, 1);
  timeline.record(7, EventKind::kGrow, 1, std::vector{gpu(0, 0), gpu(1, 1)});
  timeline.record(8, EventKind::kArrive, 2);
  timeline.record(8, EventKind::kStart, 2, std::vector{Placement{ServerId{1U}, {}}});
  timeline.record(8, EventKind::kDeviceSpeed, 1);
  timeline.record(9, EventKind::kFinish, 1);
  EXPECT_EQ(timeline.finish(), R"({"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","name":"process_name","pid":1,"args":{"name":"2x1"}},
{"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":1}},
{"ph":"M","name":"process_name","pid":2,"args":{"name":"s0"}},
{"ph":"M","name":"process_sort_index","pid":2,"args":{"sort_index":2}},
{"ph":"M","name":"thread_name","pid":2,"tid":1,"args":{"name":"GPU 0"}},
{"ph":"M","name":"process_name","pid":3,"args":{"name":"s1"}},
{"ph":"M","name":"process_sort_index","pid":3,"args":{"sort_index":3}},
{"ph":"M","name":"thread_name","pid":3,"tid":1,"args":{"name":"GPU 0"}},
{"ph":"C","name":"jobs pending","pid":1,"ts":0,"args":{"jobs":1}},
{"ph":"C","name":"GPUs busy","pid":1,"ts":0,"args":{"GPUs":1}},
{"ph":"X","name":"a \"1\"\\n","pid":2,"tid":1,"ts":0,"dur":5,"args":{"job":0,"task":0,"end":"preempt"}},
{"ph":"C","name":"GPUs busy","pid":1,"ts":5,"args":{"GPUs":2}},
{"ph":"i","name":"server-down","pid":3,"tid":1,"ts":6,"s":"p"},
{"ph":"X","name":"b","pid":3,"tid":1,"ts":5,"dur":1,"args":{"job":1,"task":1,"end":"shrink"}},
{"ph":"C","name":"GPUs busy","pid":1,"ts":6,"args":{"GPUs":1}},
{"ph":"i","name":"server-up","pid":3,"tid":1,"ts":7,"s":"p"},
{"ph":"C","name":"GPUs busy","pid":1,"ts":7,"args":{"GPUs":2}},
{"ph":"M","name":"thread_name","pid":3,"tid":1002,"args":{"name":"no GPU"}},
{"ph":"i","name":"device-speed","pid":3,"tid":1,"ts":8,"s":"t"},
{"ph":"X","name":"b","pid":2,"tid":1,"ts":5,"dur":4,"args":{"job":1,"task":0,"end":"finish"}},
{"ph":"X","name":"b","pid":3,"tid":1,"ts":7,"dur":2,"args":{"job":1,"task":1,"end":"finish"}},
{"ph":"C","name":"GPUs busy","pid":1,"ts":9,"args":{"GPUs":0}},
{"ph":"X","name":"c","pid":3,"tid":1002,"ts":8,"dur":1,"args":{"job":2,"task":0,"end":"still running"}}
]}
)");
}

// The slices of a finished timeline as (process, thread, start, length, job, task).
using Slice = std::tuple<int, int, std::int64_t, std::int64_t, int, int>;

std::vector<Slice> slices_of(Timeline& timeline) {
  std::vector<Slice> out;
  const Json json = Json::parse(timeline.finish());
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] != "X") continue;
    out.emplace_back(event["pid"], event["tid"], event["ts"], event["dur"], event["args"]["job"],
                     event["args"]["task"]);
  }
  return out;
}

// Two tasks change places: each slice ends where the other's begins.
TEST(Timeline, TasksThatMoveToEachOthersPlace) {
  const Cluster cluster = testing::cluster_of("2x1");
  const Workload workload = testing::workload_of({{0, 9, 2}});
  Timeline timeline(cluster, workload);
  timeline.record(0, EventKind::kArrive, 0);
  timeline.record(0, EventKind::kStart, 0, std::vector{gpu(0, 0), gpu(1, 1)});
  timeline.record(3, EventKind::kMove, 0, std::vector{gpu(1, 1), gpu(0, 0)});
  timeline.record(4, EventKind::kEvict, 0);
  EXPECT_EQ(slices_of(timeline),
            (std::vector<Slice>{
                {2, 1, 0, 3, 0, 0}, {3, 1, 0, 3, 0, 1}, {3, 1, 3, 1, 0, 0}, {2, 1, 3, 1, 0, 1}}));
}

// A copy has a slice of its own, which ends when it takes the place of its task.
TEST(Timeline, CopiesHaveSlices) {
  const Cluster cluster = testing::cluster_of("2x1");
  const Workload workload = testing::workload_of({{0, 9, 1}});
  Timeline timeline(cluster, workload);
  timeline.record(0, EventKind::kArrive, 0);
  timeline.record(0, EventKind::kStart, 0, std::vector{gpu(0, 0)});
  const std::vector<TaskCopy> copies{{JobId{0U}, 0, gpu(1, 1), 2}};
  timeline.record(2, EventKind::kCopy, 0, std::vector{gpu(0, 0)}, copies);
  timeline.record(5, EventKind::kTakeOver, 0, std::vector{gpu(1, 1)});
  timeline.record(9, EventKind::kFinish, 0);
  EXPECT_EQ(slices_of(timeline),
            (std::vector<Slice>{{2, 1, 0, 5, 0, 0}, {3, 1, 2, 3, 0, 0}, {3, 1, 5, 4, 0, 0}}));
}

// What shares a GPU has threads of its own, used again when they are free.
TEST(Timeline, SharersHaveTheirOwnThreads) {
  const Cluster cluster = testing::cluster_of("1x1");
  const Workload workload = testing::workload_of({{0, 9, 1}, {0, 9, 1}, {0, 9, 1}});
  Timeline timeline(cluster, workload);
  for (std::uint32_t j = 0; j < 3; ++j) timeline.record(0, EventKind::kArrive, j);
  timeline.record(0, EventKind::kStart, 0, std::vector{gpu(0, 0)});
  timeline.record(1, EventKind::kStart, 1, std::vector{gpu(0, 0)});
  timeline.record(2, EventKind::kFinish, 0);
  timeline.record(3, EventKind::kStart, 2, std::vector{gpu(0, 0)});
  timeline.record(5, EventKind::kFinish, 1);
  timeline.record(6, EventKind::kFinish, 2);
  EXPECT_EQ(slices_of(timeline),
            (std::vector<Slice>{{2, 1, 0, 2, 0, 0}, {2, 2, 1, 4, 1, 0}, {2, 1, 3, 3, 2, 0}}));
}

TEST(Timeline, AJobThatIsStoppedWhileItWaitsLeavesTheQueue) {
  const Cluster cluster = testing::cluster_of("1x1");
  const Workload workload = testing::workload_of({{0, 9, 1}});
  Timeline timeline(cluster, workload);
  timeline.record(1, EventKind::kArrive, 0);
  timeline.record(2, EventKind::kStop, 0);
  const Json json = Json::parse(timeline.finish());
  const Json& last = json["traceEvents"].back();
  EXPECT_EQ(last["name"], "jobs pending");
  EXPECT_EQ(last["ts"], 2);
  EXPECT_EQ(last["args"]["jobs"], 0);
}

// The same run, seen through the tee: nobody hears anything else than alone.
TEST(EventTee, GivesEveryEventToEachLog) {
  TextEventLog text;
  TextEventLog other;
  EventTee tee;
  tee.add(text);
  tee.add(other);
  tee.record(3, EventKind::kArrive, 1);
  tee.record(4, EventKind::kStart, 1, std::vector{gpu(0, 0)});
  EXPECT_EQ(text.text(), "time_us,event,id,devices\n3,arrive,1,\n4,start,1,0\n");
  EXPECT_EQ(other.text(), text.text());
  EXPECT_EQ(tee.hash_hex(), text.hash_hex());
  EXPECT_EQ(tee.count(), 2U);
}

}  // namespace
}  // namespace berth
