#include "trace/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "trace/decoder.h"

namespace berth::trace {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(std::string path, int fd, std::size_t bytes)
      : path_(std::move(path)), fd_(fd), bytes_(bytes) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }

  Result<std::size_t> read(std::span<char> out) override {
    while (true) {
      const ssize_t got = ::read(fd_, out.data(), out.size());
      if (got >= 0) {
        done_ += static_cast<std::size_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) {
        return fail(io_error(path_, fmt::format("cannot read: {}", std::strerror(errno))));
      }
    }
  }

  double progress() const override {
    if (bytes_ == 0) return 0;
    return std::min(1.0, static_cast<double>(done_) / static_cast<double>(bytes_));
  }

 private:
  std::string path_;
  int fd_;
  std::size_t bytes_;  // in all; 0: not known
  std::size_t done_ = 0;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : left_(bytes) {}

  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t n = std::min(out.size(), left_.size());
    std::copy_n(left_.data(), n, out.data());
    left_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view left_;
};

struct Magic {
  std::string_view bytes;
  std::string_view what;  // empty: a stream that is decoded
  std::unique_ptr<ByteSource> (*open)(CompressedInput input) = nullptr;
};

using namespace std::string_view_literals;
constexpr std::array kMagics{
    Magic{"\x1f\x8b"sv, {}, open_gzip},
    Magic{"\xfd"
          "7zXZ\0"sv,
          {},
          open_xz},
    Magic{"\x28\xb5\x2f\xfd"sv, {}, open_zstd},
    Magic{"BZh"sv, "bzip2"},
    Magic{"PK\x03\x04"sv, "a zip archive"},
    Magic{"7z\xbc\xaf\x27\x1c"sv, "a 7z archive"},
    Magic{"SQLite format 3\0"sv, "an SQLite database"},
    Magic{"PAR1"sv, "Parquet"},
};

// Zstandard's skippable frames (RFC 8878, 3.1.2) may come first: pzstd writes one before each
// block.
bool is_skippable_zstd(std::string_view head) {
  return head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xF0U) == 0x50U &&
         head.substr(1).starts_with("\x2a\x4d\x18"sv);
}

constexpr std::size_t kFileBlockBytes = std::size_t{64} * 1024;
// Small, so that what is tested from memory crosses the edges of blocks too.
constexpr std::size_t kMemoryBlockBytes = 1024;

Result<std::unique_ptr<ByteSource>> decoded(std::string name, std::string_view wanted,
                                            std::unique_ptr<ByteSource> raw,
                                            std::size_t block_bytes) {
  CompressedInput input(std::move(name), std::move(raw), block_bytes);
  BERTH_CHECK_OK(input.fill());
  const std::string_view head = input.left();
  if (head.empty()) {
    return fail(
        bad_input(input.name(), 0, {}, "the file is empty", "0 bytes", std::string(wanted)));
  }
  for (const Magic& magic : kMagics) {
    if (!head.starts_with(magic.bytes)) continue;
    if (magic.open != nullptr) return magic.open(std::move(input));
    return fail(bad_input(input.name(), 0, {}, "not a text file", std::string(magic.what),
                          "text, plain or compressed with gzip, xz or zstd"));
  }
  if (is_skippable_zstd(head)) return open_zstd(std::move(input));
  return open_plain(std::move(input));
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path, std::string_view wanted) {
  const int fd = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(open_error(path, errno));
  struct stat info {};
  const bool known = ::fstat(fd, &info) == 0;
  const bool regular = known && S_ISREG(info.st_mode);
  auto file =
      std::make_unique<FileSource>(path, fd, regular ? static_cast<std::size_t>(info.st_size) : 0);
  if (known && S_ISDIR(info.st_mode)) {
    return fail(bad_input(path, 0, {}, "cannot be read", "a folder", "a file"));
  }
  return decoded(path, wanted, std::move(file), kFileBlockBytes);
}

Result<std::unique_ptr<ByteSource>> memory_source(std::string name, std::string_view bytes) {
  return decoded(std::move(name), "a trace", std::make_unique<MemorySource>(bytes),
                 kMemoryBlockBytes);
}

}  // namespace berth::trace
