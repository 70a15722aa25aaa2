// Values of a document as the numbers and names that are meant; errors name file, line and field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "document/node.h"

namespace berth::document {

// "010", "1_000", "1e3", "+1" and "0x1f" mean one thing to one reader and another to the next:
// none of them is a number here. `digits` / 10^`scale`.
struct Decimal {
  std::int64_t digits = 0;
  int scale = 0;
};
[[nodiscard]] std::optional<Decimal> parse_decimal(std::string_view text);
// value * factor; nothing if that is no integer, or none of 64 bits.
[[nodiscard]] std::optional<std::int64_t> scaled(Decimal value, std::int64_t factor);
// The same, to the nearest integer.
[[nodiscard]] std::optional<std::int64_t> scaled_nearest(Decimal value, std::int64_t factor);

class Fields {
 public:
  // `keys_page`: where all keys are explained; errors name it instead of all of a long list.
  explicit Fields(std::string_view file, std::string_view keys_page = {})
      : file_(file), keys_page_(keys_page) {}

  [[nodiscard]] std::string_view file() const { return file_; }
  [[nodiscard]] tl::unexpected<Error> wrong(const Node& at, std::string field,
                                            std::string expected) const;
  [[nodiscard]] Error unknown_key(const Node& entry,
                                  const std::vector<std::string_view>& known) const;
  // It is a map, and each of its keys is one of `known`. `field` names it.
  [[nodiscard]] Status known_keys(const Node& map, std::string_view field,
                                  const std::vector<std::string_view>& known) const;

 private:
  std::string_view file_;
  std::string_view keys_page_;
};

}  // namespace berth::document
