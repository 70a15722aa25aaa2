// What happens to jobs of Slurm's history beyond single fields (cases_test.cpp has the cases).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "trace/reader.h"

namespace berth::trace {
namespace {

constexpr std::string_view kHeader =
    "JobID|JobName|User|State|Submit|Start|End|Elapsed|Timelimit|AllocTRES\n";

// A row of a job of one GPU; times are minutes after 01:00.
std::string row(std::string_view id, std::string_view state, int submit, int start, int minutes,
                std::string_view name = "train", std::string_view user = "ua") {
  const auto clock = [](int at) {
    const std::string text = std::to_string(100 + at % 60).substr(1);
    return "2026-03-02T0" + std::to_string(1 + at / 60) + ":" + text + ":00";
  };
  std::string out(id);
  for (const auto& field :
       {std::string(name), std::string(user), std::string(state), clock(submit), clock(start),
        clock(start + minutes), "00:" + std::to_string(100 + minutes).substr(1) + ":00",
        std::string("02:00:00"), std::string("cpu=8,gres/gpu=1,mem=64G,node=1")}) {
    out += "|" + field;
  }
  return out + "\n";
}

ReadResult read(const std::string& rows) {
  auto result = read_trace_bytes(std::string(kHeader) + rows, "sacct");
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return result ? std::move(*result) : ReadResult{};
}

const TraceJob& job(const ReadResult& result, std::string_view id) {
  static const TraceJob kNone;
  const auto found = std::ranges::find(result.trace.jobs, id, &TraceJob::id);
  EXPECT_NE(found, result.trace.jobs.end()) << id;
  return found == result.trace.jobs.end() ? kNone : *found;
}

TEST(Sacct, ARequeuedJobIsOneJobWhateverTheOrder) {
  std::vector<std::string> rows = {row("7", "REQUEUED", 0, 1, 10), row("7", "NODE_FAIL", 11, 20, 5),
                                   row("7", "COMPLETED", 25, 30, 20)};
  std::ranges::sort(rows);
  do {
    const ReadResult result = read(rows[0] + rows[1] + rows[2]);
    ASSERT_EQ(result.trace.jobs.size(), 1U);
    const TraceJob& one = job(result, "7");
    EXPECT_EQ(one.attempts, 3U);
    EXPECT_EQ(one.duration_us, MaybeInt(35 * kUsPerMin));
    EXPECT_EQ(one.queue_us, MaybeInt(1 * kUsPerMin));
    EXPECT_EQ(one.status, EndStatus::kCompleted);
    EXPECT_EQ(result.report.rejected(), 0U);
  } while (std::ranges::next_permutation(rows).found);
}

TEST(Sacct, AJobNumberUsedAgainIsAnotherJob) {
  const ReadResult result =
      read(row("7", "COMPLETED", 0, 1, 10) + row("7", "COMPLETED", 100, 101, 20, "other", "ub"));
  ASSERT_EQ(result.trace.jobs.size(), 2U);
  EXPECT_EQ(job(result, "7").duration_us, MaybeInt(10 * kUsPerMin));
  EXPECT_EQ(job(result, "7#2").duration_us, MaybeInt(20 * kUsPerMin));
  EXPECT_EQ(result.report.counts().at("job numbers used again"), 1U);
}

TEST(Sacct, ANumberOfTooManyJobsIsRefusedSoon) {
  std::string rows;
  constexpr int kRows = 20'000;
  for (int i = 0; i < kRows; ++i) {
    rows += row("7", "COMPLETED", i % 400, i % 400 + 1, 1, "job" + std::to_string(i));
  }
  const auto result = read(rows);
  EXPECT_EQ(result.trace.jobs.size(), 50U);
  EXPECT_EQ(result.report.rejected(), std::uint64_t{kRows - 50});
}

TEST(Sacct, TheSameNumberAndTimesOnTwoClustersAreTwoJobs) {
  const std::string header =
      "Cluster|JobID|JobName|User|State|Submit|Start|End|Elapsed|AllocTRES\n";
  const std::string rest =
      "|5|a|u|COMPLETED|2026-03-02T01:00:00|2026-03-02T01:01:00|2026-03-02T01:02:00|00:01:00|"
      "gres/gpu=1\n";
  const auto result =
      read_trace_bytes(header + "east" + rest + "west" + rest + "west" + rest, "sacct");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->trace.jobs.size(), 2U);
  EXPECT_EQ(result->report.rejected(), 1U);
}

TEST(Sacct, StatesCutShortAreMadeWholeAndOthersWarned) {
  const auto result = read(row("1", "OUT_OF_ME+", 0, 1, 1) + row("2", "CANCELLED+", 0, 1, 1) +
                           row("3", "COMPLETI+", 0, 1, 1) + row("4", "PEND+", 0, 1, 1) +
                           row("5", "WEIRD", 0, 1, 1));
  EXPECT_EQ(job(result, "1").status, EndStatus::kFailed);
  EXPECT_EQ(job(result, "2").status, EndStatus::kCancelled);
  EXPECT_EQ(job(result, "5").status, EndStatus::kUnknown);
  EXPECT_EQ(result.report.rejected_by_reason().at("still running"), 1U);
  EXPECT_EQ(result.report.rejected_by_reason().at("never started"), 1U);
  EXPECT_EQ(result.report.warned_by_reason().at("unknown state"), 1U);
}

TEST(Sacct, TheSameRowTwiceIsADuplicate) {
  const std::string once = row("7", "COMPLETED", 0, 1, 10);
  const ReadResult result = read(once + once);
  EXPECT_EQ(result.trace.jobs.size(), 1U);
  EXPECT_EQ(result.report.rejected_by_reason().at("duplicate id"), 1U);
  EXPECT_EQ(result.report.rejected_notes()[0].line, 3U);
}

TEST(Sacct, AWaitOfMoreThanACenturyIsUnknownNotARowThatCannotBeWrittenAgain) {
  const ReadResult result = read(
      "1|a|u|COMPLETED|2026-03-02T01:00:00|2141-03-02T02:00:00|2141-03-02T02:10:00|00:10:00||"
      "gres/gpu=1\n" +
      row("2", "COMPLETED", 0, 1, 10));
  EXPECT_FALSE(job(result, "1").queue_us.known());
  EXPECT_EQ(result.report.warned_by_reason().at("start long after submission"), 1U);
}

TEST(Sacct, RunningWaitingAndNeverStartedAreThreeReasons) {
  const ReadResult result = read(
      "1|a|u|RUNNING|2026-03-02T01:00:00|2026-03-02T01:00:00|Unknown|00:10:00||gres/gpu=1\n"
      "2|a|u|PENDING|2026-03-02T01:00:00|Unknown|Unknown|00:00:00||\n"
      "3_[1-9]|a|u|PENDING|2026-03-02T01:00:00|Unknown|Unknown|00:00:00||\n"
      "4|a|u|CANCELLED by 7|2026-03-02T01:00:00|None|2026-03-02T02:00:00|00:00:00||\n"
      "5|a|u|CANCELLED by 7|2026-03-02T01:00:00|2026-03-02T02:00:00|2026-03-02T02:00:00|00:00:00||"
      "\n"
      "6|a|u|COMPLETED|yesterday|2026-03-02T02:00:00|2026-03-02T02:00:00|00:00:00||gres/gpu=1\n"
      "7|a|u|COMPLETED|2026-03-02T01:00:00|2026-03-02T02:00:00|2026-03-02T02:00:00|00:00:00||\n" +
      row("8", "COMPLETED", 0, 1, 10));
  EXPECT_EQ(result.trace.jobs.size(), 1U);
  const auto& reasons = result.report.rejected_by_reason();
  EXPECT_EQ(reasons.at("still running"), 1U);
  EXPECT_EQ(reasons.at("never started"), 4U);
  EXPECT_EQ(reasons.at("not a date and time"), 1U);
  EXPECT_EQ(reasons.at("resources unknown"), 1U);
}

TEST(Sacct, ComponentsOfAHeterogeneousJobAreAGang) {
  const ReadResult result =
      read(row("45+1", "COMPLETED", 0, 1, 10) + row("46", "COMPLETED", 0, 1, 1) +
           row("45+0", "COMPLETED", 0, 1, 12));
  ASSERT_EQ(result.trace.jobs.size(), 2U);
  EXPECT_EQ(job(result, "45").gpu_milli, MaybeInt(2000));
  EXPECT_EQ(job(result, "45").duration_us, MaybeInt(12 * kUsPerMin));
  EXPECT_EQ(job(result, "45").cpu_milli, MaybeInt(16'000));
}

TEST(Sacct, AGangWhoseNumberAnotherJobUsedToo) {
  const ReadResult result =
      read(row("45", "COMPLETED", 0, 1, 7) + row("45+0", "COMPLETED", 2, 3, 10) +
           row("45+1", "COMPLETED", 2, 3, 10));
  ASSERT_EQ(result.trace.jobs.size(), 2U);
  EXPECT_EQ(job(result, "45").duration_us, MaybeInt(7 * kUsPerMin));
  EXPECT_EQ(job(result, "45#2").gpu_milli, MaybeInt(2000));
}

TEST(Sacct, AGangWithADamagedComponentIsRejectedWhole) {
  const ReadResult result =
      read(row("45+0", "COMPLETED", 0, 1, 10) + row("45+1", "COMPLETED", 0, 1, 10) +
           "45+2|a|u|COMPLETED|x|x|x|x|x|x\n" + row("46", "COMPLETED", 0, 1, 1));
  ASSERT_EQ(result.trace.jobs.size(), 1U);
  EXPECT_EQ(result.report.rejected(), 3U);
}

TEST(Sacct, RequestedTypesBindAndAllocatedOnesOnlyWithoutARequest) {
  const std::string times = "|2026-03-02T01:00:00|00:10:00|";
  const auto result = read_trace_bytes(
      "JobID|Submit|Elapsed|ReqTRES|AllocTRES\n"
      "1" +
          times +
          "gres/gpu=1|gres/gpu:a100=1,gres/gpu=1\n"
          "2" +
          times +
          "gres/gpu:v100=1|gres/gpu:v100=1,gres/gpu=1\n"
          "3" +
          times +
          "|gres/gpu:h100=1,gres/gpu=1\n"
          "4" +
          times + "gres/gpu=2,cpu=4|\n",
      "sacct");
  ASSERT_TRUE(result);
  const auto types = [&](std::string_view id) {
    return result->trace.gpu_types.name(job(*result, id).gpu_types);
  };
  EXPECT_EQ(types("1"), "");
  EXPECT_EQ(types("2"), "v100");
  EXPECT_EQ(types("3"), "h100");
  EXPECT_EQ(job(*result, "4").gpu_milli, MaybeInt(2000));
  EXPECT_EQ(result->report.warned_by_reason().at("allocation not recorded"), 1U);
}

TEST(Sacct, ReadsEveryColumnOrderAndManyUnknownColumns) {
  const auto result = read_trace_bytes(
      "Account|A|B|C|D|E|F|G|H|I|J|Elapsed|AllocNodes|NNodes|JobID|AllocTRES|Submit|\n"
      "acc|1|2|3|4|5|6|7|8|9|0|1-00:00:00|2|2|99|cpu=4,gres/gpu=8|1772406600|\n",
      "auto");
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->trace.format, "sacct");
  EXPECT_EQ(job(*result, "99").duration_us, MaybeInt(kUsPerDay));
  EXPECT_EQ(result->trace.vcs.name(job(*result, "99").vc), "acc");
}

TEST(Sacct, AMissingColumnIsNamedWithTheCommandThatHasIt) {
  for (const char* header : {"JobID|State|AllocTRES|Elapsed\n1|COMPLETED|cpu=1|00:01:00\n",
                             "JobID|Submit|AllocTRES\n1|2026-03-02T01:00:00|cpu=1\n",
                             "JobID|Submit|Elapsed\n1|2026-03-02T01:00:00|00:01:00\n"}) {
    const auto result = read_trace_bytes(header, "sacct");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().exit_code(), 2);
    EXPECT_NE(result.error().text().find("sacct -a --parsable2"), std::string::npos);
  }
}

}  // namespace
}  // namespace berth::trace
