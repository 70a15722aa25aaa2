// What a task of a job has printed, and goes on to print: its standard output, its standard error,
// or both, over one run or from run to run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "server/http.h"

namespace berth {

// Which run a job is in, or was in last, and whether it may print more.
struct LogMoment {
  std::uint32_t attempt = 0;  // 0: none has begun
  bool goes_on = false;
};

struct LogQuery {
  std::function<std::string(std::uint32_t attempt)> folder;
  std::uint32_t task = 0;
  std::uint32_t attempt = 1;  // the first that is shown; 0: none has begun
  bool out = true;
  bool err = true;
  // Only so many lines at the end of each of the two, of the first run; looked for in the last
  // kMostLookedForLines bytes. -1: all.
  std::int64_t tail_lines = -1;
  std::function<LogMoment()> now;  // null: what is there now is all that is wanted
};

inline constexpr std::int64_t kMostLookedForLines = 16 << 20;

// One of the two: bytes as they were printed. Both: a line "==> standard error <==" stands before
// what came from there, "==> standard output <==" where it is that one again, and "==> run 2 <=="
// where the next run begins, which begins with standard output. There is no common order of what
// lies in two files: of what was printed before it was asked for, standard output is first.
//
// Nothing has been printed yet: it is empty so far. An error: what is there is not a plain file.
[[nodiscard]] Result<std::unique_ptr<HttpStream>> log_stream(LogQuery query);

}  // namespace berth
