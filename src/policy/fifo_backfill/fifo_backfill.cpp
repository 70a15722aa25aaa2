#include "policy/fifo_backfill/fifo_backfill.h"

#include <algorithm>

#include "base/min_tree.h"
#include "policy/common/fifo_queue.h"
#include "policy/common/job_classes.h"
#include "policy/common/options.h"
#include "policy/fifo_backfill/end_times.h"

namespace berth {
namespace {

// Waiting jobs of one class in order of arrival, by predicted run time.
struct Waiting {
  MinTree run_times_us;
  std::vector<JobId> jobs;  // by position in run_times_us
};

class FifoBackfill final : public FifoPolicyBase {
 protected:
  void reset(const Round& round) override;
  void file_job(const Round& round, JobId id) override;
  void dequeue(JobId id) override;
  void make_plan(const Round& round) override;

 private:
  // What the head's reservation allows others.
  struct Reservation {
    GpuTypeMask types = 0;
    TimeUs run_at_most_us = 0;     // who ends by the reservation may use anything
    std::int64_t extra_milli = 0;  // others of these types only this
  };

  struct Seat {
    std::uint32_t class_index = 0;
    std::uint32_t position = kNoSeat;
  };
  static constexpr std::uint32_t kNoSeat = 0xFFFFFFFFU;

  void take_seats(const Round& round);
  void catch_up(const Round& round);
  static TimeUs run_time_us(const Round& round, JobId id);
  static TimeUs predicted_end_us(const Round& round, JobId id);
  void renew_overdue(const Round& round);
  void note_started(const Round& round);
  [[nodiscard]] Reservation reserve(const Round& round, JobId head) const;
  void backfill(const Round& round, JobId head);
  [[nodiscard]] JobId next_candidate(const Reservation& reservation, JobId after);

