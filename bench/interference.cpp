// What a scheduler pays for a prediction: cold, and from the cache.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "interference/rate_model.h"

namespace berth::interference {
namespace {

constexpr int kJobs = 23;  // 529 rows of 12 features

Dataset make_data() {
  Rng rng(1);
  std::vector<std::array<double, 6>> jobs(kJobs);
  for (auto& job : jobs) {
    for (double& value : job) value = rng.uniform(1, 100);
  }
  std::string csv = "device,subject,corunners";
  for (const char* side : {"solo", "co"}) {
    for (int f = 0; f < 6; ++f) csv += fmt::format(",{}.p{}", side, f);
  }
  csv += ",interference_rate\n";
  for (int a = 0; a < kJobs; ++a) {
    for (int b = 0; b < kJobs; ++b) {
      csv += fmt::format("gpu,j{},j{},{},{},{}\n", a, b, fmt::join(jobs[a], ","),
                         fmt::join(jobs[b], ","),
                         0.00008 * jobs[a][0] * jobs[b][1] + rng.uniform(0, 0.05));
    }
  }
  auto parsed = parse_dataset("bench.csv", csv);
  return std::move(parsed->data);
}

void cold_prediction(benchmark::State& state, FoldKind kind) {
  const Dataset data = make_data();
  const auto set = TrainingSet::make(data, Mode::kSolo);
  const auto model = RateModel::fit(*set, kind, Rng(1));
  std::size_t i = 0;
  for (auto _ : state) {
    const Row& row = data.rows[i++ % data.rows.size()];
    const auto raw = set->map.compose(data, row);
    benchmark::DoNotOptimize(model->ensemble().predict(raw, row.subject, row.corunners));
  }
  state.SetLabel(model->ensemble().name());
}
BENCHMARK_CAPTURE(cold_prediction, new_pair, FoldKind::kPair);
BENCHMARK_CAPTURE(cold_prediction, new_job, FoldKind::kJob);

void cached_prediction(benchmark::State& state) {
  PredictionCache cache;
  std::vector<std::array<JobIndex, 1>> beside;
  for (JobIndex i = 0; i < 100; ++i) beside.push_back({i});
  for (JobIndex s = 0; s < 100; ++s) {
    for (const auto& set : beside) cache.put(0, s, set, {0.5, 0.4, 0.6});
  }
  std::uint64_t i = 0;
  for (auto _ : state) {
    i += 7919;
    benchmark::DoNotOptimize(cache.find(0, static_cast<JobIndex>(i % 100), beside[i / 100 % 100]));
  }
}
BENCHMARK(cached_prediction);

}  // namespace
}  // namespace berth::interference
