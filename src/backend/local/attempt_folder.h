// What is written down of an attempt so that whoever comes after a crash can tell what became of
// it: files in attempts/KEY.
//
//   claim  who may start it: made once, with all of its first line, by a link that fails where
//          there is one. Its supervisor adds a line for each task that it starts.
//   end    what came of it; appears whole, when everything of it has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "backend/local/process.h"
#include "base/fd.h"
#include "base/result.h"

namespace berth::local {

inline constexpr const char* kClaimFile = "claim";
inline constexpr const char* kEndFile = "end";

// [0-9a-z.-]+, at most 64 bytes, not beginning with a dot: the name of a folder.
[[nodiscard]] bool is_attempt_key(std::string_view key);

struct Claim {
  std::optional<ProcessId> supervisor;  // nothing: nobody may start it
  std::vector<TaskProcess> tasks;
};

[[nodiscard]] std::string claim_text(const std::optional<ProcessId>& supervisor);
[[nodiscard]] std::string claim_task_line(const TaskProcess& task);
// A last line that was cut short is left out.
[[nodiscard]] std::optional<Claim> parse_claim(std::string_view text);

// Where there is none yet, the file, still open for more lines; Fd() where there is one already.
// Errors: the system's (no space, no permission).
[[nodiscard]] Result<Fd> make_claim(const std::string& folder,
                                    const std::optional<ProcessId>& supervisor);

// The folder, made if it is not there; others may go through it to files they know.
[[nodiscard]] Status make_folder(const std::string& folder);

[[nodiscard]] std::string end_text(const AttemptEnd& end);
[[nodiscard]] Result<AttemptEnd> parse_end(std::string_view text, const std::string& file);

// Writes the end of an attempt into space that was taken before anything ran, so that a disk which
// is full by then is no reason to lose it.
class EndFile {
 public:
  EndFile() = default;
  [[nodiscard]] static Result<EndFile> reserve(const std::string& folder, std::size_t tasks);
  // Again after an error, as often as one likes. A folder that was removed is made anew.
  [[nodiscard]] Status write(const AttemptEnd& end);
  void discard();  // nothing of it stays

 private:
  std::string folder_;
  std::string beside_;  // its name until it is whole
  std::size_t tasks_ = 0;
  Fd fd_;
};

}  // namespace berth::local
