#include "policy/common/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"
#include "base/text.h"

namespace berth {

Status read_options(std::string_view policy, std::span<const PolicyOption> options,
                    std::span<const NumberSetting> settings) {
  for (const PolicyOption& option : options) {
    const auto known = std::ranges::find(settings, option.key, &NumberSetting::key);
    if (known == settings.end()) {
      std::vector<std::string_view> keys;
      for (const NumberSetting& setting : settings) keys.push_back(setting.key);
      return fail(usage_error(
          unknown_name(fmt::format("option of policy '{}'", policy), option.key, keys), "--set"));
    }
    const auto number = parse_number(option.value);
    if (!number || *number < known->low || *number > known->high) {
      Error error = usage_error(fmt::format("not a value of '{}'", option.key), "--set");
      error.found = fmt::format("'{}'", printable(option.value));
      error.expected = fmt::format("a number from {} to {}", known->low, known->high);
      return fail(std::move(error));
    }
    *known->value = *number;
  }
  return {};
}

Status no_options(std::string_view policy, std::span<const PolicyOption> options) {
  if (options.empty()) return {};
  return fail(usage_error(fmt::format("policy '{}' has no options, '{}' was set", policy,
                                      printable(options.front().key)),
                          "--set"));
}

}  // namespace berth
