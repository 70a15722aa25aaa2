// What each reader decides, beyond the files in tests/cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "trace/reader.h"

namespace berth::trace {
namespace {

ReadResult read(std::string_view bytes, const std::string& format) {
  auto result = read_trace_bytes(bytes, format);
  EXPECT_TRUE(result) << result.error().text();
  return result ? std::move(*result) : ReadResult{};
}

std::string refusal(std::string_view bytes, const std::string& format) {
  const auto result = read_trace_bytes(bytes, format);
  if (result) return "not refused";
  EXPECT_EQ(result.error().exit_code(), 2);
  return result.error().text();
}

std::uint64_t rejected_for(const ReadResult& result, const std::string& reason) {
  const auto& reasons = result.report.rejected_by_reason();
  const auto found = reasons.find(reason);
  return found == reasons.end() ? 0 : found->second;
}

std::uint64_t warned_for(const ReadResult& result, const std::string& reason) {
  const auto& reasons = result.report.warned_by_reason();
  const auto found = reasons.find(reason);
  return found == reasons.end() ? 0 : found->second;
}

constexpr std::string_view kPhilly =
    "#job id,arrival time (sec),topology,shape,size,duration (sec)\n";

TEST(PhillyCsv, DamagedRowsAreToldApart) {
  const auto result = read(std::string(kPhilly) +
                               "1,0,CLOS,1,1,60\n2,nan,CLOS,1,1,60\n3,-5,CLOS,1,1,60\n"
                               "4,1,CLOS,1,1,-60\n5,1,CLOS,1,one,60\n6,1,CLOS,1,1,1e300\n"
                               "7,1,CLOS,1,1,\n8,1,CLOS,1,1\n,1,CLOS,1,1,60\n9,2,CLOS,1,1,inf\n",
                           "philly-csv");
  EXPECT_EQ(result.trace.jobs.size(), 1U);
  EXPECT_EQ(rejected_for(result, "missing value"), 3U);
  EXPECT_EQ(rejected_for(result, "negative time"), 2U);
  EXPECT_EQ(rejected_for(result, "not a number of GPUs"), 1U);
  EXPECT_EQ(rejected_for(result, "out of range"), 1U);
  EXPECT_EQ(rejected_for(result, "wrong number of fields"), 1U);
  EXPECT_EQ(rejected_for(result, "not a number"), 1U);
}

TEST(PhillyCsv, DamagedFilesAreRefused) {
  EXPECT_NE(
      refusal("#job id,arrival time (sec),duration (sec)\n1,0,60\n", "philly-csv").find("size"),
      std::string::npos);
  EXPECT_NE(
      refusal("#job id,arrival time (sec),size,size,duration (sec)\n", "philly-csv").find("twice"),
      std::string::npos);
  EXPECT_NE(refusal("#job id;arrival time (sec);size;duration (sec)\n1;0;1;60,5\n", "philly-csv")
                .find("separator"),
            std::string::npos);
  EXPECT_NE(refusal(kPhilly, "philly-csv").find("no job"), std::string::npos);
  EXPECT_NE(refusal("\n\n", "philly-csv").find("header"), std::string::npos);
  EXPECT_NE(refusal(std::string("\xff\xfe") + "x", "philly-csv").find("UTF-16"), std::string::npos);
}

TEST(PhillyCsv, RowsAreSortedAndTiesKeepTheirOrder) {
  const auto result =
      read(std::string(kPhilly) + "b,70,C,1,1,1\na,50,C,1,1,1\nc,50,C,1,1,1\n", "auto");
  ASSERT_EQ(result.trace.jobs.size(), 3U);
  EXPECT_EQ(result.trace.jobs[0].id, "a");
  EXPECT_EQ(result.trace.jobs[1].id, "c");
  EXPECT_EQ(result.trace.jobs[0].arrival_us, 0);
  EXPECT_EQ(result.trace.jobs[2].arrival_us, 20 * kUsPerS);
  EXPECT_EQ(result.trace.zero_us, 50 * kUsPerS);
}

TEST(PhillyCsv, ManyRowsInAnyOrder) {
  constexpr std::size_t kJobs = 100'000;  // more than room is made for at once
  Rng rng(11);
  std::string text(kPhilly);
  std::vector<std::pair<std::uint64_t, std::size_t>> expected;
  for (std::size_t i = 0; i < kJobs; ++i) {
    expected.emplace_back(rng.below(kJobs / 4), i);
    text += std::to_string(i) + "," + std::to_string(expected.back().first) + ",CLOS,1,1,60\n";
  }
  std::sort(expected.begin(), expected.end());
  const auto result = read(text, "philly-csv");
  ASSERT_EQ(result.trace.jobs.size(), kJobs);
  const std::uint64_t first_s = expected.front().first;
  for (std::size_t i = 0; i < kJobs; ++i) {
    ASSERT_EQ(result.trace.jobs[i].id, std::to_string(expected[i].second)) << i;
    ASSERT_EQ(result.trace.jobs[i].arrival_us,
              static_cast<TimeUs>(expected[i].first - first_s) * kUsPerS);
  }
}

TEST(PhillyCsv, CommentsAndRepeatedHeadersAreCounted) {
  const auto result =
      read("# made by hand\n" + std::string(kPhilly) + "1,0,C,1,1,60\n#2,0,C,1,1,60\n\n" +
               std::string(kPhilly) + "3,0,C,1,1,60\n",
           "philly-csv");
  EXPECT_EQ(result.trace.jobs.size(), 2U);
  EXPECT_EQ(result.report.rejected(), 0U);
  EXPECT_EQ(result.report.counts().at("comment lines"), 1U);
  EXPECT_EQ(result.report.counts().at("repeated header lines"), 1U);
  EXPECT_EQ(result.report.counts().at("blank lines"), 1U);
}

TEST(PhillyCsv, TheMarkOfTheHeaderAnywhere) {
  for (const char* const header : {"\"#job id\",arrival time (sec),size,duration (sec)",
                                   "\"# job id\",arrival time (sec),size,duration (sec)"}) {
    const auto result = read(std::string(header) + "\n\"1\",0,2,60\n", "auto");
    ASSERT_EQ(result.trace.jobs.size(), 1U) << header;
    EXPECT_EQ(result.trace.format, "philly-csv");
  }
  const auto moved = read("size,#job id,arrival time (sec),duration (sec)\n2,1,0,60\n", "auto");
  ASSERT_EQ(moved.trace.jobs.size(), 1U);
  EXPECT_EQ(moved.trace.jobs[0].gpu_milli, 2000);
  EXPECT_NE(
      refusal("#job id,arrival time (sec),size,duration (sec),#job id\n1,0,1,9,1\n", "philly-csv"),
      "not refused");
}

TEST(ReadTrace, BlankLinesFirst) {
  const auto own = read("\n \nid,arrival_s,gpus,duration_s\na,0,1,60\n", "auto");
  EXPECT_EQ(own.trace.format, "berth");
  EXPECT_EQ(own.trace.jobs.size(), 1U);
  const auto sacct = read(
      "\r\n\r\nJobID|Submit|Start|End|Elapsed|AllocTRES\r\n"
      "7|2026-03-02T01:00:00|2026-03-02T01:00:10|2026-03-02T01:10:10|00:10:00|gres/gpu=2\r\n"
      "7.batch|2026-03-02T01:00:00|2026-03-02T01:00:10|2026-03-02T01:10:10|00:10:00|gres/gpu=2\r\n",
      "auto");
  EXPECT_EQ(sacct.trace.format, "sacct");
  EXPECT_EQ(sacct.trace.jobs.size(), 1U);
}

TEST(PhillyCsv, IsRecognisedBehindAComment) {
  const auto result =
      read("# made by hand\n\n" + std::string(kPhilly) + "1,0,CLOS,1,1,60\n", "auto");
  EXPECT_EQ(result.trace.format, "philly-csv");
  EXPECT_EQ(result.trace.jobs.size(), 1U);
}

TEST(PhillyCsv, OldMacLineEnds) {
  const auto result =
      read("#job id,arrival time (sec),size,duration (sec)\r1,0,1,60\r2,5,2,70", "auto");
  EXPECT_EQ(result.trace.jobs.size(), 2U);
}

std::string philly_job(std::string_view id, std::string_view attempts) {
  return R"({"jobid": ")" + std::string(id) + R"(", "status": "Pass", "vc": "v", "user": "u",)" +
         R"("submitted_time": "2017-10-03 08:00:00", "attempts": )" + std::string(attempts) + "}";
}

TEST(PhillyJson, AttemptsAreToldApart) {
  const std::string whole =
      R"({"start_time": "2017-10-03 08:10:00", "end_time": "2017-10-03 08:20:00", "detail": [{"ip": "m1", "gpus": ["g0", "g1"]}]})";
  const std::string open =
      R"({"start_time": "2017-10-03 09:00:00", "end_time": null, "detail": []})";
  const std::string reversed =
      R"({"start_time": "2017-10-03 09:00:00", "end_time": "2017-10-03 08:00:00", "detail": []})";
  const std::string lost = R"({"start_time": null, "end_time": null, "detail": []})";
  const std::string text = "[" + philly_job("a", "[" + whole + "]") + "," +
                           philly_job("b", "[" + whole + "," + open + "]") + "," +
                           philly_job("c", "[" + reversed + "]") + "," +
                           philly_job("d", "[" + lost + "]") + "," + philly_job("e", "null") + "," +
                           philly_job("f", "[" + whole + "," + whole + "]") + "]";
  const auto result = read(text, "auto");
  ASSERT_EQ(result.trace.jobs.size(), 2U);
  EXPECT_EQ(result.trace.jobs[0].gpu_milli, MaybeInt(2000));
  EXPECT_EQ(result.trace.jobs[0].queue_us, MaybeInt(10 * kUsPerMin));
  EXPECT_EQ(result.trace.jobs[1].duration_us, MaybeInt(20 * kUsPerMin));
  EXPECT_EQ(result.trace.jobs[1].attempts, 2U);
  EXPECT_EQ(rejected_for(result, "still running"), 1U);
  EXPECT_EQ(rejected_for(result, "end before start"), 1U);
  EXPECT_EQ(rejected_for(result, "no whole attempt"), 1U);
  EXPECT_EQ(rejected_for(result, "no attempts"), 1U);
}

TEST(PhillyJson, TheDoubledHourOfNovember) {
  const auto result =
      read("[" +
               philly_job(
                   "a", R"([{"start_time": "2017-11-05 01:50:00", "end_time": "2017-11-05 01:10:00",
                                 "detail": [{"ip": "m1", "gpus": ["g0"]}]}])") +
               "]",
           "auto");
  ASSERT_EQ(result.trace.jobs.size(), 1U);
  EXPECT_EQ(result.trace.jobs[0].duration_us, MaybeInt(20 * kUsPerMin));
  EXPECT_EQ(warned_for(result, "clock went back during an attempt"), 1U);
}

