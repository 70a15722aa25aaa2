#include "trace/slurm_values.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace berth::trace {
namespace {

// Seconds, -1 for unknown, -2 for a fault.
double duration_s(std::string_view text) {
  MaybeInt out;
  if (parse_slurm_duration(text, out) != nullptr) return -2;
  return out.known() ? seconds(out.value()) : -1;
}

TEST(SlurmDuration, EveryForm) {
  EXPECT_EQ(duration_s("00:10:00"), 600);
  EXPECT_EQ(duration_s("10:00"), 600);
  EXPECT_EQ(duration_s("00:05.250"), 5.25);
  EXPECT_EQ(duration_s("1-00:00:00"), 86400);
  EXPECT_EQ(duration_s("12-03:04:05.5"), 12 * 86400 + 3 * 3600 + 4 * 60 + 5.5);
  EXPECT_EQ(duration_s("2-12"), 2 * 86400 + 12 * 3600);
  EXPECT_EQ(duration_s("2-12:30"), 2 * 86400 + 12 * 3600 + 1800);
  EXPECT_EQ(duration_s("30:00:00"), 30 * 3600);
  EXPECT_EQ(duration_s("00:00:00"), 0);
  EXPECT_EQ(duration_s(""), -1);
  EXPECT_EQ(duration_s("Unknown"), -1);
}

TEST(SlurmDuration, RefusesTheRest) {
  for (const char* text : {"90", "00:60:00", "00:00:61", "1-24:00:00", "-1:00", "1-", "a:b:c",
                           "::", "00:10:", "1:2:3:4", "00:00:01.", "INVALID",
                           "99999999999-00:00:00", "1-1-1:00", "+1:00"}) {
    EXPECT_EQ(duration_s(text), -2) << text;
  }
}

TEST(SlurmLimit, MinutesAndUnlimited) {
  MaybeInt out;
  EXPECT_EQ(parse_slurm_limit("90", out), nullptr);
  EXPECT_EQ(out, MaybeInt(90 * kUsPerMin));
  out = {};
  EXPECT_EQ(parse_slurm_limit("UNLIMITED", out), nullptr);
  EXPECT_EQ(parse_slurm_limit("Partition_Limit", out), nullptr);
  EXPECT_FALSE(out.known());
}

TEST(SlurmTime, OffsetsAndEpochAreOneInstant) {
  for (const char* text : {"2026-03-01T23:30:00", "2026-03-02T00:30:00+0100",
                           "2026-03-02T00:30:00+01:00", "1772407800"}) {
    MaybeInt out;
    EXPECT_EQ(parse_slurm_time(text, out), nullptr) << text;
    EXPECT_EQ(out, MaybeInt(1'772'407'800 * kUsPerS)) << text;
  }
  MaybeInt out;
  EXPECT_NE(parse_slurm_time("99999999999", out), nullptr);
  EXPECT_NE(parse_slurm_time("Mon 12:00", out), nullptr);
}

TEST(SlurmMemory, Suffixes) {
  const auto mib = [](std::string_view text) {
    MaybeInt out;
    return parse_slurm_memory(text, out) == nullptr ? out.value_or(-1) : -2;
  };
  EXPECT_EQ(mib("64G"), 65'536);
  EXPECT_EQ(mib("1.5T"), 1'572'864);
  EXPECT_EQ(mib("4000M"), 4000);
  EXPECT_EQ(mib("4000"), 4000);
  EXPECT_EQ(mib("512K"), 1);
  EXPECT_EQ(mib("x"), -2);
  EXPECT_EQ(mib("-1G"), -2);
  EXPECT_EQ(mib("1e300P"), -2);
}

TEST(SlurmJobId, Kinds) {
  EXPECT_EQ(parse_slurm_job_id("511")->job, "511");
  EXPECT_FALSE(parse_slurm_job_id("511")->step);
  EXPECT_TRUE(parse_slurm_job_id("511.batch")->step);
  EXPECT_TRUE(parse_slurm_job_id("511.0")->step);
  EXPECT_TRUE(parse_slurm_job_id("511_3.extern")->step);
  EXPECT_TRUE(parse_slurm_job_id("45+0.0+1")->step);
  EXPECT_EQ(parse_slurm_job_id("511_3")->group, "511_3");
  EXPECT_TRUE(parse_slurm_job_id("511_[3-9%2]")->waiting_array);
  EXPECT_TRUE(parse_slurm_job_id("45+1")->component);
  EXPECT_EQ(parse_slurm_job_id("45+1")->group, "45");
  for (const char* text : {"", "x", "511.", "511_", "511+", "511_x", ".batch", "5 1", "511_3_4"}) {
    EXPECT_FALSE(parse_slurm_job_id(text)) << text;
  }
}

struct Tres {
  std::int64_t gpus;
  std::string types;
  bool mig;
  std::int64_t shards;
};

Tres tres(std::string_view text) {
  SlurmResources out;
  EXPECT_EQ(parse_slurm_tres(text, out), nullptr) << text;
  return {out.gpus(), out.types(), out.only_mig_slices(), out.shards()};
}

TEST(SlurmTres, TypedAndUntypedGpusAreCountedOnce) {
  EXPECT_EQ(tres("cpu=16,gres/gpu:a100=2,gres/gpu=2,mem=128G").gpus, 2);
  EXPECT_EQ(tres("gres/gpu=3,gres/gpu:a100=2,gres/gpu:v100=1").gpus, 3);
  EXPECT_EQ(tres("gres/gpu:a100=2,gres/gpu:v100=1").types, "a100|v100");
  EXPECT_EQ(tres("gres/gpu:a100=2,gres/gpu:v100=1").gpus, 3);
  EXPECT_EQ(tres("cpu=4,gres/gpumem=40G,gres/gpuutil=97,gres/gpu=1").gpus, 1);
  EXPECT_EQ(tres("billing=4,cpu=4,mem=1G,node=1").gpus, 0);
  EXPECT_TRUE(tres("gres/gpu:1g.5gb=1,gres/gpu=1").mig);
  EXPECT_TRUE(tres("gres/gpu:a100_3g.40gb=1").mig);
  EXPECT_FALSE(tres("gres/gpu:a100-sxm4-80gb=1").mig);
  EXPECT_EQ(tres("gres/shard=2").shards, 2);
  EXPECT_EQ(tres("gres/shard=3,gres/shard:g1=3").shards, 3);
}

TEST(SlurmTres, RefusesWhatCannotBeUnderstood) {
  for (const char* text :
       {"cpu", "gres/gpu=x", "gres/gpu=-1", "1=8,1001=2", "mem=lots", "gres/gpu=999999999999"}) {
    SlurmResources out;
    EXPECT_NE(parse_slurm_tres(text, out), nullptr) << text;
  }
}

TEST(SlurmGres, Forms) {
  const auto gpus = [](std::string_view text) {
    SlurmResources out;
    EXPECT_EQ(parse_slurm_gres(text, out), nullptr) << text;
    return out.gpus();
  };
  EXPECT_EQ(gpus("gpu:2"), 2);
  EXPECT_EQ(gpus("gpu:a100:4(S:0-1)"), 4);
  EXPECT_EQ(gpus("gpu:a100:2(IDX:0,3),shard:16"), 2);
  EXPECT_EQ(gpus("gres:gpu:1"), 1);
  EXPECT_EQ(gpus("gpu"), 1);
  EXPECT_EQ(gpus("gpu:tesla"), 1);
  EXPECT_EQ(gpus("(null)"), 0);
  EXPECT_EQ(gpus("mps:100,craynetwork:4"), 0);
}

}  // namespace
}  // namespace berth::trace
