#include "document/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/utf8.h"

namespace berth::document {
namespace {

struct Size {
  std::size_t nodes = 0;
  std::size_t bytes = 0;
};

Size size_of(const Node& node) {
  Size size{1, sizeof(Node) + node.key.size() + node.text.size()};
  for (const Node& child : node.children) {
    const Size part = size_of(child);
    size.nodes += part.nodes;
    size.bytes += part.bytes;
  }
  return size;
}

}  // namespace

const Node* Node::find(std::string_view name) const {
  if (kind != Kind::kMap) return nullptr;
  const auto it = std::find_if(children.begin(), children.end(),
                               [name](const Node& child) { return child.key == name; });
  return it == children.end() ? nullptr : &*it;
}

void Builder::refuse(std::uint32_t line, std::string message, std::string found,
                     std::string expected) {
  if (error_) return;
  std::string field;
  for (const Open& open : open_) {
    if (open.has_key) field += (field.empty() ? "" : ".") + open.key;
  }
  error_ = bad_input(file_, line, std::move(field), std::move(message), std::move(found),
                     std::move(expected));
}

void Builder::refuse_text(std::uint32_t line, std::string message, std::string found,
                          std::string expected) {
  if (error_) return;
  error_ = bad_input(file_, line, {}, std::move(message), std::move(found), std::move(expected));
}

bool Builder::count_nodes(std::size_t n, std::uint32_t line) {
  nodes_ += n;
  if (nodes_ <= kMaxNodes) return true;
  refuse(line, "too many values", {}, fmt::format("at most {} in a document", kMaxNodes));
  return false;
}

void Builder::add(Node node) {
  if (open_.empty()) {
    root_ = std::move(node);
    last_ = &root_;
    return;
  }
  Open& parent = open_.back();
  if (parent.node.kind == Kind::kMap) {
    node.key = std::move(parent.key);
    node.key_line = parent.key_line;
    parent.has_key = false;
  }
  parent.node.children.push_back(std::move(node));
  last_ = &parent.node.children.back();
}

void Builder::scalar(Kind kind, std::uint32_t line, std::string text) {
  if (failed() || !count_nodes(1, line)) return;
  Node node;
  node.kind = kind;
  node.line = line;
  node.text = std::move(text);
  add(std::move(node));
}

void Builder::open(Kind kind, std::uint32_t line) {
  if (failed() || !count_nodes(1, line)) return;
  if (open_.size() == kMaxDepth) {
    refuse(line, "nested too deeply", {}, fmt::format("at most {} levels", kMaxDepth));
    return;
  }
  Open added;
  added.node.kind = kind;
  added.node.line = line;
  open_.push_back(std::move(added));
}

const Node* Builder::close() {
  if (failed()) return nullptr;
  Node node = std::move(open_.back().node);
  open_.pop_back();
  if (node.kind == Kind::kMap) {
    std::unordered_set<std::string_view> seen;
    for (const Node& child : node.children) {
      if (seen.insert(child.key).second) continue;
      error_ = bad_input(file_, child.key_line, child.key, "the key is there twice", {},
                         "each key once");
      return nullptr;
    }
  }
  add(std::move(node));
  return last_;
}

void Builder::key(std::uint32_t line, std::string text) {
  if (failed()) return;
  Open& map = open_.back();
  map.key = std::move(text);
  map.key_line = line;
  map.has_key = true;
}

bool Builder::charge_copy(const Node& node, std::uint32_t line) {
  if (failed()) return false;
  const Size size = size_of(node);
  copied_bytes_ += size.bytes;
  if (copied_bytes_ > kMaxCopiedBytes) {
    refuse(line, "anchors and aliases stand for too much", {},
           fmt::format("at most {} MiB", kMaxCopiedBytes >> 20U));
    return false;
  }
  return count_nodes(size.nodes, line);
}

void Builder::copy(const Node& node, std::uint32_t line) {
  if (!charge_copy(node, line)) return;
  if (open_.size() + 1 > kMaxDepth) {
    refuse(line, "nested too deeply", {}, fmt::format("at most {} levels", kMaxDepth));
    return;
  }
  Node copied = node;
  copied.line = line;
  add(std::move(copied));
}

Status check_text(std::string_view text, std::string_view file) {
  const auto line_at = [text](std::size_t at) {
    return static_cast<std::uint64_t>(
               std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
           1;
  };
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
    return fail(bad_input(file, line_at(at), {}, "not text", "a byte that is zero", "UTF-8"));
  }
  if (const std::size_t at = first_invalid_utf8(text); at != std::string_view::npos) {
    return fail(bad_input(file, line_at(at), {}, "not UTF-8", std::string(text.substr(at, 1)),
                          "text in UTF-8"));
  }
  return {};
}

}  // namespace berth::document