TEST(PhillyJson, BrokenListsAreRefused) {
  const std::string job = philly_job("a", "[]");
  for (const std::string& text :
       {std::string("["), "[" + job, "[" + job + ",]", "[" + job + job + "]", "[" + job + "] x",
        "[" + job.substr(0, job.size() - 3), std::string("[1, 2]"), std::string("{\"jobid\": }")}) {
    EXPECT_NE(refusal(text, "philly-json"), "not refused") << text;
  }
  EXPECT_NE(refusal("[]", "philly-json").find("no job"), std::string::npos);
  EXPECT_NE(refusal("{\"jobs\": [" + job + "]}", "philly-json").find("jobid"), std::string::npos);
}

TEST(PhillyJson, ADamagedElementDoesNotSpoilTheList) {
  const std::string whole =
      R"([{"start_time": "2017-10-03 08:10:00", "end_time": "2017-10-03 08:20:00", "detail": [{"ip": "m1", "gpus": ["g0"]}]}])";
  for (const std::string element :
       {"null", "7", "\"a, b]\"", "[1, 2]", "true", R"({"jobid": "half \ud800"})",
        R"({"jobid": "b", "x": 1e999})", R"({"jobid": "b\x"})", "{\"jobid\": \"line\nend\"}"}) {
    const auto result =
        read("[" + philly_job("a", whole) + ", " + element + " ," + philly_job("c", whole) + "]",
             "auto");
    EXPECT_EQ(result.trace.jobs.size(), 2U) << element;
    EXPECT_EQ(result.report.rejected(), 1U) << element;
  }
}

