#include "policy/berth/worth.h"

#include <algorithm>
#include <cmath>

#include "policy/common/progress.h"
#include "policy/common/remaining.h"

namespace berth {
namespace {

constexpr double kUnknownLeft_s = 100.0 * 365 * 86'400;

double left_s(const ClusterView& view, const Predictors& predictors, JobId id) {
  const Job& job = view.job(id);
  const auto progress = progress_of(view, predictors, id);
  if (progress && progress->most && progress->best_replica_per_s) {
    const auto left = static_cast<double>(*progress->most - progress->done);
    return left / (*progress->best_replica_per_s * job.replicas);
  }
  const auto left_us = remaining_us(view, predictors, id, view.now_us);
  return left_us ? seconds(*left_us) : kUnknownLeft_s;
}

// 1 for a job without a deadline, or whose deadline is lost: nothing can be won there.
double goal_weight(const Job& job, double left_s, TimeUs at_us, double goal) {
  if (goal <= 0 || !job.deadline_us.known()) return 1.0;
  const double slack_s = seconds(job.deadline_us.value() - at_us);
  if (slack_s < left_s) return 1.0;
  return 1.0 + goal * left_s / slack_s;
}

}  // namespace

double dominant_share(const Cluster& cluster, const Job& job) {
  double share = static_cast<double>(job.gpu_milli_per_task) / kWholeGpuMilli;
  if (job.gpu_memory_mib_per_task == 0) return share;
  const GpuTypeMask types = usable_types(cluster, job);
  std::int64_t most_mib = 0;
  for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
    if ((types >> t & 1U) != 0) most_mib = std::max(most_mib, cluster.gpu_types[t].memory_mib);
  }
  if (most_mib == 0) return share;
  return std::max(share, static_cast<double>(job.gpu_memory_mib_per_task) /
                             static_cast<double>(most_mib));
}

Worth worth_of(const ClusterView& view, const Predictors& predictors, JobId id, TimeUs at_us,
               const WorthSettings& settings) {
  const Job& job = view.job(id);
  Worth out;
  out.left_s = std::max(settings.least_left_s, left_s(view, predictors, id));
  out.gpus = std::max(1e-3, dominant_share(*view.cluster, job) * job.workers());
  out.weight = goal_weight(job, out.left_s, at_us, settings.goal);
  if (settings.age_h > 0 && view.state(id).status == JobStatus::kPending) {
    const double waited_h = seconds(at_us - job.submit_us) / 3600.0;
    out.weight *= 1.0 + waited_h / settings.age_h;
  }
  return out;
}

void terms_of(const Worth& worth, std::vector<PriorityTerm>& out) {
  out.push_back({"remaining time", -std::log(worth.left_s)});
  out.push_back({"GPUs", -std::log(worth.gpus)});
  out.push_back({"goals and wait", std::log(worth.weight)});
}

}  // namespace berth
