#include "trace/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace berth::trace {
namespace {

constexpr std::size_t kFileCapacity = std::size_t{256} * 1024;  // stays in the second-level cache
constexpr std::size_t kMemoryCapacity = 2048;  // as for its blocks: it is for tests

// The mark alone may stand in any text; but an archive begins with a name that zeros end.
bool is_tar(std::string_view head) {
  constexpr std::size_t kMark = 257;
  return head.size() > kMark && head.substr(kMark).starts_with("ustar") &&
         head.find('\0') < head.find('\n');
}

}  // namespace

Input::Input(std::string name, std::string wanted, std::unique_ptr<ByteSource> source,
             std::size_t capacity)
    : name_(std::move(name)),
      wanted_(std::move(wanted)),
      source_(std::move(source)),
      buffer_(std::make_unique<char[]>(capacity + kPadding)),
      capacity_(capacity) {}

Result<Input> Input::open(const std::string& path, std::string wanted) {
  BERTH_TRY(auto source, open_source(path, wanted));
  Input input(path == "-" ? "standard input" : path, std::move(wanted), std::move(source),
              kFileCapacity);
  BERTH_CHECK_OK(input.start());
  return input;
}

Result<Input> Input::from_memory(std::string name, std::string_view bytes) {
  BERTH_TRY(auto source, memory_source(name, bytes));
  Input input(std::move(name), "a trace", std::move(source), kMemoryCapacity);
  BERTH_CHECK_OK(input.start());
  return input;
}

Status Input::start() {
  while (window().size() < kHeadBytes && more()) {
  }
  if (!status_) return status_;
  const std::string_view head = window();
  if (head.empty()) {
    return fail(error(0, {}, "the file is empty after decompression", "0 bytes", wanted_));
  }
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) {
    return fail(error(1, {}, "the encoding is wrong", "UTF-16", "UTF-8"));
  }
  if (is_tar(head)) {
    return fail(error(0, {}, "not a text file", "a tar archive", "one of the files in it"));
  }
  if (head.starts_with("\xef\xbb\xbf")) consume(3);
  if (head.find('\n') == std::string_view::npos && head.find('\r') != std::string_view::npos) {
    line_end_ = '\r';
  }
  return {};
}

void Input::grow() {
  const std::size_t held = end_ - begin_;
  if (begin_ == 0 && end_ == capacity_) {
    auto larger = std::make_unique<char[]>(capacity_ * 2 + kPadding);
    std::memcpy(larger.get(), buffer_.get(), held);
    buffer_ = std::move(larger);
    capacity_ *= 2;
  } else if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, held);
    begin_ = 0;
    end_ = held;
  }
}

bool Input::more() {
  if (at_end_) return false;
  grow();
  auto got = source_->read({buffer_.get() + end_, capacity_ - end_});
  if (!got) status_ = fail(std::move(got).error());
  if (!got || *got == 0) {
    at_end_ = true;
    return false;
  }
  end_ += *got;
  decoded_ += *got;
  return true;
}

double Input::progress() const {
  if (decoded_ == 0) return 0;
  const auto consumed = static_cast<double>(decoded_ - (end_ - begin_));
  return source_->progress() * consumed / static_cast<double>(decoded_);
}

bool Input::next_line(std::string_view& line) {
  std::size_t searched = 0;
  while (true) {
    const std::string_view held = window();
    const void* end = held.size() == searched
                          ? nullptr
                          : std::memchr(held.data() + searched, line_end_, held.size() - searched);
    std::size_t size = held.size();
    if (end != nullptr)
      size = static_cast<std::size_t>(static_cast<const char*>(end) - held.data());
    if (size > kMaxLineBytes) {
      status_ = fail(error(line_number_ + 1, {}, "the line is too long",
                           fmt::format("more than {} bytes", kMaxLineBytes), wanted_));
      at_end_ = true;
      begin_ = end_;
      return false;
    }
    searched = held.size();
    if (end == nullptr && more()) continue;
    if (end == nullptr && (held.empty() || !status_)) return false;
    ++line_number_;
    consume(size + (end != nullptr ? 1 : 0));
    if (size > 0 && held[size - 1] == '\r') --size;
    line = held.substr(0, size);
    return true;
  }
}

Error Input::error(std::uint64_t line, std::string field, std::string message, std::string found,
                   std::string expected) const {
  return bad_input(name_, line, std::move(field), std::move(message), std::move(found),
                   std::move(expected));
}

Result<std::string> read_whole(const std::string& path, std::string_view what,
                               std::size_t most_bytes) {
  BERTH_TRY(Input input, Input::open(path, std::string(what)));
  while (input.window().size() <= most_bytes && input.more()) {
  }
  if (!input.status()) return fail(input.status().error());
  if (input.window().size() > most_bytes) {
    return fail(bad_input(path, 0, "", fmt::format("too large for {}", what),
                          fmt::format("more than {} MiB", most_bytes >> 20U), std::string(what)));
  }
  return std::string(input.window());
}

}  // namespace berth::trace