TEST(PhillyJson, OnlyDamagedElementsAreRefusedForTheirDamage) {
  EXPECT_NE(refusal(R"([{"jobid": "half \ud800"}])", "philly-json").find("half"),
            std::string::npos);
  EXPECT_NE(refusal("[null, null]", "philly-json").find("'null'"), std::string::npos);
  EXPECT_NE(refusal(R"([{"name": "a"}])", "philly-json").find("no object has this key"),
            std::string::npos);
}

TEST(PhillyJson, NanIsNothing) {
  const auto result = read("[" + philly_job("a", "NaN") + "]", "philly-json");
  EXPECT_EQ(rejected_for(result, "no attempts"), 1U);
}

constexpr std::string_view kHelios =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
    "queue\n";

TEST(Helios, ThreeReasonsAreKeptApart) {
  const auto result = read(
      std::string(kHelios) +
          "1,u,v,1,4,1,COMPLETED,2020-05-03 00:00:00,2020-05-03 00:00:05,2020-05-03 00:01:05,60,5\n"
          "2,u,v,1,4,1,CANCELLED,2020-05-03 00:00:00,,2020-05-03 00:01:00,,\n"
          "3,u,v,1,4,1,RUNNING,2020-05-03 00:00:00,2020-05-03 00:00:00,,,\n"
          "4,u,v,1,4,1,FAILED,2020-05-03 00:00:00,2020-05-03 00:02:00,2020-05-03 00:01:00,-60,\n"
          "5,u,v,1,4,1,ODD,2020-05-03 00:00:00,2020-05-03 00:00:00,2020-05-03 00:01:00,60,0\n"
          "6,u,v,1,4,1,FAILED,2020-05-03 00:00:09,2020-05-03 00:00:00,2020-05-03 00:01:00,60,-9\n"
          "7,u,v,1,4,1,FAILED,2020-13-03 00:00:09,2020-05-03 00:00:00,2020-05-03 00:01:00,60,0\n",
      "auto");
  EXPECT_EQ(result.trace.format, "helios");
  EXPECT_EQ(result.trace.jobs.size(), 3U);
  EXPECT_EQ(rejected_for(result, "never started"), 1U);
  EXPECT_EQ(rejected_for(result, "still running"), 1U);
  EXPECT_EQ(rejected_for(result, "end before start"), 1U);
  EXPECT_EQ(rejected_for(result, "not a date and time"), 1U);
  EXPECT_EQ(warned_for(result, "unknown state"), 1U);
  EXPECT_EQ(warned_for(result, "start before submission"), 1U);
}

