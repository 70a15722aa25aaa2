#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "document/builder.h"

namespace berth::document {
namespace {

using nlohmann::json;

// What the parser tells; it keeps no stack of its own on ours, however deep the text is.
class Handler {
 public:
  Handler(std::string_view text, Builder& builder) : text_(text), builder_(&builder) {}

  bool null() { return scalar(Kind::kNothing, {}); }
  bool boolean(bool value) { return scalar(Kind::kPlain, value ? "true" : "false"); }
  bool number_integer(json::number_integer_t value) {
    return scalar(Kind::kPlain, fmt::to_string(value));
  }
  bool number_unsigned(json::number_unsigned_t value) {
    return scalar(Kind::kPlain, fmt::to_string(value));
  }
  bool number_float(json::number_float_t /*value*/, const json::string_t& written) {
    return scalar(Kind::kPlain, written);
  }
  bool string(json::string_t& value) { return scalar(Kind::kQuoted, std::move(value)); }
  bool binary(json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(Kind::kMap); }
  bool end_object() { return close(); }
  bool start_array(std::size_t /*size*/) { return open(Kind::kList); }
  bool end_array() { return close(); }
  bool key(json::string_t& name) {
    builder_->key(0, std::move(name));
    return !builder_->failed();
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const json::exception& error) {
    const std::string_view before = text_.substr(0, std::min(position, text_.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    std::string_view what = error.what();
    const std::size_t at = what.find("] ");  // behind the library's own number of the error
    if (at != std::string_view::npos) what.remove_prefix(at + 2);
    builder_->refuse_text(static_cast<std::uint32_t>(line), "not valid JSON", std::string(what),
                          {});
    return false;
  }

 private:
  bool scalar(Kind kind, std::string text) {
    builder_->scalar(kind, 0, std::move(text));
    return !builder_->failed();
  }
  bool open(Kind kind) {
    builder_->open(kind, 0);
    return !builder_->failed();
  }
  bool close() { return builder_->close() != nullptr; }

  std::string_view text_;
  Builder* builder_;
};

}  // namespace

Result<Node> parse_json(std::string_view text, std::string_view file) {
  BERTH_CHECK_OK(check_text(text, file));
  Builder builder(file);
  Handler handler(text, builder);
  const bool whole = json::sax_parse(text.begin(), text.end(), &handler);
  if (builder.failed()) return fail(builder.error());
  if (!whole) return fail(bad_input(file, 0, {}, "not valid JSON"));
  return builder.take();
}

}  // namespace berth::document
