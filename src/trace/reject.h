// One report of what was wrong with an input, for every reader: rows rejected or mended, by reason,
// the first ones in full. Nothing is dropped silently.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::trace {

// The reason that readers of every format give to a row of another shape; a file that has no other
// rows is not of the format.
inline constexpr std::string_view kWrongFieldCount = "wrong number of fields";

struct RowNote {
  std::uint64_t line = 0;  // 1 = first line of the (uncompressed) file; 0: not by line
  std::string file;        // only where an input has several files
  std::string reason;      // short and countable: "end before start"
  std::string field;
  std::string found;
  std::string expected;
};

class RejectReport {
 public:
  static constexpr std::size_t kKeptNotes = 1000;  // in full; all are counted

  void reject(RowNote note);  // the row is not used
  void warn(RowNote note);    // the row is used, with what the reason says
  void count(std::string_view what, std::uint64_t n = 1);  // neither: steps, CPU jobs, blank lines

  [[nodiscard]] std::uint64_t rejected() const { return rejected_; }
  [[nodiscard]] std::uint64_t warned() const { return warned_; }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& rejected_by_reason() const {
    return rejected_by_reason_;
  }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& warned_by_reason() const {
    return warned_by_reason_;
  }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& counts() const { return counts_; }
  [[nodiscard]] const std::vector<RowNote>& rejected_notes() const { return rejected_notes_; }
  [[nodiscard]] const std::vector<RowNote>& warned_notes() const { return warned_notes_; }

 private:
  std::uint64_t rejected_ = 0;
  std::uint64_t warned_ = 0;
  std::map<std::string, std::uint64_t> rejected_by_reason_;
  std::map<std::string, std::uint64_t> warned_by_reason_;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<RowNote> rejected_notes_;
  std::vector<RowNote> warned_notes_;
};

}  // namespace berth::trace
