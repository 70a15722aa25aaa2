// The boundary: a policy reads a view and returns a plan. It does no I/O, reads no clock, owns no
// global. The same object runs in the simulator and on real machines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "model/plan.h"
#include "model/view.h"

namespace berth {

// What a scheduler believes about jobs. An oracle is a predictor like any other, with its own name.
class Predictors {
 public:
  Predictors() = default;
  Predictors(const Predictors&) = delete;
  Predictors& operator=(const Predictors&) = delete;
  virtual ~Predictors() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  // Called before every decision with the view that it is made on, for predictors that learn from
  // what has ended. Answers are of the last view.
  virtual void follow(const ClusterView& /*view*/) {}
  // Predicted whole run time of the job on the GPUs it asked for, alone. The same answer for the
  // same view; nothing if this predictor cannot tell.
  [[nodiscard]] virtual std::optional<TimeUs> run_time_us(JobId job) const = 0;
};

// A policy's options: --set key=value, validated when the policy is made.
struct PolicyOption {
  std::string key;
  std::string value;
};

// A part of what a policy orders jobs by. The terms of a job add up, in a scale of the policy's own
// (logarithms where its rule is a product); the job with the larger sum goes first.
struct PriorityTerm {
  std::string_view name;  // lives as long as the program
  double value = 0;
};

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  // Fills `plan` (handed over empty). May keep only caches that a replay of views would rebuild.
  virtual void decide(const ClusterView& view, const Predictors& predictors, Rng& rng,
                      Plan& plan) = 0;
  // Forgets every cache; the next plan must be the same as if it had not.
  virtual void drop_caches() = 0;

  // Appends to `out` why an active job stands where it does, at the view's instant; nothing: the
  // policy has no such terms. The order by their sums is that by which it decides. Asked for only
  // to explain a run (simulate --why).
  virtual void priority_terms(const ClusterView& /*view*/, const Predictors& /*predictors*/,
                              JobId /*job*/, std::vector<PriorityTerm>& /*out*/) const {}
};

// How the paper of a policy lets jobs hold GPUs; the simulator can run it either way.
enum class PublishedSharing : std::uint8_t {
  kExclusive,  // a GPU is a slot of one task
  kShared,     // tasks share a GPU
};

struct PolicyInfo {
  std::string_view name;
  std::string_view summary;      // one line, with its source
  bool needs_run_times = false;  // refuses --predict none
  Result<std::unique_ptr<Policy>> (*make)(std::span<const PolicyOption> options) = nullptr;
  PublishedSharing published = PublishedSharing::kExclusive;
  // Claims that no job starves, however many others come (tests/property/waiting_test.cpp).
  bool bounded_wait = false;
  // Places task by task, so that parts of replicas hold devices and wait for the rest.
  bool holds_parts = false;
};

// Every policy, by name; the registry is policy/registry.cpp, one line each.
[[nodiscard]] std::span<const PolicyInfo> all_policies();
[[nodiscard]] Result<const PolicyInfo*> find_policy(std::string_view name);

}  // namespace berth
