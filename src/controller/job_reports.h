// What one job has reported over all its runs, and how fast it gets on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "jobspec/job_spec.h"
#include "telemetry/progress_log.h"

namespace berth {

class JobReports {
 public:
  // What a run writes into its folder, and what all runs write to the folder of TensorBoard: of one
  // that begins, or of an earlier one that is read again. Each run is read to its end before the
  // next. Files must be of user `uid`.
  void follow_run(const JobSpec& spec, const std::string& folder, std::uint32_t uid);
  // A run begins or goes on with so many replicas; 0: it does not run.
  void set_replicas(std::uint32_t replicas);
  // Reads what is new. True: something was.
  bool poll(TimeUs now_us);
  // All that there is of a run that has ended, up to 64 times what poll() reads at once.
  void read_to_end(TimeUs now_us);

  [[nodiscard]] const ProgressCurve& curve() const { return curve_; }
  [[nodiscard]] std::optional<std::int64_t> iterations() const;
  // Of the present run, over the last reports; nothing before it has reported twice.
  [[nodiscard]] std::optional<double> iterations_per_s() const { return per_s_; }
  [[nodiscard]] std::optional<double> best_replica_iterations_per_s() const { return best_; }
  // Lines and records that could not be used, and words for the last one.
  [[nodiscard]] std::int64_t damaged() const;
  [[nodiscard]] std::string last_issue() const;

 private:
  void measure(TimeUs now_us);

  std::vector<std::unique_ptr<ProgressSource>> runs_;
  std::size_t reading_ = 0;  // of runs_; those before have been read
  std::vector<std::unique_ptr<ProgressSource>> followed_;
  TimeUs next_follow_us_ = 0;         // folders are looked through now and then
  std::vector<ProgressPoint> fresh_;  // scratch
  ProgressCurve curve_;
  std::uint32_t replicas_ = 0;
  // Where the present measurement of speed began.
  std::int64_t from_iteration_ = -1;
  TimeUs from_us_ = 0;
  std::optional<double> per_s_;
  std::optional<double> best_;
};

}  // namespace berth
