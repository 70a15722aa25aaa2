// Tells whether two things are the same by 128 bits: against chance, not against intent.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

class Fingerprint {
 public:
  void add(std::uint64_t word);
  // Its length counts: "ab", "c" is not "a", "bc".
  void add(std::string_view text);
  // The bytes of a regular file, or the names and bytes of all in a folder, by name.
  [[nodiscard]] Status add_file(const std::string& path);
  [[nodiscard]] std::string hex() const;

 private:
  [[nodiscard]] Status add_bytes_of(const std::string& path);

  std::array<std::uint64_t, 2> state_{0x243F6A8885A308D3ULL, 0x13198A2E03707344ULL};
};

}  // namespace berth
