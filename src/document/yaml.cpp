#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "document/builder.h"

namespace berth::document {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr const char* kPlainTag = "?";
constexpr const char* kQuotedTag = "!";
constexpr const char* kTextTag = "tag:yaml.org,2002:str";

std::uint32_t line_of(const YAML::Mark& mark) {
  return mark.line < 0 ? 0 : static_cast<std::uint32_t>(mark.line) + 1;
}

// The lines of a text, asked for in rising order.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  // What stands before the first character of a line (from 1) that is neither blank nor tab.
  std::string_view indentation(std::uint32_t line) {
    if (line < line_) *this = Lines(text_);
    for (; line_ < line; ++line_) {
      const std::size_t end = text_.find('\n', start_);
      if (end == std::string_view::npos) return {};
      start_ = end + 1;
    }
    const std::string_view rest = text_.substr(start_);
    const std::size_t length = rest.find_first_not_of(" \t");
    return rest.substr(0, length);
  }

 private:
  std::string_view text_;
  std::size_t start_ = 0;
  std::uint32_t line_ = 1;
};

class Handler final : public YAML::EventHandler {
 public:
  Handler(std::string_view text, Builder& builder) : builder_(&builder), lines_(text) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    // A stray end of a list or map is a document of nothing to the parser, for ever.
    if (mark.pos == document_pos_) {
      builder_->refuse_text(line_of(mark), "not valid YAML", "the end of what has no beginning",
                            "a value");
    }
    document_pos_ = mark.pos;
    anchors_.clear();
    open_.clear();
    flow_depth_ = 0;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    value(mark, kPlainTag, anchor, Kind::kNothing, {});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    value(mark, tag, anchor, tag == kPlainTag ? Kind::kPlain : Kind::kQuoted, text);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const std::uint32_t line = line_of(mark);
    const auto it = anchors_.find(anchor);
    if (builder_->wants_key() || it == anchors_.end()) {
      builder_->refuse(line, "an alias that stands for no value", {}, "the value itself");
      return;
    }
    builder_->copy(it->second, line);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(Kind::kList, mark, tag, anchor, style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(Kind::kMap, mark, tag, anchor, style);
  }
  void OnMapEnd() override { close(); }

  // Says it in our words if a tab made the parser give up there.
  void explain(std::uint32_t line) {
    if (lines_.indentation(line).find('\t') != std::string_view::npos) refuse_tab(line);
  }

 private:
  void refuse_tab(std::uint32_t line) {
    builder_->refuse_text(line, "not valid YAML", "a tab as indentation", "blanks");
  }

  // Tabs may separate values within [] and {}; before a value in block style they look like
  // an indentation that they are not.
  void check_indentation(const YAML::Mark& mark) {
    const std::uint32_t line = line_of(mark);
    if (flow_depth_ != 0 || line == checked_line_ || builder_->failed()) return;
    checked_line_ = line;
    const std::string_view indentation = lines_.indentation(line);
    if (indentation.size() == static_cast<std::size_t>(mark.column) &&
        indentation.find('\t') != std::string_view::npos) {
      refuse_tab(line);
    }
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == kPlainTag || tag == kQuotedTag || tag == kTextTag) return;
    builder_->refuse(line_of(mark), "a tag", tag, "no tag but !!str");
  }

  void value(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Kind kind,
             const std::string& text) {
    const std::uint32_t line = line_of(mark);
    check_indentation(mark);
    check_tag(mark, tag);
    if (builder_->failed()) return;
    if (builder_->wants_key()) {
      if (kind == Kind::kNothing || anchor != YAML::NullAnchor) {
        builder_->refuse(line, "not a key", kind == Kind::kNothing ? "nothing" : "an anchor",
                         "a name");
      }
      if (kind == Kind::kPlain && text == "<<") {
        builder_->refuse(line, "merge keys (<<) are not supported", {}, "the keys written out");
      }
      builder_->key(line, text);
      return;
    }
    builder_->scalar(kind, line, text);
    keep(anchor, builder_->last(), line);
  }

  void open(Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style) {
    check_indentation(mark);
    check_tag(mark, tag);
    const std::uint32_t line = line_of(mark);
    if (builder_->wants_key()) {
      builder_->refuse(line, "not a key", kind == Kind::kMap ? "a map" : "a list", "a name");
    }
    builder_->open(kind, line);
    if (builder_->failed()) return;
    const bool flow = style == YAML::EmitterStyle::Flow;
    open_.push_back({anchor, line, flow});
    if (flow) ++flow_depth_;
  }

  void close() {
    if (builder_->failed()) return;
    const Open closed = open_.back();
    open_.pop_back();
    if (closed.flow) --flow_depth_;
    keep(closed.anchor, builder_->close(), closed.line);
  }

  void keep(YAML::anchor_t anchor, const Node* node, std::uint32_t line) {
    if (anchor == YAML::NullAnchor || builder_->failed() || node == nullptr) return;
    if (!builder_->charge_copy(*node, line)) return;
    Node& kept = anchors_[anchor];
    kept = *node;
    kept.key.clear();
  }

  struct Open {
    YAML::anchor_t anchor;
    std::uint32_t line;
    bool flow;
  };
  Builder* builder_;
  Lines lines_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t flow_depth_ = 0;
  std::uint32_t checked_line_ = 0;
  int document_pos_ = -1;
};

}  // namespace

Result<std::vector<Node>> parse_yaml(std::string_view text, std::string_view file) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  BERTH_CHECK_OK(check_text(text, file));
  std::vector<Node> documents;
  Builder builder(file);
  Handler handler(text, builder);
  // The parser takes a quotation that never ends for one that ends with the file, but not where the
  // file says its end.
  std::string marked(text);
  if (!marked.empty() && marked.back() != '\n') marked += '\n';
  const auto lines = static_cast<std::uint32_t>(std::count(marked.begin(), marked.end(), '\n'));
  marked += "...\n";
  try {
    std::istringstream in{std::move(marked)};
    YAML::Parser parser(in);
    while (!builder.failed()) {
      if (!parser.HandleNextDocument(handler)) break;
      if (!builder.failed()) documents.push_back(builder.take());
    }
  } catch (const YAML::Exception& error) {
    const std::uint32_t line = line_of(error.mark);
    handler.explain(line);
    if (line > lines) {
      builder.refuse_text(lines, "not valid YAML", "the end within a value", "an end of the value");
    }
    builder.refuse_text(line, "not valid YAML", error.msg, {});
  }
  if (builder.failed()) return fail(builder.error());
  return documents;
}

}  // namespace berth::document