  JobClasses<Waiting> classes_;
  std::vector<Seat> seats_;  // by JobId, of the jobs seen by the last catch_up()
  EndTimes ends_;
  std::vector<JobId> changed_;     // since the last catch_up(); may repeat
  std::vector<Placement> places_;  // scratch
};

void FifoBackfill::reset(const Round& round) {
  FifoPolicyBase::reset(round);
  classes_.clear();
  seats_.clear();
  changed_.clear();
  ends_.reset(*round.view.cluster);
}

TimeUs FifoBackfill::run_time_us(const Round& round, JobId id) {
  const Job& job = round.view.job(id);
  const TimeUs predicted = round.predictors.run_time_us(id).value_or(kNever);
  return std::min(predicted, job.time_limit_us.value_or(kNever));
}

// A job that outlives its prediction is given twice as long, again and again (Tsafrir, Etsion and
// Feitelson, TPDS 2007, correct predictions that proved too short).
TimeUs FifoBackfill::predicted_end_us(const Round& round, JobId id) {
  const JobState& state = round.view.state(id);
  const TimeUs ran_us = state.attained_by(round.view.now_us);
  TimeUs total_us = std::max<TimeUs>(run_time_us(round, id), 1);
  while (total_us <= ran_us) total_us *= 2;
  return std::min(kNever, round.view.now_us + (total_us - ran_us));
}

// Classes and ends matter only while a head is blocked, which on many clusters is seldom: they are
// brought up to date then, and most jobs come and go without ever being filed there.
void FifoBackfill::file_job(const Round& round, JobId id) {
  FifoPolicyBase::file_job(round, id);
  changed_.push_back(id);
}

// Every job that has not ended takes a seat, in order of arrival, waiting or not: so a class's
// seats are in order of arrival for ever.
void FifoBackfill::take_seats(const Round& round) {
  std::size_t next = seats_.size();
  seats_.resize(round.view.jobs.size());
  for (; next < seats_.size(); ++next) {
    if (round.view.states[next].ended()) continue;
    Seat& seat = seats_[next];
    seat.class_index = classes_.class_of(round.view.jobs[next]);
    Waiting& waiting = classes_[seat.class_index].jobs;
    seat.position = static_cast<std::uint32_t>(waiting.run_times_us.append());
    waiting.jobs.push_back(JobId{next});
  }
}

void FifoBackfill::catch_up(const Round& round) {
  take_seats(round);
  for (const JobId id : changed_) {
    const JobState& state = round.view.state(id);
    if (state.status == JobStatus::kRunning) {
      ends_.set(round.view, id, round.view.placements_of(id), predicted_end_us(round, id));
    } else {
      ends_.remove(id);
    }
    if (!queue_.contains(id.value)) continue;
    const Seat& seat = seats_[id.index()];
    const TimeUs left_us =
        std::max<TimeUs>(0, run_time_us(round, id) - state.attained_by(round.view.now_us));
    classes_[seat.class_index].jobs.run_times_us.set(seat.position, left_us);
  }
  changed_.clear();
}

void FifoBackfill::dequeue(JobId id) {
  FifoPolicyBase::dequeue(id);
  if (id.index() >= seats_.size()) return;
  const Seat& seat = seats_[id.index()];
  if (seat.position != kNoSeat) classes_[seat.class_index].jobs.run_times_us.unset(seat.position);
}

void FifoBackfill::renew_overdue(const Round& round) {
  for (JobId id = ends_.overdue(round.view.now_us); id.valid();
       id = ends_.overdue(round.view.now_us)) {
    ends_.set(round.view, id, round.view.placements_of(id), predicted_end_us(round, id));
  }
}

// What this plan starts will end some day too; the view does not show it running yet.
void FifoBackfill::note_started(const Round& round) {
  const auto& actions = round.plan.actions;
  for (std::size_t i = 0; i < actions.size();) {
    const JobId id = actions[i].job;
    places_.clear();
    for (; i < actions.size() && actions[i].job == id; ++i) places_.push_back(actions[i].to);
    // Replicas that come back to a running job end with it.
    if (round.view.state(id).status == JobStatus::kRunning) continue;
    ends_.set(round.view, id, places_, predicted_end_us(round, id));
  }
}

FifoBackfill::Reservation FifoBackfill::reserve(const Round& round, JobId head) const {
  const Job& job = round.view.job(head);
  const std::int64_t need = job.gpu_milli();
  const std::int64_t free = free_.free_milli(job.gpu_types);
  Reservation reservation{.types = job.gpu_types};
  if (free >= need) {
    reservation.extra_milli = free - need;  // enough but scattered: any moment may do
    return reservation;
  }
  const auto release = ends_.when_free(job.gpu_types, need, free);
  // Where nobody can tell when the head will fit, nobody may go before it.
  if (release.at_us == kNever) return reservation;
  reservation.run_at_most_us = release.at_us - round.view.now_us;
  reservation.extra_milli = release.milli - need;
  return reservation;
}

JobId FifoBackfill::next_candidate(const Reservation& reservation, JobId after) {
  JobId best;
  for (auto& [shape, waiting] : classes_.all()) {
    if (waiting.run_times_us.empty() || !free_.fits(shape)) continue;
    const bool harmless =
        (shape.gpu_types & reservation.types) == 0 || shape.gpu_milli() <= reservation.extra_milli;
    const auto from =
        std::upper_bound(waiting.jobs.begin(), waiting.jobs.end(), after) - waiting.jobs.begin();
    const std::size_t position = waiting.run_times_us.first_at_most(
        harmless ? MinTree::kAbsent - 1 : reservation.run_at_most_us,
        static_cast<std::size_t>(from));
    if (position != MinTree::kNone && waiting.jobs[position] < best) best = waiting.jobs[position];
  }
  return best;
}

void FifoBackfill::backfill(const Round& round, JobId head) {
  Reservation reservation = reserve(round, head);
  JobId after = head;
  while (true) {
    const JobId id = next_candidate(reservation, after);
    if (!id.valid() || !try_start(round, id)) return;
    const Job& job = round.view.job(id);
    const Seat& seat = seats_[id.index()];
    const TimeUs left_us = classes_[seat.class_index].jobs.run_times_us.value(seat.position);
    if (left_us > reservation.run_at_most_us && (job.gpu_types & reservation.types) != 0) {
      reservation.extra_milli -= job.gpu_milli();
    }
    dequeue(id);
    after = id;
  }
}

void FifoBackfill::make_plan(const Round& round) {
  const JobId head = start_heads(round);
  if (head.valid() && queue_.at_or_after(head.value + 1) != IdSet::kNone) {
    catch_up(round);
    note_started(round);
    renew_overdue(round);
    backfill(round, head);
  }
  give_reasons(round, head);
}

}  // namespace

Result<std::unique_ptr<Policy>> make_fifo_backfill(std::span<const PolicyOption> options) {
  BERTH_CHECK_OK(no_options("fifo-backfill", options));
  return std::make_unique<FifoBackfill>();
}

}  // namespace berth
