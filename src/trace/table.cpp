#include "trace/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/number.h"
#include "base/text.h"

namespace berth::trace {
namespace {

bool equal_names(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [lower](char x, char y) { return lower(x) == lower(y); });
}

bool matches(const ColumnSpec& column, std::string_view name) {
  if (equal_names(column.name, name)) return true;
  std::string_view aliases = column.aliases;
  while (!aliases.empty()) {
    const std::size_t end = std::min(aliases.find('|'), aliases.size());
    if (equal_names(aliases.substr(0, end), name)) return true;
    aliases.remove_prefix(std::min(end + 1, aliases.size()));
  }
  return false;
}

// A # before a name is the mark of a comment, not part of it; another program may have put the
// column elsewhere, or into quotes.
std::string_view without_mark(std::string_view name) {
  return name.starts_with('#') ? trim(name.substr(1)) : name;
}

std::vector<std::string> header_names(std::string_view line, char separator) {
  line = trim(line);
  std::vector<std::string> names;
  for (std::string_view name : split(line, separator)) {
    name = trim(name);
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
      name = trim(name.substr(1, name.size() - 2));
    }
    names.emplace_back(without_mark(name));
  }
  return names;
}

std::string column_list(const TableSpec& spec) {
  std::string out = "the columns ";
  const char* comma = "";
  for (const ColumnSpec& column : spec.columns) {
    if (!column.required) continue;
    out += fmt::format("{}'{}'", comma, column.name);
    comma = ", ";
  }
  return out;
}

int count_known(const std::vector<std::string>& names, const TableSpec& spec) {
  return static_cast<int>(std::count_if(names.begin(), names.end(), [&spec](const auto& name) {
    return std::any_of(spec.columns.begin(), spec.columns.end(),
                       [&name](const ColumnSpec& column) { return matches(column, name); });
  }));
}

constexpr std::array<char, 4> kSeparators{',', ';', '\t', '|'};

// A comment before the header, which may begin like one itself.
bool is_remark(std::string_view line, const TableSpec& spec) {
  if (spec.comment == '\0' || !line.starts_with(spec.comment)) return false;
  return std::all_of(kSeparators.begin(), kSeparators.end(), [&](char separator) {
    return count_known(header_names(line, separator), spec) == 0;
  });
}

}  // namespace

Table::Table(Input& input, RejectReport& report, const TableSpec& spec)
    : input_(&input), report_(&report), spec_(&spec), position_(spec.columns.size(), kAbsent) {}

Result<Table> Table::open(Input& input, RejectReport& report, const TableSpec& spec) {
  std::string_view line;
  do {
    if (!input.next_line(line)) {
      BERTH_CHECK_OK(input.status());
      return fail(
          input.error(1, {}, "there is no header line", "only blank lines", column_list(spec)));
    }
  } while (trim(line).empty() || is_remark(line, spec));
  Table table(input, report, spec);
  BERTH_CHECK_OK(table.set_header(line, input.line_number()));
  return table;
}

Result<Table> Table::with_header(Input& input, RejectReport& report, const TableSpec& spec,
                                 std::string_view header) {
  Table table(input, report, spec);
  BERTH_CHECK_OK(table.set_header(header, 0));
  return table;
}

Error Table::no_header(std::string_view line, std::uint64_t line_number) const {
  // The right names with another separator between them: a spreadsheet saved it again.
  for (const char other : kSeparators) {
    if (other == spec_->separator || count_known(header_names(line, other), *spec_) < 2) continue;
    return input_->error(line_number, "separator", "the columns are separated wrongly",
                         fmt::format("'{}'", printable({&other, 1})),
                         fmt::format("'{}'", printable({&spec_->separator, 1})));
  }
  std::string expected = column_list(*spec_);
  if (!spec_->no_header_hint.empty()) expected += fmt::format(" ({})", spec_->no_header_hint);
  return input_->error(line_number, "header", "column names are missing",
                       fmt::format("'{}'", printable(line)), std::move(expected));
}

Status Table::set_header(std::string_view line, std::uint64_t line_number) {
  header_ = header_names(line, spec_->separator);
  if (header_.size() > kMaxFields) {
    return fail(input_->error(line_number, "header", "too many columns",
                              fmt::format("{}", header_.size()),
                              fmt::format("at most {}", kMaxFields)));
  }
  if (count_known(header_, *spec_) == 0) return fail(no_header(line, line_number));
  for (std::size_t c = 0; c < spec_->columns.size(); ++c) {
    const ColumnSpec& column = spec_->columns[c];
    for (std::size_t i = 0; i < header_.size(); ++i) {
      if (!matches(column, header_[i])) continue;
      if (position_[c] != kAbsent) {
        return fail(input_->error(line_number, std::string(column.name), "a column is there twice",
                                  fmt::format("columns {} and {}", position_[c] + 1, i + 1),
                                  "it once"));
      }
      position_[c] = static_cast<std::uint16_t>(i);
    }
    if (position_[c] == kAbsent && column.required) {
      return fail(input_->error(line_number, std::string(column.name), "a column is missing",
                                fmt::format("'{}'", printable(line, 200)), column_list(*spec_)));
    }
  }
  fields_.resize(header_.size());
  return {};
}

