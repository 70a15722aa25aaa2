// Aligned tables for a terminal.
#pragma once

#include <string>
#include <vector>

namespace berth {

enum class Align : std::uint8_t { kLeft, kRight };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // One cell a column; missing ones are empty.
  void add_row(std::vector<std::string> cells);
  // Lines ending in a line feed, no trailing blanks. With `bold_title`, the title in bold.
  [[nodiscard]] std::string text(bool bold_title = false) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns that `text` takes on a terminal: code points, not bytes.
[[nodiscard]] std::size_t display_width(std::string_view text);

}  // namespace berth
