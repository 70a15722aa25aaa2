// Asks the policy and puts its plan into the state: the same policy object, view and plan as in the
// simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/predictors.h"
#include "model/cluster_state.h"
#include "policy/policy.h"

namespace berth {

struct DeciderCounts {
  std::uint64_t rounds = 0;
  std::uint64_t refused = 0;  // plans of which an action could not be applied
  std::string last_refusal;
  std::int64_t last_round_us = 0;  // that the policy took
  std::int64_t most_round_us = 0;
  std::int64_t all_rounds_us = 0;
};

// What a plan asks for beyond places.
struct StopRequest {
  JobId job;
  std::int64_t iteration = 0;  // end it there, or now if it is past
};

struct Decision {
  std::vector<JobId> touched;  // their places have changed; may name one twice
  std::vector<StopRequest> stops;
  TimeUs wake_us = kNever;
  bool refused = false;
};

class Decider {
 public:
  Decider(std::unique_ptr<Policy> policy, std::uint64_t seed)
      : policy_(std::move(policy)), rng_(Rng(seed).fork("policy")) {}

  // One round: the view of now, a plan, and the plan's actions in the state. A plan that cannot be
  // applied to its end is applied as far as it goes.
  [[nodiscard]] Decision decide(ClusterState& state, const Telemetry& telemetry, TimeUs now_us);
  // The ids of jobs have changed: everything is learned anew from the next view.
  void forget();

  [[nodiscard]] const Policy& policy() const { return *policy_; }
  [[nodiscard]] const Predictors& predictors() const { return *predictors_; }
  [[nodiscard]] const DeciderCounts& counts() const { return counts_; }

 private:
  [[nodiscard]] std::string apply(ClusterState& state, TimeUs now_us, Decision& out);
  [[nodiscard]] std::string apply_leave(ClusterState& state, const Action& action, TimeUs now_us);

  std::unique_ptr<Policy> policy_;
  std::unique_ptr<Predictors> predictors_ = learn_from_history();
  Rng rng_;
  Plan plan_;
  DeciderCounts counts_;
  std::vector<TaskPlace> tasks_;        // scratch
  std::vector<std::uint32_t> leaving_;  // scratch
};

}  // namespace berth
