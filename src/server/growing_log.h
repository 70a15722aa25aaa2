// One log of a task on its disk: NAME.1, the older part, then NAME, then whatever comes.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace berth {

class GrowingLog {
 public:
  explicit GrowingLog(std::string path) : path_(std::move(path)) {}

  // What there is now; nothing yet is no error. An error: it is not a plain file.
  [[nodiscard]] Status open();
  // Begins with the last `lines` lines, or a part of them if they are longer than `most_bytes`.
  void skip_to_last_lines(std::int64_t lines, std::int64_t most_bytes);
  // Nothing that comes after this is read.
  void end_here();
  // Appends at most `most` bytes; how many. 0: there are no more now.
  std::size_t read(std::string& out, std::size_t most);

 private:
  std::size_t read_some(std::string& out, std::size_t most);
  [[nodiscard]] bool has_appeared();
  [[nodiscard]] bool was_put_aside();

  std::string path_;
  std::vector<Fd> files_;    // none: nothing has been printed yet
  std::int64_t offset_ = 0;  // in the first
  std::int64_t left_ = std::numeric_limits<std::int64_t>::max();  // that may still be read
};

}  // namespace berth
