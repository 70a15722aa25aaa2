// Puts a document together from what a parser tells, within the bounds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/node.h"

namespace berth::document {

class Builder {
 public:
  explicit Builder(std::string_view file) : file_(file) {}

  void scalar(Kind kind, std::uint32_t line, std::string text);
  void open(Kind kind, std::uint32_t line);
  // Returns what is closed, where it came to lie; nullptr after an error.
  const Node* close();
  void key(std::uint32_t line, std::string text);
  void copy(const Node& node, std::uint32_t line);  // an alias

  // The next value is a key and not a value.
  [[nodiscard]] bool wants_key() const {
    return !open_.empty() && open_.back().node.kind == Kind::kMap && !open_.back().has_key;
  }
  [[nodiscard]] std::size_t depth() const { return open_.size(); }
  // After the first error everything is ignored.
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  void refuse(std::uint32_t line, std::string message, std::string found, std::string expected);
  // The same where no value is at fault but the text.
  void refuse_text(std::uint32_t line, std::string message, std::string found,
                   std::string expected);
  [[nodiscard]] const Error& error() const { return *error_; }
  [[nodiscard]] const Node* last() const { return last_; }  // the value that was added last
  [[nodiscard]] bool charge_copy(const Node& node, std::uint32_t line);
  [[nodiscard]] Node take() { return std::move(root_); }  // the whole document; empties it

 private:
  struct Open {
    Node node;
    std::string key;
    std::uint32_t key_line = 0;
    bool has_key = false;
  };
  void add(Node node);
  bool count_nodes(std::size_t n, std::uint32_t line);

  std::string_view file_;
  std::vector<Open> open_;
  Node root_;
  const Node* last_ = nullptr;
  std::size_t nodes_ = 0;
  std::size_t copied_bytes_ = 0;
  std::optional<Error> error_;
};

// Refuses what is not UTF-8 or holds a NUL byte, naming the line.
[[nodiscard]] Status check_text(std::string_view text, std::string_view file);

}  // namespace berth::document
