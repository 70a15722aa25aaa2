// A new file, plain or compressed as its name says (.gz, .xz, .zst).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::trace {

class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  [[nodiscard]] virtual Status write(std::string_view bytes) = 0;
  // Ends the stream and puts the file in its place; without it nothing stays.
  [[nodiscard]] virtual Status finish() = 0;
};

// `path` may be "-" for standard output, plain.
[[nodiscard]] Result<std::unique_ptr<ByteSink>> open_sink(const std::string& path);

}  // namespace berth::trace