bool Table::next() {
  std::string_view line;
  while (input_->next_line(line)) {
    if (spec_->skip != nullptr && spec_->skip(line)) {
      ++skipped_;
      continue;
    }
    if (trim(line).empty()) {
      ++blank_lines_;
      continue;
    }
    const bool closed = split(line);
    if (closed && is_header_again()) {
      ++header_lines_;
      continue;
    }
    if (is_comment(line)) {
      ++comment_lines_;
      continue;
    }
    ++rows_;
    if (!closed) {
      reject_shape("a quote is not closed", fmt::format("'{}'", printable(line)), "a closing \"");
      continue;
    }
    // One more separator at the end is harmless: it holds nothing.
    if (fields_.size() == header_.size() + 1 && fields_.back().empty()) fields_.pop_back();
    if (fields_.size() != header_.size()) {
      reject_shape(kWrongFieldCount, fmt::format("{}", fields_.size()),
                   fmt::format("{}", header_.size()));
      continue;
    }
    return true;
  }
  count_skipped();
  return false;
}

bool Table::is_comment(std::string_view line) const {
  return spec_->comment != '\0' && line.starts_with(spec_->comment);
}

void Table::count_skipped() {
  if (blank_lines_ > 0) report_->count("blank lines", blank_lines_);
  if (comment_lines_ > 0) report_->count("comment lines", comment_lines_);
  if (header_lines_ > 0) report_->count("repeated header lines", header_lines_);
  blank_lines_ = comment_lines_ = header_lines_ = 0;
}

bool Table::split(std::string_view line) {
  if (spec_->quotes && std::memchr(line.data(), '"', line.size()) != nullptr) {
    return split_quoted(line);
  }
  fields_.clear();
  const char separator = spec_->separator;
  const char* begin = line.data();
  const char* const end = begin + line.size();
  const auto add = [this](const char* from, const char* to) {
    const std::string_view field(from, static_cast<std::size_t>(to - from));
    // Nearly all fields begin and end with what is beyond a blank, so that there is nothing to
    // trim.
    const bool bare = from != to && *from > ' ' && to[-1] > ' ';
    fields_.push_back(bare ? field : trim(field));
  };
  for (const char* at = begin; at != end; ++at) {
    if (*at != separator) continue;
    add(begin, at);
    begin = at + 1;
  }
  add(begin, end);
  return true;
}

bool Table::split_quoted(std::string_view line) {
  fields_.clear();
  unquoted_.clear();
  unquoted_.reserve(line.size());  // no later growth: the views below point into it
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && line[i] == ' ') ++i;
    if (i < line.size() && line[i] == '"') {
      const std::size_t start = unquoted_.size();
      for (++i;; ++i) {
        if (i >= line.size()) return false;
        if (line[i] == '"') {
          if (i + 1 >= line.size() || line[i + 1] != '"') break;
          ++i;
        }
        unquoted_ += line[i];
      }
      ++i;
      while (i < line.size() && (line[i] == ' ' || line[i] == '\t')) ++i;
      if (i < line.size() && line[i] != spec_->separator) return false;
      fields_.push_back(std::string_view(unquoted_).substr(start));
    } else {
      const std::size_t end = std::min(line.find(spec_->separator, i), line.size());
      fields_.push_back(trim(line.substr(i, end - i)));
      i = end;
    }
    if (i >= line.size()) return true;
    ++i;
    if (i == line.size()) {
      fields_.emplace_back();
      return true;
    }
  }
}

bool Table::is_header_again() const {
  if (fields_.size() != header_.size()) return false;
  if (without_mark(fields_[0]).empty()) return false;
  return std::equal(fields_.begin(), fields_.end(), header_.begin(),
                    [](auto field, const auto& name) { return without_mark(field) == name; });
}

void Table::reject_shape(std::string_view reason, std::string found, std::string expected) {
  report_->reject({.line = line(),
                   .file = {},
                   .reason = std::string(reason),
                   .field = {},
                   .found = std::move(found),
                   .expected = std::move(expected)});
}

RowNote Table::note(const Fault& fault, std::size_t column) const {
  const std::string_view field = (*this)[column];
  return {
      .line = line(),
      .file = {},
      .reason = std::string(fault.reason),
      .field = has(column) ? header_[position_[column]] : std::string(spec_->columns[column].name),
      .found = field.empty() ? "nothing" : fmt::format("'{}'", printable(field)),
      .expected = std::string(fault.expected)};
}

std::string_view header_line(std::string_view head, const TableSpec& spec) {
  std::string_view line;
  do {
    const std::size_t end = std::min(head.find_first_of("\r\n"), head.size());
    line = head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
  } while ((trim(line).empty() || is_remark(line, spec)) && !head.empty());
  return line;
}

int header_score(std::string_view head, const TableSpec& spec) {
  const auto names = header_names(header_line(head, spec), spec.separator);
  const auto named = std::count_if(names.begin(), names.end(),
                                   [](const std::string& name) { return !name.empty(); });
  if (named == 0 || names.size() > Table::kMaxFields) return 0;
  const int known = count_known(names, spec) * 100 / static_cast<int>(named);
  const bool whole =
      std::all_of(spec.columns.begin(), spec.columns.end(), [&names](const ColumnSpec& column) {
        return !column.required || std::any_of(names.begin(), names.end(), [&](const auto& name) {
          return matches(column, name);
        });
      });
  return whole ? known : known / 2;
}

}  // namespace berth::trace
