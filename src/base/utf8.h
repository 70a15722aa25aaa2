// UTF-8, as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth {

// Length of the valid sequence at the start of `text`, or 0. `text` is not empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);
// Where the first byte stands that is not part of a valid sequence; npos: there is none.
[[nodiscard]] std::size_t first_invalid_utf8(std::string_view text);
[[nodiscard]] inline bool is_utf8(std::string_view text) {
  return first_invalid_utf8(text) == std::string_view::npos;
}

}  // namespace berth
