#include "report/priority.h"

#include <algorithm>

#include "policy/common/cached_policy.h"

namespace berth {
namespace {

// Who runs once the plan is carried out.
std::vector<bool> running_after(const ClusterView& view, const Plan& plan) {
  std::vector<std::uint32_t> placed(view.jobs.size());
  for (std::size_t j = 0; j < placed.size(); ++j) placed[j] = view.states[j].tasks_placed;
  for (const Action& action : plan.actions) {
    std::uint32_t& tasks = placed[action.job.index()];
    switch (action.kind) {
      case ActionKind::kStartTask:
        ++tasks;
        break;
      case ActionKind::kPreemptJob:
        tasks = 0;
        break;
      case ActionKind::kPreemptReplica:
        tasks -= std::min(tasks, view.job(action.job).partitions());
        // A parameter server leaves with the last replica.
        if (tasks <= view.job(action.job).parameter_servers) tasks = 0;
        break;
      case ActionKind::kPreemptTask:
        tasks -= std::min(tasks, 1U);
        break;
      case ActionKind::kMoveTask:
      case ActionKind::kCopyTask:
      case ActionKind::kDropCopy:
      case ActionKind::kStopJob:
      case ActionKind::kSetStop:
        break;
    }
  }
  std::vector<bool> runs(placed.size());
  for (std::size_t j = 0; j < runs.size(); ++j) runs[j] = placed[j] > 0;
  return runs;
}

bool is_active(const ClusterView& view, JobId job) {
  return !view.state(job).ended() &&
         never_reason(*view.cluster, view.job(job)).code == ReasonCode::kNone;
}

// A term that one of the two lacks is 0 there.
void align(std::vector<PriorityTerm>& own, std::vector<PriorityTerm>& others) {
  std::vector<PriorityTerm> aligned;
  for (const PriorityTerm& term : own) {
    const auto same = std::ranges::find(others, term.name, &PriorityTerm::name);
    aligned.push_back({term.name, same == others.end() ? 0.0 : same->value});
  }
  for (const PriorityTerm& term : others) {
    if (std::ranges::find(own, term.name, &PriorityTerm::name) != own.end()) continue;
    own.push_back({term.name, 0.0});
    aligned.push_back(term);
  }
  others = std::move(aligned);
}

}  // namespace

double priority_sum(std::span<const PriorityTerm> terms) {
  double sum = 0;
  for (const PriorityTerm& term : terms) sum += term.value;
  return sum;
}

std::optional<std::size_t> decisive_term(std::span<const PriorityTerm> first,
                                         std::span<const PriorityTerm> second) {
  if (!(priority_sum(first) > priority_sum(second))) return std::nullopt;
  std::size_t largest = 0;
  for (std::size_t t = 1; t < first.size(); ++t) {
    const double gain = first[t].value - second[t].value;
    if (gain > first[largest].value - second[largest].value) largest = t;
  }
  return largest;
}

std::optional<PriorityExplanation> explain_priority(const ClusterView& view, const Plan& plan,
                                                    const Policy& policy,
                                                    const Predictors& predictors, JobId job) {
  if (job.index() >= view.jobs.size() || !is_active(view, job)) return std::nullopt;
  PriorityExplanation out;
  policy.priority_terms(view, predictors, job, out.own);
  if (out.own.empty()) return std::nullopt;
  const std::vector<bool> runs = running_after(view, plan);
  out.decided_us = view.now_us;
  out.runs = runs[job.index()];
  double nearest = 0;
  std::vector<PriorityTerm> terms;
  for (std::size_t j = 0; j < view.jobs.size(); ++j) {
    const JobId other{j};
    if (runs[j] == out.runs || !is_active(view, other)) continue;
    terms.clear();
    policy.priority_terms(view, predictors, other, terms);
    if (terms.empty()) continue;
    const double sum = priority_sum(terms);
    if (out.other.valid() && (out.runs ? sum <= nearest : sum >= nearest)) continue;
    nearest = sum;
    out.other = other;
    out.others = terms;
  }
  if (!out.other.valid()) return out;
  align(out.own, out.others);
  out.decisive = out.runs ? decisive_term(out.own, out.others) : decisive_term(out.others, out.own);
  return out;
}

}  // namespace berth
