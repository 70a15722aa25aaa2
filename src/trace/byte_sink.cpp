#include "trace/byte_sink.h"

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <new>
#include <utility>
#include <vector>

#include "base/atomic_file.h"

namespace berth::trace {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} * 1024;
constexpr int kZstdLevel = 9;  // about the size of gzip -9, at a tenth of its time

class Plain final : public ByteSink {
 public:
  explicit Plain(AtomicFile file) : file_(std::move(file)) {}
  Status write(std::string_view bytes) override { return file_.write(bytes); }
  Status finish() override { return file_.commit(); }

 private:
  AtomicFile file_;
};

class Gzip final : public ByteSink {
 public:
  explicit Gzip(AtomicFile file) : file_(std::move(file)), block_(kBlockBytes) {
    constexpr int kGzip = 15 + 16;
    constexpr int kMemory = 8;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() override { deflateEnd(&stream_); }

  Status write(std::string_view bytes) override { return deflate_all(bytes, Z_NO_FLUSH); }
  Status finish() override {
    BERTH_CHECK_OK(deflate_all({}, Z_FINISH));
    return file_.commit();
  }

 private:
  Status deflate_all(std::string_view bytes, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(block_.data());
      stream_.avail_out = static_cast<uInt>(block_.size());
      if (deflate(&stream_, flush) == Z_STREAM_ERROR) {
        return fail(internal_error("gzip could not compress"));
      }
      BERTH_CHECK_OK(file_.write({block_.data(), block_.size() - stream_.avail_out}));
    } while (stream_.avail_out == 0);
    return {};
  }

  AtomicFile file_;
  std::vector<char> block_;
  z_stream stream_{};
};

class Xz final : public ByteSink {
 public:
  explicit Xz(AtomicFile file) : file_(std::move(file)), block_(kBlockBytes) {
    if (lzma_easy_encoder(&stream_, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;
  ~Xz() override { lzma_end(&stream_); }

  Status write(std::string_view bytes) override { return encode(bytes, LZMA_RUN); }
  Status finish() override {
    BERTH_CHECK_OK(encode({}, LZMA_FINISH));
    return file_.commit();
  }

 private:
  Status encode(std::string_view bytes, lzma_action action) {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
    stream_.avail_in = bytes.size();
    lzma_ret code = LZMA_OK;
    do {
      stream_.next_out = reinterpret_cast<std::uint8_t*>(block_.data());
      stream_.avail_out = block_.size();
      code = lzma_code(&stream_, action);
      if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR) {
        return fail(
            internal_error(fmt::format("xz could not compress ({})", static_cast<int>(code))));
      }
      BERTH_CHECK_OK(file_.write({block_.data(), block_.size() - stream_.avail_out}));
    } while (action == LZMA_FINISH ? code != LZMA_STREAM_END : stream_.avail_out == 0);
    return {};
  }

  AtomicFile file_;
  std::vector<char> block_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class Zstd final : public ByteSink {
 public:
  explicit Zstd(AtomicFile file)
      : file_(std::move(file)), block_(kBlockBytes), stream_(ZSTD_createCCtx()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_checksumFlag, 1);
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
  ~Zstd() override { ZSTD_freeCCtx(stream_); }

  Status write(std::string_view bytes) override { return compress(bytes, ZSTD_e_continue); }
  Status finish() override {
    BERTH_CHECK_OK(compress({}, ZSTD_e_end));
    return file_.commit();
  }

 private:
  Status compress(std::string_view bytes, ZSTD_EndDirective mode) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer out{block_.data(), block_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(stream_, &out, &in, mode);
      if (ZSTD_isError(left) != 0) {
        return fail(internal_error(fmt::format("zstd: {}", ZSTD_getErrorName(left))));
      }
      BERTH_CHECK_OK(file_.write({block_.data(), out.pos}));
      if (mode == ZSTD_e_end ? left == 0 : in.pos == in.size) return {};
    }
  }

  AtomicFile file_;
  std::vector<char> block_;
  ZSTD_CCtx* stream_;
};

}  // namespace

Result<std::unique_ptr<ByteSink>> open_sink(const std::string& path) {
  BERTH_TRY(AtomicFile file, AtomicFile::create(path));
  if (path.ends_with(".gz")) return std::make_unique<Gzip>(std::move(file));
  if (path.ends_with(".xz")) return std::make_unique<Xz>(std::move(file));
  if (path.ends_with(".zst")) return std::make_unique<Zstd>(std::move(file));
  return std::make_unique<Plain>(std::move(file));
}

}  // namespace berth::trace
