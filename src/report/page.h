// An HTML page that needs nothing but itself: no script, no font, no request.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::report {

// Text for HTML and SVG, in elements and attributes: &<>"' escaped, control characters and invalid
// UTF-8 as \xNN, cut at `max_bytes`.
[[nodiscard]] std::string escape_html(std::string_view text, std::size_t max_bytes = 20'000);

class Page {
 public:
  explicit Page(std::string_view title);

  // All take plain text; only figure() and raw() take markup.
  void heading(std::string_view text);
  void paragraph(std::string_view text);
  // An SVG of plot.h, with an optional caption.
  void figure(std::string_view svg_text, std::string_view caption = {});
  // Cells that are numbers are aligned to the right. Rows may be shorter than the header.
  void table(std::span<const std::string> header, std::span<const std::vector<std::string>> rows);
  void raw(std::string_view markup) { body_ += markup; }

  [[nodiscard]] std::string html() const;

 private:
  std::string title_;
  std::string body_;
};

}  // namespace berth::report
