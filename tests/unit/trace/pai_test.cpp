// Alibaba's PAI tables, beyond the files in tests/cases.
#include <gtest/gtest.h>

#include "trace/formats/pai_tables.h"
#include "trace/reader.h"

namespace berth::trace {
namespace {

ReadResult read(std::string_view jobs, std::string_view tasks) {
  ReadResult result;
  auto job_table = Input::from_memory("jobs", jobs);
  auto task_table = Input::from_memory("tasks", tasks);
  EXPECT_TRUE(job_table && task_table);
  ReadContext context{"folder", nullptr, result.trace, result.report};
  const std::string job_header = "job_name,inst_id,user,status,start_time,end_time";
  const std::string task_header =
      "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type";
  EXPECT_TRUE(read_pai_tables(context, {&*job_table, job_header}, {&*task_table, task_header}));
  return result;
}

constexpr std::string_view kJob = "a,i,u,Terminated,100,200\n";

TEST(Pai, NoProductOfInstancesOverflows) {
  for (const std::string_view plan : {"600,29,1e12", "1e12,29,100", "600,1e9,100"}) {
    const auto result =
        read(kJob, "a,w,1000000,Terminated,110,200," + std::string(plan) + ",V100\n");
    EXPECT_TRUE(result.trace.jobs.empty()) << plan;
    EXPECT_EQ(result.report.rejected_by_reason().at("out of range"), 1U) << plan;
  }
}

TEST(Pai, ATaskThatIsThereTwiceCountsOnce) {
  const std::string worker = "a,worker,2,Terminated,110,200,600,29,100,V100\n";
  const std::string ps = "a,ps,1,Terminated,110,190,600,29,,CPU\n";
  const auto result = read(kJob, worker + ps + worker);
  ASSERT_EQ(result.trace.jobs.size(), 1U);
  EXPECT_EQ(result.trace.jobs[0].gpu_milli, MaybeInt(2000));
  EXPECT_EQ(result.report.rejected_by_reason().at("a task is there twice"), 1U);
}

TEST(Pai, ATaskWithoutInstancesIsNotATaskWithoutGpus) {
  const auto result = read(kJob, "a,w,0,Terminated,110,200,600,29,100,V100\n");
  EXPECT_TRUE(result.trace.jobs.empty());
  ASSERT_FALSE(result.report.warned_notes().empty());
  EXPECT_EQ(result.report.warned_notes().front().field, "inst_num");
}

TEST(Pai, TheFieldAtFaultIsNamed) {
  const auto result = read(kJob, "a,w,1,Terminated,110,200,600,29,much,V100\n");
  ASSERT_FALSE(result.report.warned_notes().empty());
  EXPECT_EQ(result.report.warned_notes().front().field, "plan_gpu");
  EXPECT_EQ(result.report.warned_notes().front().found, "'much'");
}

}  // namespace
}  // namespace berth::trace
