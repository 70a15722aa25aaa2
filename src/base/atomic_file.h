// A file that appears whole or not at all: written without a name, or beside its place, then put
// there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

class AtomicFile {
 public:
  // A file that is replaced keeps its mode; a new one is its owner's alone. "-" is standard
  // output, and what is not a regular file (a pipe, /dev/null) is written directly.
  [[nodiscard]] static Result<AtomicFile> create(const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // without commit(): nothing of it stays

  [[nodiscard]] Status write(std::string_view bytes);
  // Flushes to disk and puts the file in its place.
  [[nodiscard]] Status commit();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  enum class Kind : std::uint8_t {
    kDirect,   // written where it is
    kUnnamed,  // no name until commit(): nothing stays even if the process is killed
    kBeside,   // temporary_, where the file system has no files without a name
  };

  AtomicFile(std::string path, Kind kind, int fd);
  [[nodiscard]] static AtomicFile create_unnamed(const std::string& path);
  [[nodiscard]] static AtomicFile create_beside(const std::string& path);
  [[nodiscard]] Status name_it();  // kUnnamed to kBeside
  [[nodiscard]] Error error(const char* what) const;
  void close_fd();

  std::string path_;
  std::string temporary_;
  Kind kind_;
  int fd_ = -1;
};

}  // namespace berth
