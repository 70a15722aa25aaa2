#include "engine/presets/paper.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string_view>
#include <vector>

#include "engine/presets/arrivals.h"
#include "engine/presets/training_jobs.h"

namespace berth {
namespace {

using presets::CurveShape;
using presets::GraphShape;

constexpr TimeUs kWeek = 7 * kUsPerDay;
constexpr TimeUs kLongestAlone = 24 * kUsPerHour;  // before scaling
constexpr TimeUs kShortestAlone = kUsPerS;
constexpr std::size_t kManyGpus = 500;  // more of them: the simulated cluster of the paper
constexpr std::uint32_t kMostGpus = 32;
constexpr TimeUs kLeastIteration = 4 * kUsPerS;
constexpr TimeUs kMostIteration = 40 * kUsPerS;
constexpr presets::ByteRange kExchangeBytes = {50'000'000, 100'000'000};

enum class Cut : std::uint8_t { kChain, kLayers, kReplicas };

struct PaperModel {
  std::string_view name;
  Cut cut;
  std::int64_t parameters;
  std::array<const CurveShape*, 2> curves;  // one of these
};
// Parameters: Krizhevsky et al. 2012; He et al. 2016 (ResNet-50); Ciresan et al. 2010 (their
// largest); Zaremba et al. 2014 (large); a linear SVM of 103 classes over RCV1's 47,236 features.
constexpr PaperModel kModels[] = {
    {"AlexNet", Cut::kChain, 61'000'000, {&presets::kCifar10, &presets::kImageNet}},
    {"ResNet", Cut::kLayers, 25'600'000, {&presets::kImageNet, &presets::kWideResNet}},
    {"MLP", Cut::kChain, 12'100'000, {&presets::kMovieLens, &presets::kCifar10}},
    {"LSTM", Cut::kLayers, 66'000'000, {&presets::kDeepSpeech2, &presets::kMovieLens}},
    {"SVM", Cut::kReplicas, 4'865'000, {&presets::kMovieLens, &presets::kWideResNet}},
};

// Tasks in a layer: as many as one server of the paper's cluster has GPUs.
constexpr std::uint32_t kWidestLayer = 4;

GraphShape shape_of(Cut cut, std::uint32_t gpus) {
  switch (cut) {
    case Cut::kChain:
      return {.layers = gpus, .width = 1};
    case Cut::kLayers: {
      const std::uint32_t width = std::min(kWidestLayer, 1U << (std::bit_width(gpus) / 2));
      return {.layers = gpus / width, .width = width};
    }
    case Cut::kReplicas:
      break;
  }
  return {};
}

// The nearest of 1, 2, 4, 8, 16, 32: a count is as far from two of them where it is sqrt(2) times
// the smaller.
std::uint32_t nearest_power(std::int64_t gpu_milli) {
  std::uint32_t gpus = 1;
  while (gpus<kMostGpus&& static_cast<double>(gpu_milli)> 1.4142135623730951 * kWholeGpuMilli *
         gpus) {
    gpus *= 2;
  }
  return gpus;
}

std::string_view unusable_because(const trace::TraceJob& job, GpuCounts gpus) {
  if (!job.duration_us.known()) return "duration unknown";
  if (job.arrival_us > kLongestRun) return "longer than 100 years";
  if (job.gpu_milli.known() && job.gpu_milli.value() == 0) return "no GPU: not a training job";
  if (gpus == GpuCounts::kTrace && !job.gpu_milli.known()) return "GPU count unknown";
  return {};
}

class PaperWorkload {
 public:
  PaperWorkload(const trace::Trace& trace, const Cluster& cluster, Sharing sharing,
                const PresetSettings& settings, std::uint64_t seed)
      : trace_(trace),
        settings_(settings),
        large_(settings.span.value_or(cluster.gpus() > kManyGpus
                                          ? PaperSpan::kLarge
                                          : PaperSpan::kReal) == PaperSpan::kLarge),
        root_(presets::workload_rng(seed)),
        kinds_(root_, "kind"),
        builder_(out_, cluster, sharing, settings_, root_) {}

  Result<Workload> build(trace::RejectReport& report) {
    const std::vector<std::uint32_t> usable = usable_jobs(report);
    if (usable.empty()) return fail(no_usable_job(trace_, out_.unusable));
    presets::copy_names(trace_, out_.trace);
    take_jobs(usable);
    for (const PaperModel& model : kModels) model_ids_.push_back(keep_model(model.name));
    const std::uint64_t tasks = std::accumulate(gpus_.begin(), gpus_.end(), std::uint64_t{0});
    builder_.reserve(arrivals_.size(), tasks + arrivals_.size());
    const double scale = alone_scale();
    for (std::size_t j = 0; j < arrivals_.size(); ++j) add_job(j, scale);
    return std::move(out_);
  }

 private:
  ModelId keep_model(std::string_view name) { return ModelId{out_.trace.models.index_of(name)}; }

