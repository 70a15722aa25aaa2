// A log of bounded size: NAME and, once it went over half of its limit, NAME.1 with what was
// before. A job is never held up nor ended because its log cannot be written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace berth::local {

class LogFile {
 public:
  // `path` is made when there is something to write. Both parts together keep at most
  // `limit_bytes`; 0 keeps nothing.
  LogFile(std::string path, std::int64_t limit_bytes);

  void write(std::string_view bytes);
  // Says what could not be written, if that can be written now.
  void finish();
  [[nodiscard]] std::int64_t lost_bytes() const { return lost_bytes_; }

 private:
  [[nodiscard]] bool open();
  void rotate();
  void note_losses();
  void lose(std::size_t bytes);
  void append(std::string_view bytes);

  std::string path_;
  std::int64_t half_bytes_;
  std::int64_t size_ = 0;
  std::int64_t lost_bytes_ = 0;
  int lost_errno_ = 0;
  Fd fd_;
};

}  // namespace berth::local
