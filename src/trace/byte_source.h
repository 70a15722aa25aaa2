// Bytes of a file, plain or compressed: gzip (any number of members), xz and zstd are recognised by
// their first bytes and decoded as a stream. A stream that ends early, is damaged, or is followed
// by something else is an error, never a short file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::trace {

// Guards against compression bombs. The ratio counts only above kRatioFreeBytes, where no real
// trace comes near it (text in xz is 5 to 30 times smaller).
inline constexpr std::uint64_t kMaxDecodedBytes = std::uint64_t{8} << 30U;
inline constexpr std::uint64_t kRatioFreeBytes = std::uint64_t{64} << 20U;
inline constexpr std::uint64_t kMaxRatio = 500;

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // Fills the start of `out` (not empty) and returns how much; 0 only at the end.
  [[nodiscard]] virtual Result<std::size_t> read(std::span<char> out) = 0;
  // About which share of all was read, from 0 to 1; 0: no idea.
  [[nodiscard]] virtual double progress() const { return 0; }
};

// `path` may be "-" for standard input; `wanted` says in errors what is read ("a trace").
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_source(const std::string& path,
                                                              std::string_view wanted);

// The same over bytes in memory, which must outlive the source; `name` stands in messages.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> memory_source(std::string name,
                                                                std::string_view bytes);

}  // namespace berth::trace
