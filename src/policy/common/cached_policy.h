// The frame of a policy that keeps caches in step with views: it is told which jobs changed, then
// asked for a plan. A cache is only ever a digest of the view, so it can be dropped at any moment.
#pragma once

#include <span>
#include <vector>

#include "base/id_set.h"
#include "place/free_index.h"
#include "policy/common/kept_room.h"
#include "policy/policy.h"

namespace berth {

class PlaceWalk;

class CachedPolicy : public Policy {
 public:
  void decide(const ClusterView& view, const Predictors& predictors, Rng& rng, Plan& plan) final;
  void drop_caches() final { synced_ = false; }

 protected:
  // One round's inputs and output, for the hooks below.
  struct Round {
    const ClusterView& view;
    const Predictors& predictors;
    Rng& rng;
    Plan& plan;
  };

  // Forgets every job.
  virtual void reset(const Round& round) = 0;
  // The job may have changed: file it by its state in the view, whatever was known of it. Called
  // for every job of the view after reset(), and again for jobs that the last plan acted on.
  virtual void file_job(const Round& round, JobId id) = 0;
  virtual void make_plan(const Round& round) = 0;

  // Starts all tasks of a pending job if they fit now.
  bool try_start(const Round& round, JobId id);
  // The same on these places, which were taken from free_.
  void start_at(const Round& round, JobId id, std::span<const Placement> places);
  // Does what a walk found: stops, then starts.
  void carry_out_walk(const Round& round, const PlaceWalk& walk);
  // Of a job that decides of each replica: one starts on these places, or leaves; the parameter
  // server starts, if there is one, with the first.
  static void start_replica(const Round& round, JobId id, std::uint32_t replica,
                            std::span<const Placement> places);
  static void preempt_replica(const Round& round, JobId id, std::uint32_t replica);
  static void start_parameter_server(const Round& round, JobId id, ServerId server);
  // Stops it. Its places are not given back to free_.
  void preempt(const Round& round, JobId id);
  // Has the job filed again next round, whatever happens: what was filed for it is a guess.
  void file_again(JobId id) { acted_on_.push_back(id); }
  // Whether the job waits for places; one that never fits is given that as its reason instead.
  [[nodiscard]] static bool waits_for_places(const Round& round, JobId id);
  // Notes why a job waits, if that is not what the view says already.
  static void give_reason(const Round& round, JobId id, const Reason& reason);
  static void set_head(const Round& round, std::uint32_t slot, JobId id);
  // Notes why a job waits that found no room: it is kept for another; or it gave way to one that
  // still runs; or jobs that go first have it (`others_first`); or there is too little of it.
  void explain_wait(const Round& round, JobId id, std::span<const KeptRoom> kept,
                    bool others_first) const;
  // Too few devices, or enough of them but scattered.
  [[nodiscard]] virtual Reason shortage(const Job& job) const;

  // Whether a job that lost replicas with a server has them back as soon as there is room: false
  // for policies that decide of each replica.
  [[nodiscard]] virtual bool regrows() const { return true; }

  FreeIndex free_;

 private:
  bool sync(const Round& round);
  void note_shrunk(const ClusterView& view, JobId id);
  void regrow(const Round& round);

  bool synced_ = false;
  Version seen_ = 0;
  std::vector<JobId> acted_on_;    // by the last plan
  IdSet shrunk_;                   // running jobs without some of their replicas
  std::vector<Placement> places_;  // scratch
};

// No state of this cluster could hold the job, or its reason says why.
[[nodiscard]] Reason never_reason(const Cluster& cluster, const Job& job);

}  // namespace berth
