#include "base/result.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace berth {
namespace {

// A C1 control, U+0080 to U+009F: never raw to a terminal.
bool is_c1_control(std::string_view character) {
  return character.size() == 2 && character[0] == '\xC2' &&
         static_cast<unsigned char>(character[1]) < 0xA0;
}

// Marks that reorder what follows them on the line: U+061C, U+200E-F, U+202A-E, U+2066-9.
bool is_bidi_mark(std::string_view character) {
  if (character == "\xD8\x9C") return true;
  if (character.size() != 3 || character[0] != '\xE2') return false;
  const auto second = static_cast<unsigned char>(character[1]);
  const auto third = static_cast<unsigned char>(character[2]);
  if (second == 0x80) return third == 0x8E || third == 0x8F || (third >= 0xAA && third <= 0xAE);
  return second == 0x81 && third >= 0xA6 && third <= 0xA9;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  out.reserve(std::min(text.size(), max_bytes) + 4);
  while (!text.empty()) {
    if (out.size() >= max_bytes) return out + "...";
    const std::size_t length = utf8_length(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (length == 0 || byte < 0x20 || byte == 0x7F || is_c1_control(text.substr(0, length))) {
      switch (byte) {
        case '\t':
          out += "\\t";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        default:
          out += fmt::format("\\x{:02x}", byte);
      }
      text.remove_prefix(1);
      continue;
    }
    if (is_bidi_mark(text.substr(0, length))) {
      for (const char c : text.substr(0, length)) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string Error::text() const {
  std::string out;
  if (!file.empty()) {
    out += printable(file, 400);
    if (line != 0) out += fmt::format(":{}", line);
    out += ": ";
  }
  if (!field.empty()) out += printable(field, 120) + ": ";
  out += printable(message, 2000);
  if (!found.empty()) out += ": found " + printable(found, 200);
  if (!expected.empty()) out += ", expected " + printable(expected, 600);
  return out;
}

int Error::exit_code() const {
  return kind == ErrorKind::kUsage || kind == ErrorKind::kBadInput ? 2 : 1;
}

Error usage_error(std::string message, std::string field) {
  return Error{.kind = ErrorKind::kUsage,
               .message = std::move(message),
               .file = {},
               .field = std::move(field),
               .found = {},
               .expected = {}};
}

Error io_error(std::string_view file, std::string message) {
  return Error{.kind = ErrorKind::kIo,
               .message = std::move(message),
               .file = std::string(file),
               .field = {},
               .found = {},
               .expected = {}};
}

Error bad_input(std::string_view file, std::uint64_t line, std::string field, std::string message,
                std::string found, std::string expected) {
  return Error{.kind = ErrorKind::kBadInput,
               .message = std::move(message),
               .file = std::string(file),
               .line = line,
               .field = std::move(field),
               .found = std::move(found),
               .expected = std::move(expected)};
}

Error internal_error(std::string message) {
  return Error{.kind = ErrorKind::kInternal,
               .message = std::move(message),
               .file = {},
               .field = {},
               .found = {},
               .expected = {}};
}

}  // namespace berth
