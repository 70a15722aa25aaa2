// Learning curves drawn around measured ones.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "curve/learning_curve.h"
#include "engine/presets/measured_facts.h"

namespace berth::presets {

// The curve of a run of `iterations`, shaped as the measured one: how fast it rises varies by a
// log-normal factor of sigma 0.3, its final accuracy by up to 0.03 each way. `peaked`: it has its
// best accuracy before the end, where and how far above it as measured (kPeakAt, kFallFromPeak).
[[nodiscard]] LearningCurve draw_curve(const CurveShape& shape, std::int64_t iterations,
                                       bool peaked, Rng& rng);

}  // namespace berth::presets
