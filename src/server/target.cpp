#include "server/target.h"

#include <algorithm>
#include <cstdint>

#include "base/result.h"
#include "base/text.h"

namespace berth {
namespace {

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// Controls, and what is not UTF-8: what is not printed as it stands.
bool clean(std::string_view text) {
  return printable(text, text.size() + 1) == text;
}

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (!high || !low) return std::nullopt;
      out += static_cast<char>(*high * 16 + *low);
      i += 2;
    }
  }
  if (!clean(out)) return std::nullopt;
  return out;
}

// A visible ASCII character that stands for itself in a target.
bool is_plain(char c) {
  return c > ' ' && c < 0x7F && c != '#' && c != '"' && c != '<' && c != '>';
}

bool parse_path(std::string_view text, std::vector<std::string>& path) {
  if (text.empty() || text.front() != '/') return false;
  text.remove_prefix(1);
  if (text.empty()) return true;
  if (text.back() == '/') text.remove_suffix(1);
  for (const std::string_view piece : split(text, '/')) {
    auto segment = decode(piece, false);
    if (!segment || segment->empty() || *segment == "." || *segment == "..") return false;
    if (segment->find_first_of("/\\") != std::string::npos) return false;
    path.push_back(std::move(*segment));
  }
  return true;
}

bool parse_query(std::string_view text, std::vector<std::pair<std::string, std::string>>& query) {
  if (text.empty()) return true;
  for (const std::string_view piece : split(text, '&')) {
    if (piece.empty()) continue;
    const std::size_t equals = std::min(piece.find('='), piece.size());
    auto name = decode(piece.substr(0, equals), true);
    auto value = decode(piece.substr(std::min(equals + 1, piece.size())), true);
    if (!name || !value || query.size() == kMostParameters) return false;
    query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

}  // namespace

std::optional<Target> parse_target(std::string_view target) {
  if (target.size() > kMostTargetBytes) return std::nullopt;
  if (!std::all_of(target.begin(), target.end(), is_plain)) return std::nullopt;
  const std::size_t question = std::min(target.find('?'), target.size());
  Target parsed;
  if (!parse_path(target.substr(0, question), parsed.path)) return std::nullopt;
  if (!parse_query(target.substr(std::min(question + 1, target.size())), parsed.query)) {
    return std::nullopt;
  }
  return parsed;
}

}  // namespace berth
