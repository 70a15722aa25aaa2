// A window over the decompressed bytes of one file, and the lines in it. Memory is one buffer that
// grows with the longest line or record, not with the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/byte_source.h"

namespace berth::trace {

class Input {
 public:
  static constexpr std::size_t kHeadBytes =
      std::size_t{64} * 1024;  // what format detection may look at
  static constexpr std::size_t kMaxLineBytes = std::size_t{1024} * 1024;
  static constexpr std::size_t kPadding = 64;  // readable bytes behind the window, for simdjson

  // Errors: as open_source; nothing in the file; UTF-16 text. `wanted` says in them what is read.
  [[nodiscard]] static Result<Input> open(const std::string& path, std::string wanted = "a trace");
  [[nodiscard]] static Result<Input> from_memory(std::string name, std::string_view bytes);

  // The start of what is not consumed: at least kHeadBytes of it, or all.
  [[nodiscard]] std::string_view window() const { return {buffer_.get() + begin_, end_ - begin_}; }
  // Makes the window longer; false at the end or on an error. Views of the window become invalid.
  [[nodiscard]] bool more();
  void consume(std::size_t n) { begin_ += n; }

  // The next line without its end (LF, CRLF, or CR in files that have no LF); valid until the next
  // call. False at the end or on an error, which status() tells apart.
  [[nodiscard]] bool next_line(std::string_view& line);
  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }  // of that line, from 1

  // Whoever opened the input asks after reading; readers need not.
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // About which share of the file was consumed, from 0 to 1; 0: no idea.
  [[nodiscard]] double progress() const;

  [[nodiscard]] Error error(std::uint64_t line, std::string field, std::string message,
                            std::string found = {}, std::string expected = {}) const;

 private:
  Input(std::string name, std::string wanted, std::unique_ptr<ByteSource> source,
        std::size_t capacity);
  [[nodiscard]] Status start();
  void grow();

  std::string name_;
  std::string wanted_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  char line_end_ = '\n';
  std::uint64_t line_number_ = 0;
  std::size_t decoded_ = 0;  // bytes that came into the window
  Status status_;
};

// All of a small file, decompressed. `what` it should be is for messages: "a description of a
// cluster".
[[nodiscard]] Result<std::string> read_whole(const std::string& path, std::string_view what,
                                             std::size_t most_bytes);

}  // namespace berth::trace
