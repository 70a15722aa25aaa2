// A YAML or JSON document as written: every value with its place, nothing guessed of its type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::document {

enum class Kind : std::uint8_t {
  kNothing,  // null, or nothing at all
  kPlain,    // without quotes: `text` as written (010, no, 1e3); of JSON: a number, true, false
  kQuoted,   // text without doubt
  kList,
  kMap,
};

struct Node {
  Kind kind = Kind::kNothing;
  std::uint32_t line = 0;      // 1 = first line; 0: not known (JSON)
  std::uint32_t key_line = 0;  // of an entry of a map
  std::string key;             // of an entry of a map
  std::string text;            // of kPlain and kQuoted
  std::vector<Node> children;  // of kList and kMap, in order; keys are unique

  [[nodiscard]] bool scalar() const { return kind == Kind::kPlain || kind == Kind::kQuoted; }
  // The entry of a map; nullptr if there is none.
  [[nodiscard]] const Node* find(std::string_view name) const;
};

// Beyond these nothing is meant; within them a document takes little memory, whatever it says.
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxNodes = std::size_t{1} << 19U;
inline constexpr std::size_t kMaxCopiedBytes = std::size_t{16} << 20U;  // by aliases, all together

// The documents of a file; one that holds nothing is kNothing. Refused: what is not UTF-8 (a byte
// order mark may stand first), NUL bytes, tabs as indentation, a key twice, keys that are no text,
// merge keys (<<), tags other than !!str, and what goes beyond the bounds above.
[[nodiscard]] Result<std::vector<Node>> parse_yaml(std::string_view text, std::string_view file);

// One JSON value, under the same rules.
[[nodiscard]] Result<Node> parse_json(std::string_view text, std::string_view file);

}  // namespace berth::document
