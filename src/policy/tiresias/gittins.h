// The Gittins index of attained service, from the services that jobs took that ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace berth {

// Services are counted in buckets half an octave wide: GPU-seconds.
class GittinsIndex {
 public:
  static constexpr std::size_t kLevels = 64;

  void add(double service_gpu_s);
  // The bucket that a service falls into; within one the index is the same.
  [[nodiscard]] static std::size_t level(double service_gpu_s);
  // G at the lower edge of a level, 1 / GPU-second; 0 where no job is known to have taken more.
  [[nodiscard]] double at(std::size_t level);
  [[nodiscard]] std::uint64_t known() const { return known_; }

 private:
  void renew();

  std::array<double, kLevels> count_{};
  std::array<double, kLevels> sum_gpu_s_{};
  std::array<double, kLevels> index_{};
  std::uint64_t known_ = 0;
  bool stale_ = false;
};

}  // namespace berth
