// The decoders behind byte_source.h, one per kind of compression.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/byte_source.h"

namespace berth::trace {

// The bytes of a file as they lie on disk, in blocks.
class CompressedInput {
 public:
  CompressedInput(std::string name, std::unique_ptr<ByteSource> raw, std::size_t block_bytes);

  // Reads the next block when none is left. After it, left() is empty only at the end.
  [[nodiscard]] Status fill();
  [[nodiscard]] std::string_view left() const { return {block_.data() + begin_, end_ - begin_}; }
  void consume(std::size_t n) { begin_ += n; }

  [[nodiscard]] std::uint64_t consumed() const { return total_ - (end_ - begin_); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] double progress() const { return raw_->progress(); }

 private:
  std::string name_;
  std::unique_ptr<ByteSource> raw_;
  std::vector<char> block_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t total_ = 0;
};

[[nodiscard]] std::unique_ptr<ByteSource> open_plain(CompressedInput input);
[[nodiscard]] std::unique_ptr<ByteSource> open_gzip(CompressedInput input);
[[nodiscard]] std::unique_ptr<ByteSource> open_xz(CompressedInput input);
[[nodiscard]] std::unique_ptr<ByteSource> open_zstd(CompressedInput input);

}  // namespace berth::trace
