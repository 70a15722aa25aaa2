// What a reader accepts can be written in Berth's own format and read back, also where it is made
// of several fields that are each within their bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "support/trace_round_trip.h"
#include "trace/formats/pai_tables.h"
#include "trace/reader.h"

namespace berth::trace {
namespace {

void expect_round_trip(const Trace& trace) {
  const std::string text = test::written(trace);
  const auto again = read_trace_bytes(text, "berth");
  ASSERT_TRUE(again) << again.error().text() << "\n" << text;
  EXPECT_EQ(again->report.rejected(), 0U) << text;
  EXPECT_EQ(test::difference(trace, again->trace), "") << text;
}

// Reads it, and looks whether what was read comes back.
ReadResult read(std::string_view bytes, const std::string& format) {
  auto result = read_trace_bytes(bytes, format);
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  if (!result) return {};
  if (!result->trace.jobs.empty()) expect_round_trip(result->trace);
  return std::move(*result);
}

std::uint64_t of_reason(const std::map<std::string, std::uint64_t>& counts, std::string_view why) {
  const auto found = counts.find(std::string(why));
  return found == counts.end() ? 0 : found->second;
}

ReadResult read_pai(std::string_view jobs, std::string_view tasks) {
  ReadResult result;
  auto job_table = Input::from_memory("jobs", jobs);
  auto task_table = Input::from_memory("tasks", tasks);
  EXPECT_TRUE(job_table && task_table);
  ReadContext context{"folder", nullptr, result.trace, result.report};
  EXPECT_TRUE(read_pai_tables(
      context, {&*job_table, "job_name,user,status,start_time,end_time"},
      {&*task_table, "job_name,inst_num,status,start_time,end_time,plan_gpu,gpu_type"}));
  if (result.trace.jobs.empty()) return result;
  result.trace.zero_us = result.trace.jobs.front().arrival_us;
  for (TraceJob& job : result.trace.jobs) job.arrival_us -= result.trace.zero_us;
  expect_round_trip(result.trace);
  return result;
}

constexpr std::string_view kSacct = "JobID|Submit|Start|Elapsed|AllocTRES\n";

std::string sacct_row(std::string_view id, std::string_view tres) {
  return std::string(id) + "|2026-03-02T01:00:00|2026-03-02T01:00:00|00:10:00|" +
         std::string(tres) + "\n";
}

TEST(Bounds, AWaitOfMoreThanACenturyIsUnknown) {
  const auto openb = read(
      "name,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\n"
      "a,1,1000,0,4000000060,4000000000\n",
      "openb");
  ASSERT_EQ(openb.trace.jobs.size(), 1U);
  EXPECT_FALSE(openb.trace.jobs[0].queue_us.known());
  EXPECT_EQ(openb.trace.jobs[0].duration_us, MaybeInt(60 * kUsPerS));
  EXPECT_EQ(of_reason(openb.report.warned_by_reason(), "scheduled long after creation"), 1U);

  const auto pai =
      read_pai("a,u,Terminated,1,4000000060\n", "a,1,Terminated,4000000000,4000000060,100,T4\n");
  ASSERT_EQ(pai.trace.jobs.size(), 1U);
  EXPECT_FALSE(pai.trace.jobs[0].queue_us.known());
  EXPECT_EQ(of_reason(pai.report.warned_by_reason(), "first task long after submission"), 1U);
}

TEST(Bounds, GpusOfSeveralTasksNeedNotBeWhole) {
  const auto pai = read_pai("a,u,Terminated,1,9\n",
                            "a,1,Terminated,2,9,100,T4\na,1,Terminated,2,9,50,V100\n"
                            "a,1,Terminated,2,9,100,T4\n");
  ASSERT_EQ(pai.trace.jobs.size(), 1U);
  EXPECT_EQ(pai.trace.jobs[0].gpu_milli, MaybeInt(2500));
  EXPECT_EQ(pai.trace.gpu_types.name(pai.trace.jobs[0].gpu_types), "T4|V100");
}

TEST(Bounds, SlurmCountsThatMeanNothingAreRejected) {
  std::string many = "gres/gpu:t=1";
  for (int i = 0; i < 1000; ++i) many += ",gres/gpu:t" + std::to_string(i) + "=1";
  std::string sum = "gres/gpu=999999999";
  for (int i = 0; i < 1001; ++i) sum += ",gres/gpu=999999999";
  for (const std::string& tres :
       {std::string("gres/shard=999999999M"),
        std::string("gres/shard:a=2M,gres/shard:b=999999999K"), std::string("gres/gpu=999999999M"),
        std::string("gres/gpu=1,node=999999999M"), sum, many}) {
    const auto result =
        read(std::string(kSacct) + sacct_row("1", tres) + sacct_row("2", "gres/gpu=1"), "sacct");
    EXPECT_EQ(result.trace.jobs.size(), 1U) << tres.substr(0, 60);
    EXPECT_EQ(result.report.rejected(), 1U) << tres.substr(0, 60);
  }
}

TEST(Bounds, ComponentsAddUpToNoMoreThanAFieldCanSay) {
  std::string rows(kSacct);
  for (int i = 0; i < 1100; ++i) {
    rows += sacct_row("7+" + std::to_string(i), "gres/gpu=1,node=1,mem=900000000G");
  }
  const auto result = read(rows, "sacct");
  ASSERT_EQ(result.trace.jobs.size(), 1U);
  EXPECT_EQ(result.trace.jobs[0].gpu_milli, MaybeInt(1'100'000));
  EXPECT_EQ(result.trace.jobs[0].nodes, MaybeInt(1100));
  EXPECT_FALSE(result.trace.jobs[0].memory_mib.known());
}

TEST(Bounds, AJobCountsOneKindOfGpu) {
  const auto both =
      read(std::string(kSacct) + sacct_row("7+0", "gres/gpu:1g.5gb=2") +
               sacct_row("7+1", "gres/shard=4") + sacct_row("8", "gres/gpu:1g.5gb=0,gres/shard=4"),
           "sacct");
  ASSERT_EQ(both.trace.jobs.size(), 2U);
  for (const TraceJob& job : both.trace.jobs) {
    EXPECT_TRUE(job.shards) << job.id;
    EXPECT_FALSE(job.mig_slice) << job.id;
  }
}

TEST(Bounds, AcmeMemoryOfAllPods) {
  const auto acme = read(
      "job_id,node_num,gpu_num,mem_per_pod_GB,state,submit_time,start_time,end_time\n"
      "a,999999,8,2000000,COMPLETED,2023-03-01 00:00:00,2023-03-01 00:00:00,2023-03-01 01:00:00\n"
      "b,4,8,100.5,COMPLETED,2023-03-01 00:00:00,2023-03-01 00:00:00,2023-03-01 01:00:00\n",
      "acme");
  ASSERT_EQ(acme.trace.jobs.size(), 1U);
  EXPECT_EQ(acme.trace.jobs[0].memory_mib, MaybeInt(100 * 4 * 1024 + 4 * 512));
  ASSERT_EQ(acme.report.rejected_notes().size(), 1U);
  EXPECT_EQ(acme.report.rejected_notes()[0].field, "memory");
  EXPECT_EQ(acme.report.rejected_notes()[0].line, 2U);
}

TEST(Bounds, ACalendarThatNotAllArrivalsHaveIsNotUsed) {
  for (const std::string_view late : {"300000000000", "8000000000"}) {
    const auto berth = read("id,arrival_s,submitted_utc,gpus\na,10,2017-10-03T08:00:00Z,1\nb," +
                                std::string(late) + ",,1\n",
                            "berth");
    ASSERT_EQ(berth.trace.jobs.size(), 2U);
    EXPECT_FALSE(berth.trace.zero_is_unix_time);
    EXPECT_EQ(berth.trace.zero_us, 10 * kUsPerS);
    EXPECT_EQ(of_reason(berth.report.warned_by_reason(), "arrivals beyond the calendar"), 1U);
  }
  const auto early =
      read("id,arrival_s,submitted_utc,gpus\na,4e9,2017-10-03T08:00:00Z,1\nb,0,,1\n", "berth");
  EXPECT_FALSE(early.trace.zero_is_unix_time);
}

// The name field of an archive's first header ends in zeros; that of a table is text.
TEST(Bounds, TheMarkOfAnArchiveInATextIsText) {
  const std::string header = "id,arrival_s,gpus,name\n";
  std::string text = header + "a,0,1,";
  text += std::string(257 - text.size(), 'x') + "ustar\n";
  const auto berth = read(text, "berth");
  ASSERT_EQ(berth.trace.jobs.size(), 1U);
  EXPECT_TRUE(berth.trace.jobs[0].name.ends_with("ustar"));

  std::string archive = "trace.csv";
  archive += std::string(257 - archive.size(), '\0') + "ustar" + std::string(250, '\0') + text;
  const auto refused = read_trace_bytes(archive, "auto");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("tar archive"), std::string::npos);
}

TEST(Bounds, TextsThatNoLineCanHoldAreNotWritten) {
  Trace trace;
  trace.source = "x.json";
  TraceJob job;
  job.id = trace.strings.keep("a");
  job.gpu_milli = 1000;
  job.name = trace.strings.keep(std::string(Input::kMaxLineBytes / 2, '"'));
  trace.jobs.push_back(job);
  test::MemorySink sink;
  const Status status = write_trace(trace, sink);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().exit_code(), 2);
  EXPECT_NE(status.error().text().find("too long"), std::string::npos);

  trace.jobs[0].name = trace.strings.keep(std::string(Input::kMaxLineBytes / 2 - 100, '"'));
  expect_round_trip(trace);
}

}  // namespace
}  // namespace berth::trace
