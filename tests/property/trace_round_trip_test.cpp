// Random traces written in Berth's own format read back equal, whatever the texts and figures are.
#include "support/trace_round_trip.h"

#include <gtest/gtest.h>

#include "base/datetime.h"
#include "base/random.h"
#include "trace/values.h"

namespace berth::trace {
namespace {

constexpr int kTraces = 300;

std::string random_text(Rng& rng) {
  static constexpr std::string_view kCharacters = "ab,\"'\\\n\r\t #;|=\xc3\xa4\x01\xff-0N";
  std::string text;
  const std::uint64_t size = rng.below(12);
  for (std::uint64_t i = 0; i < size; ++i) text += kCharacters[rng.below(kCharacters.size())];
  return rng.chance(0.1) ? "null" : text;
}

MaybeInt maybe(Rng& rng, std::int64_t most) {
  if (rng.chance(0.3)) return {};
  return rng.chance(0.2) ? MaybeInt(most) : MaybeInt(rng.uniform_int(0, most));
}

MaybeInt random_gpus(Rng& rng) {
  if (rng.chance(0.1)) return {};
  if (rng.chance(0.3)) return rng.uniform_int(0, 1000);
  return rng.uniform_int(0, kMaxCount * 1000);
}

TraceJob random_job(Rng& rng, Trace& trace, std::size_t index) {
  TraceJob job;
  job.id = trace.strings.keep(std::to_string(index) + random_text(rng));
  job.name = trace.strings.keep(random_text(rng));
  job.duration_us = maybe(rng, kMaxDurationUs);
  job.queue_us = maybe(rng, kMaxDurationUs);
  job.gpu_milli = random_gpus(rng);
  job.nodes = maybe(rng, 1'000'000);
  job.cpu_milli = maybe(rng, kMaxCount * 1000);
  job.memory_mib = maybe(rng, kMaxIterations);
  job.time_limit_us = maybe(rng, kMaxDurationUs);
  job.deadline_us = maybe(rng, kMaxDurationUs);
  job.iterations = maybe(rng, kMaxIterations);
  job.slo_milli = maybe(rng, 2'000'000'000);
  job.user = trace.users.index_of(random_text(rng));
  job.vc = trace.vcs.index_of(random_text(rng));
  job.model = trace.models.index_of(random_text(rng));
  job.gpu_types = trace.gpu_types.index_of(random_text(rng));
  job.priority = static_cast<std::int32_t>(rng.uniform_int(INT32_MIN, INT32_MAX));
  job.weight_milli = static_cast<std::int32_t>(rng.uniform_int(0, 2'000'000'000));
  job.attempts = static_cast<std::uint32_t>(rng.uniform_int(1, UINT32_MAX));
  job.status = static_cast<EndStatus>(rng.below(7));
  job.mig_slice = rng.chance(0.2);
  job.shards = !job.mig_slice && rng.chance(0.2);
  return job;
}

Trace random_trace(Rng& rng) {
  Trace trace;
  trace.zero_is_unix_time = rng.chance(0.5);
  trace.zero_us = trace.zero_is_unix_time ? rng.uniform_int(kFirstInstantUs, 2 * kFirstInstantUs)
                                          : rng.uniform_int(0, kMaxArrivalUs / 2);
  TimeUs arrival = 0;
  const std::uint64_t jobs = 1 + rng.below(40);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    TraceJob job = random_job(rng, trace, i);
    job.arrival_us = arrival;
    trace.jobs.push_back(job);
    if (rng.chance(0.7)) arrival += rng.uniform_int(0, 1000 * kUsPerHour);
  }
  return trace;
}

TEST(TraceRoundTrip, LosesNothing) {
  Rng rng(20240229);
  for (int i = 0; i < kTraces; ++i) {
    const Trace trace = random_trace(rng);
    const std::string text = test::written(trace);
    const auto again = read_trace_bytes(text, i % 2 == 0 ? "berth" : "auto");
    ASSERT_TRUE(again) << again.error().text() << "\n" << text;
    ASSERT_EQ(again->report.rejected(), 0U) << again->report.rejected_notes().front().reason << "\n"
                                            << text;
    ASSERT_EQ(test::difference(trace, again->trace), "") << text;
    ASSERT_EQ(test::written(again->trace), text) << "a second time must give the same bytes";
  }
}

}  // namespace
}  // namespace berth::trace
