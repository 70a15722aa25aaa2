// Settings of the workload presets: the part of --set key=value that is about jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"

namespace berth {

enum class Preset : std::uint8_t { kAsTraced, kPaper, kMeasured };

enum class PaperSpan : std::uint8_t {
  kReal,   // the busiest week of the trace
  kLarge,  // all of it
};
enum class GpuCounts : std::uint8_t {
  kUniform,  // one of 1, 2, 4, 8, 16, 32, equally likely
  kTrace,    // the trace's, to the nearest of these
};
enum class StopChoice : std::uint8_t {
  kIterations,  // every user asks for the given iterations
  kMixed,       // one of the three stop options, equally likely
};

struct PresetSettings {
  std::optional<PaperSpan> span;       // by default: large on clusters of more than 500 GPUs
  std::optional<std::int64_t> jobs;    // by default 1,860 (real) or 117,325 (large)
  std::optional<double> mean_alone_h;  // by default 1 (real) or 2 (large)
  GpuCounts gpus = GpuCounts::kUniform;
  double required_accuracy = 0.95;  // of the accuracy after the last iteration
  StopChoice stop = StopChoice::kIterations;
  bool checkpoint_on_stop = true;
  double use_sigma = 0.15;  // of the log of real over declared use
};

// The keys that a preset knows, for help and errors.
[[nodiscard]] std::span<const std::string_view> setting_keys(Preset preset);

// Reads the settings that the preset knows and takes them out of `options`; what is left is for
// others. A value out of range is an error.
[[nodiscard]] Result<PresetSettings> take_settings(Preset preset,
                                                   std::vector<PolicyOption>& options);

}  // namespace berth
