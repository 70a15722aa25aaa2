// A delimited text table with a line of column names, read row by row without copies.
//
// Columns are found by name, never by position. Rows with another number of fields than the header
// are rejected here; so are fields that are not of the kind that a reader asks for. Blank lines and
// repeated header lines are skipped and counted.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/input.h"
#include "trace/reject.h"
#include "trace/values.h"

namespace berth::trace {

struct ColumnSpec {
  std::string_view name;     // compared without case and blanks at the ends
  bool required = false;     // a file without it is refused
  std::string_view aliases;  // "job_id|jobid"
};

struct TableSpec {
  std::string_view format;
  std::span<const ColumnSpec> columns;
  char separator = ',';
  bool quotes = true;                    // "a ""b"", c" is one field
  char comment = '\0';                   // lines that start with it are skipped, but for the header
  std::string_view no_header_hint = {};  // what to do when line 1 holds no names
  // Lines that are known not to be rows of interest before they are taken apart; counted.
  bool (*skip)(std::string_view line) = nullptr;
};

class Table {
 public:
  static constexpr std::size_t kMaxFields = 512;

  // Reads the header line. Errors: no header, a required column is missing or named twice.
  [[nodiscard]] static Result<Table> open(Input& input, RejectReport& report,
                                          const TableSpec& spec);
  // The header stands elsewhere; every line of the input is a row.
  [[nodiscard]] static Result<Table> with_header(Input& input, RejectReport& report,
                                                 const TableSpec& spec, std::string_view header);

  // The next row that has all its fields; false at the end.
  [[nodiscard]] bool next();
  [[nodiscard]] std::uint64_t line() const { return input_->line_number(); }
  [[nodiscard]] std::uint64_t rows() const { return rows_; }        // rejected ones included
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }  // by TableSpec::skip

  [[nodiscard]] bool has(std::size_t column) const { return position_[column] != kAbsent; }
  // Without blanks at the ends; "" for an absent column. Valid until next().
  [[nodiscard]] std::string_view operator[](std::size_t column) const {
    const std::uint16_t at = position_[column];
    return at == kAbsent ? std::string_view{} : fields_[at];
  }
  // As [], with "" for the words that mean "none" (is_missing).
  [[nodiscard]] std::string_view text(std::size_t column) const {
    const std::string_view field = (*this)[column];
    return is_missing(field) ? std::string_view{} : field;
  }

  // False: the row was rejected and reported. read() leaves `out` unknown for a missing field,
  // which read_required() and require() reject.
  [[nodiscard]] bool read(std::size_t column, Parser parser, MaybeInt& out) {
    const Fault* fault = parser((*this)[column], out);
    if (fault != nullptr) reject(*fault, column);
    return fault == nullptr;
  }
  [[nodiscard]] bool read_required(std::size_t column, Parser parser, MaybeInt& out) {
    if (!read(column, parser, out)) return false;
    if (!out.known()) reject(kMissing, column);
    return out.known();
  }
  [[nodiscard]] bool require(std::size_t column) {
    const bool missing = is_missing((*this)[column]);
    if (missing) reject(kMissing, column);
    return !missing;
  }

  void reject(const Fault& fault, std::size_t column) { report_->reject(note(fault, column)); }
  void warn(const Fault& fault, std::size_t column) { report_->warn(note(fault, column)); }
  [[nodiscard]] RowNote note(const Fault& fault, std::size_t column) const;

 private:
  static constexpr std::uint16_t kAbsent = 0xFFFF;

  Table(Input& input, RejectReport& report, const TableSpec& spec);
  [[nodiscard]] Status set_header(std::string_view line, std::uint64_t line_number);
  [[nodiscard]] Error no_header(std::string_view line, std::uint64_t line_number) const;
  [[nodiscard]] bool split(std::string_view line);  // into fields_; false: a quote is not closed
  [[nodiscard]] bool split_quoted(std::string_view line);
  [[nodiscard]] bool is_header_again() const;
  [[nodiscard]] bool is_comment(std::string_view line) const;
  void count_skipped();
  void reject_shape(std::string_view reason, std::string found, std::string expected);

  Input* input_;
  RejectReport* report_;
  const TableSpec* spec_;
  std::vector<std::string> header_;  // names as written, in the order of the file
  std::vector<std::uint16_t> position_;
  std::vector<std::string_view> fields_;
  std::string unquoted_;
  std::uint64_t rows_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t blank_lines_ = 0;
  std::uint64_t comment_lines_ = 0;
  std::uint64_t header_lines_ = 0;
};

// The first line of `head` that is neither blank nor a comment.
[[nodiscard]] std::string_view header_line(std::string_view head, const TableSpec& spec);

// How well that line fits, for Reader::detect: 0 to 100; at most 50 if a required
// column is missing.
[[nodiscard]] int header_score(std::string_view head, const TableSpec& spec);

}  // namespace berth::trace