  std::vector<std::uint32_t> usable_jobs(trace::RejectReport& report) {
    std::vector<std::uint32_t> usable;
    usable.reserve(trace_.jobs.size());
    for (std::size_t i = 0; i < trace_.jobs.size(); ++i) {
      const auto why = unusable_because(trace_.jobs[i], settings_.gpus);
      if (why.empty()) {
        usable.push_back(static_cast<std::uint32_t>(i));
        continue;
      }
      ++out_.unusable;
      report.reject({.file = trace_.source,
                     .reason = std::string(why),
                     .field = "job",
                     .found = std::string(trace_.jobs[i].id),
                     .expected = "a job that trains on GPUs, with its duration"});
    }
    return usable;
  }

  // Decides which jobs arrive when, and how many GPUs each takes.
  void take_jobs(const std::vector<std::uint32_t>& usable) {
    std::vector<TimeUs> times_us;
    times_us.reserve(usable.size());
    for (const std::uint32_t i : usable) times_us.push_back(trace_.jobs[i].arrival_us);
    const presets::Window window =
        large_ ? presets::Window{0, times_us.size()} : presets::busiest_window(times_us, kWeek);
    const std::int64_t jobs = settings_.jobs.value_or(large_ ? 117'325 : 1'860);
    arrivals_ = presets::draw_arrivals(times_us, window, static_cast<std::size_t>(jobs), root_);
    Rng gpus = root_.fork("gpus");
    gpus_.reserve(arrivals_.size());
    for (presets::Arrival& arrival : arrivals_) {
      arrival.source = usable[arrival.source];
      const std::uint32_t drawn = 1U << gpus.below(6);
      gpus_.push_back(settings_.gpus == GpuCounts::kUniform
                          ? drawn
                          : nearest_power(source(arrival).gpu_milli.value()));
    }
  }

  [[nodiscard]] const trace::TraceJob& source(const presets::Arrival& arrival) const {
    return trace_.jobs[arrival.source];
  }
  [[nodiscard]] static TimeUs clipped(const trace::TraceJob& job) {
    return std::clamp(job.duration_us.value(), kShortestAlone, kLongestAlone);
  }

  // Makes the mean of the jobs that were taken the one that was asked for.
  [[nodiscard]] double alone_scale() const {
    double sum_us = 0;
    for (const presets::Arrival& arrival : arrivals_) {
      sum_us += static_cast<double>(clipped(source(arrival)));
    }
    const double mean_h = settings_.mean_alone_h.value_or(large_ ? 2.0 : 1.0);
    return mean_h * static_cast<double>(kUsPerHour) * static_cast<double>(arrivals_.size()) /
           sum_us;
  }

  std::string_view name_of(const presets::Arrival& arrival) {
    const std::string_view id = source(arrival).id;
    if (arrival.copy == 0) return out_.trace.strings.keep(id);
    return out_.trace.strings.keep(fmt::format("{}~{}", id, arrival.copy));
  }

  void add_job(std::size_t j, double scale) {
    const presets::Arrival& arrival = arrivals_[j];
    const std::uint32_t gpus = gpus_[j];
    Rng kind = kinds_.of(j);
    const std::size_t which = kind.below(std::size(kModels));
    const PaperModel& model = kModels[which];
    const bool parameter_server = kind.chance(0.5);

    Job job;
    job.submit_us = arrival.submit_us;
    job.user = UserId{source(arrival).user};
    job.vc = VcId{source(arrival).vc};
    job.model = model_ids_[which];
    presets::TrainingPlan plan;
    plan.replicas = model.cut == Cut::kReplicas ? gpus : 1;
    plan.shape = shape_of(model.cut, gpus);
    plan.parameters = model.parameters;
    // One GPU has nobody to exchange with; one replica has none to reduce with.
    if (gpus > 1 && parameter_server) plan.comm = CommStructure::kParameterServer;
    if (plan.replicas > 1 && !parameter_server) plan.comm = CommStructure::kAllReduce;
    plan.bytes = kExchangeBytes;
    plan.alone_us = std::llround(scale * static_cast<double>(clipped(source(arrival))));
    plan.iteration_us = kind.uniform_int(kLeastIteration, kMostIteration);
    plan.least_iteration_us = kLeastIteration;
    plan.most_iteration_us = kMostIteration;
    plan.mean_duty = presets::kPhillyMeanUtilisation;
    plan.curve = *model.curves[kind.below(model.curves.size())];
    builder_.add(job, name_of(arrival), plan);
  }

  const trace::Trace& trace_;
  const PresetSettings& settings_;
  bool large_;
  Rng root_;
  presets::JobStreams kinds_;
  Workload out_;
  presets::TrainingJobs builder_;
  std::vector<presets::Arrival> arrivals_;
  std::vector<std::uint32_t> gpus_;  // by arrival
  std::vector<ModelId> model_ids_;
};

}  // namespace

Result<Workload> paper_workload(const trace::Trace& trace, const Cluster& cluster, Sharing sharing,
                                const PresetSettings& settings, std::uint64_t seed,
                                trace::RejectReport& report) {
  return PaperWorkload(trace, cluster, sharing, settings, seed).build(report);
}

}  // namespace berth
