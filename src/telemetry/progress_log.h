// What running jobs report of themselves: JSON lines, one an iteration, and TensorBoard event
// files. Both are followed while they grow; what a job writes is never trusted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace berth {

// One report. Not finite numbers are kept as "diverged" and enter no fit.
struct ProgressPoint {
  std::int64_t iteration = 0;
  std::optional<double> loss;
  std::optional<double> accuracy;       // 0..1
  bool diverged = false;                // a loss or accuracy that is NaN or infinite
  std::optional<std::int64_t> unix_us;  // when the job says that it was
  // Who wrote it: the points of one writer come in the order in which they were written. 0: JSON
  // lines; each kind of scalar in each event file has a number of its own.
  std::uint32_t writer = 0;
};

struct ProgressIssues {
  std::int64_t damaged = 0;  // lines or records that were not used
  std::int64_t ignored = 0;  // whole ones of no use: a negative step, an accuracy beyond 0..1
  std::string last;          // of both, one line: file, line or byte, what was found
};

// Follows one source; the files may not be there yet, may grow, may be replaced.
class ProgressSource {
 public:
  ProgressSource() = default;
  ProgressSource(const ProgressSource&) = delete;
  ProgressSource& operator=(const ProgressSource&) = delete;
  virtual ~ProgressSource() = default;
  // Appends what is new, at most about `max_bytes` of it read. True: there may be more at once.
  [[nodiscard]] virtual bool poll(std::vector<ProgressPoint>& out, std::size_t max_bytes) = 0;
  [[nodiscard]] virtual const ProgressIssues& issues() const = 0;
};

// {"iteration": 3, "loss": 0.41, "accuracy": 0.9, "time": 1772445600.5}; further keys are ignored.
// A regular file or a FIFO, never a link. `owner`: the uid that it must belong to.
[[nodiscard]] std::unique_ptr<ProgressSource> follow_json_lines(
    std::string path, std::optional<std::uint32_t> owner = std::nullopt);

// Scalars named loss, train/loss, accuracy, val/accuracy ... (docs/guides/progress.md) in all event
// files of a folder and its sub-folders; several writers, steps in any order. `owner`: as above.
[[nodiscard]] std::unique_ptr<ProgressSource> follow_tensorboard(
    std::string folder, std::optional<std::uint32_t> owner = std::nullopt);

// The curve of a job from several sources and runs: one value a step, the later write wins. A
// writer that goes back (a run that starts again from a checkpoint) takes away what it had said of
// later steps; what other writers said stays, as their steps may lie between each other.
class ProgressCurve {
 public:
  void add(const ProgressPoint& point);
  [[nodiscard]] std::int64_t last_iteration() const;                              // -1: none
  [[nodiscard]] std::optional<double> loss_at(std::int64_t iteration) const;      // at most there
  [[nodiscard]] std::optional<double> accuracy_at(std::int64_t iteration) const;  // at most there
  [[nodiscard]] const std::vector<ProgressPoint>& points() const {
    return points_;
  }  // by iteration

 private:
  // Bounded: beyond kMost every second point goes, so that a job of any length takes little.
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kMostWriters = 4096;
  static constexpr std::uint32_t kNobody = 0xFFFFFFFF;
  // Who wrote what of a point.
  struct Origin {
    std::uint32_t loss = kNobody;
    std::uint32_t accuracy = kNobody;
    std::uint32_t mark = kNobody;  // that there is such a step
  };
  void rewind(std::uint32_t writer, std::int64_t iteration);
  void thin_out();
  [[nodiscard]] std::size_t first_after(std::int64_t iteration) const;

  std::vector<ProgressPoint> points_;
  std::vector<Origin> origins_;                    // of each of them
  std::map<std::uint32_t, std::int64_t> last_of_;  // the last iteration of each writer
};

}  // namespace berth
