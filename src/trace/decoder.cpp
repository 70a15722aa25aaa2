#include "trace/decoder.h"

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <new>

namespace berth::trace {
namespace {

constexpr std::uint64_t kXzMemoryBytes = std::uint64_t{256} << 20U;  // xz -9 asks for 65 MiB

// What all decoders share: the input, and the guard on how much comes out of it.
class Decoder : public ByteSource {
 public:
  explicit Decoder(CompressedInput input) : input_(std::move(input)) {}

  Result<std::size_t> read(std::span<char> out) final {
    BERTH_TRY(const std::size_t got, decode(out));
    decoded_ += got;
    if (decoded_ > kMaxDecodedBytes) {
      return fail(damaged(fmt::format("more than {} bytes after decompression", kMaxDecodedBytes)));
    }
    if (decoded_ > kRatioFreeBytes && decoded_ / kMaxRatio > input_.consumed()) {
      return fail(damaged(
          fmt::format("expands more than {} times: not a trace, refused for safety", kMaxRatio)));
    }
    return got;
  }
  double progress() const final { return input_.progress(); }

 protected:
  // As ByteSource::read.
  virtual Result<std::size_t> decode(std::span<char> out) = 0;

  [[nodiscard]] CompressedInput& input() { return input_; }
  [[nodiscard]] Error damaged(std::string message) const {
    return bad_input(input_.name(), 0, {}, std::move(message));
  }
  [[nodiscard]] Error truncated(std::string_view kind) const {
    return damaged(fmt::format("the {} stream ends early at byte {}: the file is truncated", kind,
                               input_.consumed()));
  }
  [[nodiscard]] Error broken(std::string_view kind, std::string_view why) const {
    return damaged(
        fmt::format("the {} stream is damaged near byte {}: {}", kind, input_.consumed(), why));
  }

 private:
  CompressedInput input_;
  std::uint64_t decoded_ = 0;
};

class Plain final : public ByteSource {
 public:
  explicit Plain(CompressedInput input) : input_(std::move(input)) {}

  Result<std::size_t> read(std::span<char> out) override {
    BERTH_CHECK_OK(input_.fill());
    const std::size_t n = std::min(out.size(), input_.left().size());
    std::copy_n(input_.left().data(), n, out.data());
    input_.consume(n);
    return n;
  }
  double progress() const override { return input_.progress(); }

 private:
  CompressedInput input_;
};

class Gzip final : public Decoder {
 public:
  explicit Gzip(CompressedInput input) : Decoder(std::move(input)) {
    constexpr int kGzipOnly = 15 + 16;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() override { inflateEnd(&stream_); }

 protected:
  Result<std::size_t> decode(std::span<char> out) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size(), 1U << 30U));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      BERTH_CHECK_OK(input().fill());
      const std::string_view in = input().left();
      if (between_members_) {
        if (in.empty()) return std::size_t{0};
        if (in.front() == '\0') {  // tapes and some tools pad with zeros
          input().consume(1);
          continue;
        }
        if (in.front() != '\x1f') return fail(broken("gzip", "other bytes follow its end"));
        inflateReset(&stream_);
        between_members_ = false;
      }
      if (in.empty()) return fail(truncated("gzip"));
      // zlib's interface is not const-correct; it does not write to the input.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
      stream_.avail_in = static_cast<uInt>(in.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      input().consume(in.size() - stream_.avail_in);
      if (code == Z_STREAM_END) {
        between_members_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return fail(broken("gzip", stream_.msg != nullptr ? stream_.msg : "not gzip data"));
      }
    }
    return std::size_t{wanted - stream_.avail_out};
  }

 private:
  z_stream stream_{};
  bool between_members_ = false;
};

std::string_view xz_problem(lzma_ret code) {
  switch (code) {
    case LZMA_FORMAT_ERROR:
      return "other bytes follow its end";
    case LZMA_MEMLIMIT_ERROR:
      return "it needs more than 256 MiB of memory";
    case LZMA_OPTIONS_ERROR:
      return "it uses unsupported options";
    default:
      return "its data or its checksum is wrong";
  }
}

class Xz final : public Decoder {
 public:
  explicit Xz(CompressedInput input) : Decoder(std::move(input)) {
    if (lzma_stream_decoder(&stream_, kXzMemoryBytes, LZMA_CONCATENATED) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;
  ~Xz() override { lzma_end(&stream_); }

 protected:
  Result<std::size_t> decode(std::span<char> out) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    while (stream_.avail_out == out.size() && !ended_) {
      BERTH_CHECK_OK(input().fill());
      const std::string_view in = input().left();
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
      stream_.avail_in = in.size();
      const lzma_ret code = lzma_code(&stream_, in.empty() ? LZMA_FINISH : LZMA_RUN);
      input().consume(in.size() - stream_.avail_in);
      if (code == LZMA_STREAM_END) {
        ended_ = true;
      } else if (code == LZMA_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (in.empty() && (code == LZMA_BUF_ERROR || code == LZMA_OK)) {
        if (stream_.avail_out == out.size()) return fail(truncated("xz"));
      } else if (code != LZMA_OK && code != LZMA_BUF_ERROR) {
        return fail(broken("xz", xz_problem(code)));
      }
    }
    return out.size() - stream_.avail_out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ended_ = false;
};

class Zstd final : public Decoder {
 public:
  explicit Zstd(CompressedInput input) : Decoder(std::move(input)), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
  ~Zstd() override { ZSTD_freeDStream(stream_); }

 protected:
  Result<std::size_t> decode(std::span<char> out) override {
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    while (target.pos == 0) {
      BERTH_CHECK_OK(input().fill());
      const std::string_view in = input().left();
      if (in.empty() && between_frames_) break;
      ZSTD_inBuffer from{in.data(), in.size(), 0};
      const std::size_t code = ZSTD_decompressStream(stream_, &target, &from);
      input().consume(from.pos);
      if (ZSTD_isError(code) != 0) return fail(broken("zstd", ZSTD_getErrorName(code)));
      between_frames_ = code == 0;
      // Without input the decoder may still hold output; with neither, the file was cut.
      if (in.empty() && target.pos == 0 && !between_frames_) return fail(truncated("zstd"));
    }
    return target.pos;
  }

 private:
  ZSTD_DStream* stream_;
  bool between_frames_ = false;
};

}  // namespace

CompressedInput::CompressedInput(std::string name, std::unique_ptr<ByteSource> raw,
                                 std::size_t block_bytes)
    : name_(std::move(name)), raw_(std::move(raw)), block_(block_bytes) {}

Status CompressedInput::fill() {
  if (begin_ < end_) return {};
  BERTH_TRY(end_, raw_->read(block_));
  begin_ = 0;
  total_ += end_;
  return {};
}

std::unique_ptr<ByteSource> open_plain(CompressedInput input) {
  return std::make_unique<Plain>(std::move(input));
}
std::unique_ptr<ByteSource> open_gzip(CompressedInput input) {
  return std::make_unique<Gzip>(std::move(input));
}
std::unique_ptr<ByteSource> open_xz(CompressedInput input) {
  return std::make_unique<Xz>(std::move(input));
}
std::unique_ptr<ByteSource> open_zstd(CompressedInput input) {
  return std::make_unique<Zstd>(std::move(input));
}

}  // namespace berth::trace