TEST(Acme, MemoryIsOfTheWholeJob) {
  const auto result = read(
      "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,type,state,submit_time,start_time,end_"
      "time\n"
      "a,u,4,32,480,1000,SFT,COMPLETED,2023-06-01 10:00:00+00:00,2023-06-01 "
      "10:05:00+00:00,2023-06-01 10:15:00+00:00\n",
      "auto");
  EXPECT_EQ(result.trace.format, "acme");
  ASSERT_EQ(result.trace.jobs.size(), 1U);
  EXPECT_EQ(result.trace.jobs[0].memory_mib, MaybeInt(4'096'000));
  EXPECT_EQ(result.trace.jobs[0].name, "SFT");
}

TEST(Gavel, TheFourLayouts) {
  const std::string seven = "A3C\tcmd\t-n\t0\t600\t30.5\t2\n";
  const std::string nine = "A3C\tcmd\t-n\t0\t600\t2\t5.0\t1.2\t30.5\n";
  const std::string ten = "A3C\tcmd\twd\t-n\t0\t600\t2\t5.0\t1.2\t30.5\n";
  const std::string twelve = "A3C\tcmd\twd\t-n\t0\t600\t2\tstatic\t5.0\t1.2\t99.5\t30.5\n";
  for (const std::string& text : {seven, nine, ten, twelve}) {
    SCOPED_TRACE(text);
    const auto result = read(text, "auto");
    ASSERT_EQ(result.trace.jobs.size(), 1U);
    const TraceJob& job = result.trace.jobs[0];
    EXPECT_EQ(result.trace.models.name(job.model), "A3C");
    EXPECT_EQ(job.iterations, MaybeInt(600));
    EXPECT_EQ(job.gpu_milli, MaybeInt(2000));
    EXPECT_EQ(result.trace.zero_us, 30'500'000);
    EXPECT_EQ(job.weight_milli, text == seven ? 1000 : 5000);
    EXPECT_EQ(job.duration_us.known(), text == twelve);
  }
  EXPECT_NE(refusal("A3C\tcmd\t-n\n", "gavel").find("7, 9, 10 or 12"), std::string::npos);
}

