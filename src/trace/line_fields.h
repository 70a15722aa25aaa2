// Fields of lines that have no header: by position, rejected by the same rules as a Table's.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/number.h"
#include "base/result.h"
#include "trace/reject.h"
#include "trace/values.h"

namespace berth::trace {

class LineFields {
 public:
  static constexpr std::size_t kMaxFields = 64;

  explicit LineFields(RejectReport& report) : report_(&report) {}

  // Fields between single separators, without blanks at their ends; more than kMaxFields are only
  // counted.
  void split_at(std::string_view line, char separator, std::uint64_t line_number) {
    start(line_number);
    while (true) {
      const std::size_t end = line.find(separator);
      add(trim(line.substr(0, end)));
      if (end == std::string_view::npos) return;
      line.remove_prefix(end + 1);
    }
  }
  // Fields between runs of blanks and tabs.
  void split_at_blanks(std::string_view line, std::uint64_t line_number) {
    start(line_number);
    constexpr std::string_view kBlanks = " \t\r";
    while (true) {
      const std::size_t begin = line.find_first_not_of(kBlanks);
      if (begin == std::string_view::npos) return;
      line.remove_prefix(begin);
      const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
      add(line.substr(0, end));
      line.remove_prefix(end);
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    return i < size_ && i < kMaxFields ? fields_[i] : std::string_view{};
  }

  // As in Table: false, after rejecting the row.
  [[nodiscard]] bool read(std::size_t i, std::string_view name, Parser parser, MaybeInt& out) {
    const Fault* fault = parser((*this)[i], out);
    if (fault != nullptr) reject(*fault, i, name);
    return fault == nullptr;
  }
  [[nodiscard]] bool read_required(std::size_t i, std::string_view name, Parser parser,
                                   MaybeInt& out) {
    if (!read(i, name, parser, out)) return false;
    if (!out.known()) reject(kMissing, i, name);
    return out.known();
  }
  void reject(const Fault& fault, std::size_t i, std::string_view name) {
    report_->reject(note(fault, i, name));
  }
  void warn(const Fault& fault, std::size_t i, std::string_view name) {
    report_->warn(note(fault, i, name));
  }
  void reject_count(std::size_t expected) {
    report_->reject({.line = line_,
                     .file = {},
                     .reason = std::string(kWrongFieldCount),
                     .field = {},
                     .found = fmt::format("{}", size_),
                     .expected = fmt::format("{}", expected)});
  }

 private:
  void start(std::uint64_t line_number) {
    size_ = 0;
    line_ = line_number;
  }
  void add(std::string_view field) {
    if (size_ < kMaxFields) fields_[size_] = field;
    ++size_;
  }
  [[nodiscard]] RowNote note(const Fault& fault, std::size_t i, std::string_view name) const {
    const std::string_view field = (*this)[i];
    return {.line = line_,
            .file = {},
            .reason = std::string(fault.reason),
            .field = std::string(name),
            .found = field.empty() ? "nothing" : fmt::format("'{}'", printable(field)),
            .expected = std::string(fault.expected)};
  }

  RejectReport* report_;
  std::array<std::string_view, kMaxFields> fields_{};
  std::size_t size_ = 0;
  std::uint64_t line_ = 0;
};

}  // namespace berth::trace
