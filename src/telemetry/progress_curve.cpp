#include <algorithm>

#include "telemetry/progress_log.h"

namespace berth {

std::size_t ProgressCurve::first_after(std::int64_t iteration) const {
  const auto it = std::upper_bound(
      points_.begin(), points_.end(), iteration,
      [](std::int64_t value, const ProgressPoint& point) { return value < point.iteration; });
  return static_cast<std::size_t>(it - points_.begin());
}

void ProgressCurve::add(const ProgressPoint& point) {
  if (point.iteration < 0) return;
  // Writers without number share one.
  std::uint32_t writer = point.writer;
  if (last_of_.size() >= kMostWriters && !last_of_.contains(writer)) {
    writer = last_of_.rbegin()->first;
  }
  const auto [last, is_new] = last_of_.try_emplace(writer, point.iteration);
  if (!is_new && point.iteration < last->second) rewind(writer, point.iteration);
  last->second = point.iteration;

  std::size_t at = first_after(point.iteration);
  if (at == 0 || points_[at - 1].iteration != point.iteration) {
    const auto offset = static_cast<std::ptrdiff_t>(at);
    ProgressPoint added;
    added.iteration = point.iteration;
    points_.insert(points_.begin() + offset, added);
    origins_.insert(origins_.begin() + offset, Origin());
  } else {
    --at;
  }
  ProgressPoint& kept = points_[at];
  Origin& origin = origins_[at];
  origin.mark = writer;
  if (point.unix_us) kept.unix_us = point.unix_us;
  if (point.loss) {
    kept.loss = point.loss;
    kept.diverged = false;
    origin.loss = writer;
  }
  if (point.accuracy) {
    kept.accuracy = point.accuracy;
    origin.accuracy = writer;
  }
  if (point.diverged) {
    kept.diverged = true;
    kept.loss.reset();
    origin.loss = writer;
  }
  if (points_.size() > kMost) thin_out();
}

// Takes away what this writer said of iterations behind that one.
void ProgressCurve::rewind(std::uint32_t writer, std::int64_t iteration) {
  std::size_t kept = first_after(iteration);
  for (std::size_t i = kept; i < points_.size(); ++i) {
    ProgressPoint& point = points_[i];
    Origin& origin = origins_[i];
    if (origin.loss == writer) {
      point.loss.reset();
      point.diverged = false;
      origin.loss = kNobody;
    }
    if (origin.accuracy == writer) {
      point.accuracy.reset();
      origin.accuracy = kNobody;
    }
    if (origin.mark == writer) origin.mark = kNobody;
    const bool nothing_left =
        origin.loss == kNobody && origin.accuracy == kNobody && origin.mark == kNobody;
    if (nothing_left) continue;
    points_[kept] = point;
    origins_[kept] = origin;
    ++kept;
  }
  points_.resize(kept);
  origins_.resize(kept);
}

// Keeps every second point counted from the end, and the last ones with a loss and an accuracy.
void ProgressCurve::thin_out() {
  std::size_t last_loss = points_.size();
  std::size_t last_accuracy = points_.size();
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (points_[i].loss) last_loss = i;
    if (points_[i].accuracy) last_accuracy = i;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if ((points_.size() - 1 - i) % 2 != 0 && i != last_loss && i != last_accuracy) continue;
    points_[kept] = points_[i];
    origins_[kept] = origins_[i];
    ++kept;
  }
  points_.resize(kept);
  origins_.resize(kept);
}

std::int64_t ProgressCurve::last_iteration() const {
  return points_.empty() ? -1 : points_.back().iteration;
}

std::optional<double> ProgressCurve::loss_at(std::int64_t iteration) const {
  for (std::size_t i = first_after(iteration); i > 0; --i) {
    if (points_[i - 1].loss) return points_[i - 1].loss;
  }
  return std::nullopt;
}

std::optional<double> ProgressCurve::accuracy_at(std::int64_t iteration) const {
  for (std::size_t i = first_after(iteration); i > 0; --i) {
    if (points_[i - 1].accuracy) return points_[i - 1].accuracy;
  }
  return std::nullopt;
}

}  // namespace berth