TEST(Swf, UnknownsAreMinusOne) {
  const auto result = read(
      "; Version: 2.2\n"
      "1 0 -1 50 4 -1 -1 8 100 2048 1 3 1 -1 1 -1 -1 -1\n"
      "2 1 5 -1 4 -1 -1 4 -1 -1 5 3 1 -1 1 -1 -1 -1\n"
      "3 2 5 -1 4 -1 -1 4 -1 -1 0 3 1 -1 1 -1 -1 -1\n"
      "1 0 -1 25 4 -1 -1 8 100 2048 2 3 1 -1 1 -1 -1 -1\n"
      "4 3 0 50 4\n",
      "auto");
  EXPECT_EQ(result.trace.format, "swf");
  ASSERT_EQ(result.trace.jobs.size(), 1U);
  const TraceJob& job = result.trace.jobs[0];
  EXPECT_FALSE(job.queue_us.known());
  EXPECT_EQ(job.gpu_milli, MaybeInt(4000));
  EXPECT_EQ(job.memory_mib, MaybeInt(8));
  EXPECT_EQ(job.time_limit_us, MaybeInt(100 * kUsPerS));
  EXPECT_EQ(rejected_for(result, "never started"), 1U);
  EXPECT_EQ(rejected_for(result, "run time unknown"), 1U);
  EXPECT_EQ(rejected_for(result, "wrong number of fields"), 1U);
  EXPECT_EQ(result.report.counts().at("partial executions"), 1U);
}

TEST(Berth, EitherClockWillDo) {
  const auto dates =
      read("gpus,submitted_utc\n2,2024-03-01T00:00:10Z\n1,2024-03-01T01:00:00+01:00\n", "auto");
  EXPECT_EQ(dates.trace.format, "berth");
  ASSERT_EQ(dates.trace.jobs.size(), 2U);
  EXPECT_TRUE(dates.trace.zero_is_unix_time);
  EXPECT_EQ(dates.trace.jobs[1].arrival_us, 10 * kUsPerS);
  const auto both = read(
      "id,arrival_s,submitted_utc,gpus\na,5,2024-03-01T00:00:05Z,1\nb,6,2024-03-01T00:00:07Z,1\n",
      "auto");
  EXPECT_EQ(both.trace.jobs[1].arrival_us, kUsPerS);
  EXPECT_EQ(warned_for(both, "submitted_utc contradicts arrival_s"), 1U);
  EXPECT_NE(refusal("id,gpus\na,1\n", "berth").find("arrival_s"), std::string::npos);
}

TEST(ReadTrace, AnotherFormatIsRefusedByAll) {
  for (const std::string_view format : trace_formats()) {
    const std::string text =
        refusal("# Some notes\n\nNot a trace, only words.\n", std::string(format));
    EXPECT_NE(text, "not refused") << format;
  }
  EXPECT_NE(refusal("# Some notes\n", "auto").find("not recognised"), std::string::npos);
}

}  // namespace
}  // namespace berth::trace
