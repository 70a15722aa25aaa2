// Quantiles and fits of published measurements that the presets draw from: facts with their source;
// no row of any data set is here. How each was computed is told in docs/workloads.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/cdf.h"

namespace berth::presets {

// Mean GPU utilisation of Philly's jobs by their GPU count (Jeon et al., ATC 2019, table 3): of the
// largest size that is not above. Sizes beyond the last one are as the last one.
struct UtilisationOfSize {
  std::uint32_t gpus;
  double mean;
};
inline constexpr std::array<UtilisationOfSize, 4> kPhillyUtilisation = {
    {{1, 0.5238}, {4, 0.4518}, {8, 0.5899}, {16, 0.4039}}};
inline constexpr double kPhillyMeanUtilisation = 0.5232;  // of all jobs, same table

// Memory-controller over SM utilisation of 32 jobs that ran alone (MISO, SoCC 2022, A100).
inline constexpr std::array<CdfPoint, 7> kBandwidthPerSm = {{{0.0, 0.024},
                                                             {0.10, 0.038},
                                                             {0.25, 0.092},
                                                             {0.50, 0.370},
                                                             {0.75, 0.608},
                                                             {0.90, 0.758},
                                                             {1.0, 0.852}}};
// GPU memory in MiB of the same jobs, up to their 90 % quantile: the rest is more than half of a
// V100.
inline constexpr std::array<CdfPoint, 6> kGpuMemoryMib = {
    {{0.0, 2223}, {0.11, 3276}, {0.28, 5510}, {0.56, 6553}, {0.83, 9933}, {1.0, 10443}}};

// A fit of a measured accuracy curve by the family of LearningCurve; its course is told in parts of
// the whole run. `final_accuracy` is the one measured at the end of the run.
struct CurveShape {
  double first_accuracy;
  double final_accuracy;
  double half;  // of the run
  double exponent;
};
// Pollux's validation curves (OSDI 2021; medians over batch sizes of CIFAR-10, ImageNet,
// DeepSpeech2 and MovieLens) and the CIFAR-10 logs of wide-residual-networks (BMVC 2016; median).
inline constexpr CurveShape kCifar10{0.168, 0.944, 0.0115, 0.612};
inline constexpr CurveShape kImageNet{0.242, 0.754, 0.166, 0.597};
inline constexpr CurveShape kWideResNet{0.661, 0.940, 0.191, 0.994};
inline constexpr CurveShape kDeepSpeech2{0.0, 0.762, 0.377, 4.0};
inline constexpr CurveShape kMovieLens{0.483, 0.690, 0.261, 4.0};
// Of these 31 curves 26 are best before 97 % of the run; where, and by how much the accuracy has
// fallen at its end.
inline constexpr double kPeaked = 26.0 / 31.0;
inline constexpr std::array<CdfPoint, 5> kPeakAt = {
    {{0.0, 0.50}, {0.10, 0.60}, {0.50, 0.81}, {0.90, 0.94}, {1.0, 0.963}}};
inline constexpr std::array<CdfPoint, 5> kFallFromPeak = {
    {{0.0, 0.0005}, {0.10, 0.00065}, {0.50, 0.0018}, {0.90, 0.0054}, {1.0, 0.0086}}};

// Pollux's profiles of data-parallel training (OSDI 2021, T4): time of one step on one GPU is
// step_base_s + step_per_sample_s * batch, root mean square error 1-6 % (YOLOv3 17 %).
struct ProfiledModel {
  std::string_view name;
  std::int64_t parameters;
  double step_base_s;
  double step_per_sample_s;
  double min_batch;
  double max_batch;
  double sync_in_server_s;  // added by replicas in one server; median
  double sync_between_s;    // added by replicas in several servers; median, one GPU in each of six
  const CurveShape* curve;
};
[[nodiscard]] std::span<const ProfiledModel> profiled_models();

}  // namespace berth::presets
