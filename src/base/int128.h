// Integers of 128 bits, for products of two of 64 that are divided again.
#pragma once

namespace berth {

// An extension that both compilers have and -Wpedantic asks to be named so.
__extension__ typedef __int128 Int128;  // NOLINT(modernize-use-using)

// a / b rounded up; a >= 0, b > 0.
[[nodiscard]] constexpr Int128 divide_up(Int128 a, Int128 b) {
  return (a + b - 1) / b;
}

}  // namespace berth
