#include "engine/presets/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/number.h"

namespace berth {
namespace {

constexpr std::int64_t kMostJobs = 2'000'000;  // about a kilobyte each

tl::unexpected<Error> wrong_value(const PolicyOption& option, std::string expected) {
  Error error = usage_error(fmt::format("not a value of '{}'", option.key), "--set");
  error.found = fmt::format("'{}'", printable(option.value));
  error.expected = std::move(expected);
  return fail(std::move(error));
}

Result<double> number(const PolicyOption& option, double low, double high) {
  const auto value = parse_number(option.value);
  if (value && *value >= low && *value <= high) return *value;
  return wrong_value(option, fmt::format("a number from {} to {}", low, high));
}

// The position of the value among `names`.
Result<std::size_t> choice(const PolicyOption& option, std::span<const std::string_view> names) {
  const auto at = std::ranges::find(names, option.value);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  return wrong_value(option, fmt::format("one of {}", fmt::join(names, ", ")));
}

Status set_span(const PolicyOption& option, PresetSettings& settings) {
  constexpr std::string_view kNames[] = {"real", "large"};
  BERTH_TRY(const std::size_t at, choice(option, kNames));
  settings.span = at == 0 ? PaperSpan::kReal : PaperSpan::kLarge;
  return {};
}

Status set_jobs(const PolicyOption& option, PresetSettings& settings) {
  const auto value = parse_int(option.value);
  if (!value || *value < 1 || *value > kMostJobs) {
    return wrong_value(option, fmt::format("a whole number from 1 to {}", kMostJobs));
  }
  settings.jobs = *value;
  return {};
}

Status set_mean_alone_h(const PolicyOption& option, PresetSettings& settings) {
  BERTH_TRY(settings.mean_alone_h, number(option, 0.01, 1000));
  return {};
}

Status set_gpus(const PolicyOption& option, PresetSettings& settings) {
  constexpr std::string_view kNames[] = {"uniform", "trace"};
  BERTH_TRY(const std::size_t at, choice(option, kNames));
  settings.gpus = at == 0 ? GpuCounts::kUniform : GpuCounts::kTrace;
  return {};
}

Status set_required_accuracy(const PolicyOption& option, PresetSettings& settings) {
  BERTH_TRY(settings.required_accuracy, number(option, 0, 1));
  return {};
}

Status set_stop(const PolicyOption& option, PresetSettings& settings) {
  constexpr std::string_view kNames[] = {"iterations", "mixed"};
  BERTH_TRY(const std::size_t at, choice(option, kNames));
  settings.stop = at == 0 ? StopChoice::kIterations : StopChoice::kMixed;
  return {};
}

Status set_checkpoint_on_stop(const PolicyOption& option, PresetSettings& settings) {
  constexpr std::string_view kNames[] = {"off", "on"};
  BERTH_TRY(const std::size_t at, choice(option, kNames));
  settings.checkpoint_on_stop = at == 1;
  return {};
}

Status set_use_sigma(const PolicyOption& option, PresetSettings& settings) {
  BERTH_TRY(settings.use_sigma, number(option, 0, 2));
  return {};
}

struct Setting {
  std::string_view key;
  Status (*set)(const PolicyOption&, PresetSettings&);
};
// Those of `measured` first, then what only `paper` has.
constexpr std::array<Setting, 8> kSettings = {{
    {"required_accuracy", set_required_accuracy},
    {"stop", set_stop},
    {"checkpoint_on_stop", set_checkpoint_on_stop},
    {"use_sigma", set_use_sigma},
    {"span", set_span},
    {"jobs", set_jobs},
    {"mean_alone_h", set_mean_alone_h},
    {"gpus", set_gpus},
}};
constexpr std::size_t kOfMeasured = 4;

constexpr auto kKeys = [] {
  std::array<std::string_view, kSettings.size()> keys{};
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = kSettings[i].key;
  return keys;
}();

}  // namespace

std::span<const std::string_view> setting_keys(Preset preset) {
  const std::span<const std::string_view> keys(kKeys);
  if (preset == Preset::kAsTraced) return {};
  return preset == Preset::kPaper ? keys : keys.first(kOfMeasured);
}

Result<PresetSettings> take_settings(Preset preset, std::vector<PolicyOption>& options) {
  PresetSettings settings;
  const auto keys = setting_keys(preset);
  std::vector<PolicyOption> left;
  for (PolicyOption& option : options) {
    const auto at = std::ranges::find(keys, option.key);
    if (at == keys.end()) {
      left.push_back(std::move(option));
      continue;
    }
    BERTH_CHECK_OK(kSettings[static_cast<std::size_t>(at - keys.begin())].set(option, settings));
  }
  options = std::move(left);
  return settings;
}

}  // namespace berth
