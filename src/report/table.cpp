#include "report/table.h"

#include <algorithm>

namespace berth {

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(bool bold_title) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c]));
    widths.push_back(width);
  }
  std::string out;
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) text += "  ";
      const std::string& cell = cell_of(c);
      const std::string padding(widths[c] - display_width(cell), ' ');
      text += columns_[c].align == Align::kLeft ? cell + padding : padding + cell;
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
  };
  const std::string title =
      line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  out += bold_title ? "\033[1m" + title + "\033[0m\n" : title + "\n";
  for (const auto& row : rows_) {
    out += line([&](std::size_t c) -> const std::string& { return row[c]; }) + "\n";
  }
  return out;
}

}  // namespace berth
