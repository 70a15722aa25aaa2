#include "policy/berth/worth.h"

#include <algorithm>
#include <cmath>

#include "policy/common/progress.h"

namespace berth {
namespace {

// Of a job of which nothing is known: as long again as it has run, and this.
constexpr double kUnknownLeft_s = 3'600;

double left_s(const ClusterView& view, const Predictors& predictors, JobId id,
              const WorthSettings& settings) {
  const Job& job = view.job(id);
  const auto progress = progress_of(view, predictors, id);
  const bool reports = progress && progress->most;
  if (reports && progress->best_replica_per_s) {
    const auto left = static_cast<double>(*progress->most - progress->done);
    return left / (*progress->best_replica_per_s * job.replicas);
  }
  const double run_s = seconds(view.state(id).attained_by(view.now_us));
  const auto predicted_us = predictors.run_time_us(id);
  if (!predicted_us) return kUnknownLeft_s + run_s;
  const double unrun_s = (reports ? settings.unsure : 1.0) * seconds(*predicted_us) - run_s;
  return unrun_s > 0 ? unrun_s : settings.outlived * run_s;
}

// 1 without a deadline, and once it is lost.
double deadline_weight(const Job& job, double left_s, TimeUs at_us, double goal) {
  if (goal <= 0 || !job.deadline_us.known()) return 1.0;
  const double slack_s = seconds(job.deadline_us.value() - at_us);
  if (slack_s < left_s) return 1.0;
  return 1.0 + goal * left_s / slack_s;
}

double accuracy_per_s(const Job& job, double accuracy_s, TimeUs at_us,
                      const WorthSettings& settings) {
  // It loads first, and is slowed down by others.
  constexpr double kLonger = 1.1;
  constexpr double kLeast_s = 60;
  if (accuracy_s <= 0) return 0;
  const double run_s = std::max(kLeast_s, kLonger * accuracy_s);
  const double slack_s = seconds(job.deadline_us.value() - at_us) - run_s;
  if (slack_s < 0) return 0;
  const double relative = slack_s / settings.accuracy_slack_s;
  return settings.accuracy / (run_s * (1 + relative * relative));
}

}  // namespace

double dominant_share(const Cluster& cluster, const Job& job) {
  const double share = static_cast<double>(job.gpu_milli_per_task) / kWholeGpuMilli;
  if (job.gpu_memory_mib_per_task == 0) return share;
  const GpuTypeMask types = usable_types(cluster, job);
  std::int64_t most_mib = 0;
  for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
    if ((types >> t & 1U) != 0) most_mib = std::max(most_mib, cluster.gpu_types[t].memory_mib);
  }
  if (most_mib == 0) return share;
  return std::max(share,
                  static_cast<double>(job.gpu_memory_mib_per_task) / static_cast<double>(most_mib));
}

Worth worth_of(const ClusterView& view, const Predictors& predictors, JobId id, double to_accuracy,
               const WorthSettings& settings) {
  constexpr double kLeastGpus = 1e-3;
  const Job& job = view.job(id);
  Worth out;
  out.left_s = std::max(settings.least_left_s, left_s(view, predictors, id, settings));
  out.gpus = std::max(kLeastGpus, dominant_share(*view.cluster, job) * job.workers());
  out.accuracy_s = to_accuracy * out.left_s;
  return out;
}

void heed_deadline(Worth& worth, const Job& job, TimeUs at_us, const WorthSettings& settings) {
  worth.weight = deadline_weight(job, worth.left_s, at_us, settings.goal);
  worth.accuracy_per_s = accuracy_per_s(job, worth.accuracy_s, at_us, settings);
}

void terms_of(const Worth& worth, std::vector<PriorityTerm>& out) {
  out.push_back({"remaining time", -std::log(worth.left_s)});
  out.push_back({"GPUs", -std::log(worth.gpus)});
  out.push_back({"deadline", std::log(worth.weight)});
  out.push_back({"accuracy", std::log(worth.ends_per_s() * worth.left_s / worth.weight)});
}

}  // namespace berth
