// A file that appears whole or not at all: written beside its place, then renamed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

class AtomicFile {
 public:
  // The new file can be read by its owner only (mode 0600). "-" is standard output, and what is not
  // a regular file (a pipe, /dev/null) is written directly.
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
  AtomicFile(std::string path, std::string temporary, int fd);
  [[nodiscard]] Error error(const char* what) const;
  void close_fd();

  std::string path_;
  std::string temporary_;  // "": written directly
  int fd_ = -1;
};

}  // namespace berth
