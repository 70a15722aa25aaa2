#include "report/page.h"

#include <fmt/format.h>

#include "base/number.h"
#include "base/result.h"

namespace berth::report {
namespace {

// Colours: the Okabe-Ito palette, which colour-blind readers can tell apart, lightened for dark.
constexpr std::string_view kStyle = R"(
:root{--bg:#fff;--fg:#1a1d21;--dim:#5b6470;--grid:#e3e6ea;--line:#c3c9d0;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#b58900;--c5:#56b4e9;--c6:#7a5ccc;--c7:#666;
--cold:#eef3f8;--hot:#0a4f80}
@media(prefers-color-scheme:dark){:root{--bg:#15181c;--fg:#e6e8eb;--dim:#9aa4b0;--grid:#2a3038;
--line:#454e59;--c0:#4aa8e0;--c1:#ff8a3d;--c2:#2fc79a;--c3:#e39cc3;--c4:#e6c34d;--c5:#8fd0f7;
--c6:#a990f0;--c7:#aaa;--cold:#1e252d;--hot:#7cc4f2}}
*{box-sizing:border-box}
body{margin:0 auto;padding:24px 20px 60px;max-width:1000px;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
h1{font-size:26px;margin:0 0 8px}h2{font-size:19px;margin:32px 0 8px}p{max-width:75ch}
figure{margin:16px 0;overflow-x:auto}figcaption{color:var(--dim);font-size:13px;max-width:75ch}
svg{max-width:100%;height:auto}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:4px 20px}
.grid figure{margin:8px 0}
@media(max-width:600px){body{padding:16px 12px 40px}figure svg{max-width:none}.grid svg{max-width:100%}}
details{margin:12px 0}summary{cursor:pointer;color:var(--dim)}dt{font-weight:600;margin-top:8px}
dd{margin:0 0 0 16px;max-width:75ch}code{overflow-wrap:anywhere}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:14px;margin:8px 0}
th,td{padding:4px 12px 4px 0;border-bottom:1px solid var(--grid);text-align:left;white-space:nowrap}
th{color:var(--dim);font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums}
svg text{fill:var(--fg);font:12px system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
svg .t{font-size:14px;font-weight:600}svg .d{fill:var(--dim)}
svg .g{stroke:var(--grid)}svg .a{stroke:var(--line)}svg .r{stroke:var(--dim);stroke-dasharray:4 4}
svg .l{fill:none;stroke-width:1.6;stroke-linejoin:round}svg .w{fill:none;stroke-width:1.4}
svg .p{fill:none;stroke:transparent;stroke-width:9;pointer-events:stroke}svg .z{stroke:var(--dim)}
svg .k1{stroke-dasharray:7 3}svg .k2{stroke-dasharray:2 3}
)";

void append_series_classes(std::string& out) {
  for (int i = 0; i < 8; ++i) {
    out += fmt::format("svg .s{0}{{stroke:var(--c{0})}}svg .f{0}{{fill:var(--c{0})}}", i);
  }
  // Ten steps from cold to hot for heat maps.
  for (int i = 0; i < 10; ++i) {
    out += fmt::format("svg .h{}{{fill:color-mix(in srgb,var(--hot) {}%,var(--cold))}}", i,
                       i * 100 / 9);
  }
  out += "svg .hn{fill:url(#hatch)}svg .hi{fill:var(--bg)}\n";
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
}

bool looks_numeric(std::string_view cell) {
  const std::string_view text = trim(cell);
  return !text.empty() && (text == "-" || (text[0] >= '0' && text[0] <= '9') ||
                           ((text[0] == '-' || text[0] == '+' || text[0] == '.') &&
                            text.size() > 1 && text[1] >= '0' && text[1] <= '9'));
}

}  // namespace

std::string escape_html(std::string_view text, std::size_t max_bytes) {
  std::string out;
  append_escaped(out, printable(text, max_bytes));
  return out;
}

Page::Page(std::string_view title) : title_(escape_html(title)) {}

void Page::heading(std::string_view text) {
  body_ += fmt::format("<h2>{}</h2>\n", escape_html(text));
}

void Page::paragraph(std::string_view text) {
  body_ += fmt::format("<p>{}</p>\n", escape_html(text));
}

void Page::figure(std::string_view svg_text, std::string_view caption) {
  body_ += fmt::format("<figure>{}", svg_text);
  if (!caption.empty()) body_ += fmt::format("<figcaption>{}</figcaption>", escape_html(caption));
  body_ += "</figure>\n";
}

void Page::table(std::span<const std::string> header,
                 std::span<const std::vector<std::string>> rows) {
  body_ += "<div class=\"scroll\"><table><thead><tr>";
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool numeric = !rows.empty() && i < rows[0].size() && looks_numeric(rows[0][i]);
    body_ += fmt::format("<th{}>{}</th>", numeric ? " class=\"n\"" : "", escape_html(header[i]));
  }
  body_ += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (const std::string& cell : row) {
      body_ += fmt::format("<td{}>{}</td>", looks_numeric(cell) ? " class=\"n\"" : "",
                           escape_html(cell));
    }
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

std::string Page::html() const {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>",
      title_);
  out += kStyle;
  append_series_classes(out);
  // The pattern for missing cells: one a page.
  out +=
      "</style></head><body>\n"
      "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>"
      "<pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"5\" class=\"a\"/>"
      "</pattern></defs></svg>\n";
  out += fmt::format("<h1>{}</h1>\n{}</body></html>\n", title_, body_);
  return out;
}

}  // namespace berth::report
