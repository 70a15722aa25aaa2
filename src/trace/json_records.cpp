#include "trace/json_records.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::trace {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace

void JsonRecords::consume(std::size_t n) {
  const std::string_view eaten = input_->window().substr(0, n);
  line_ += static_cast<std::uint64_t>(std::count(eaten.begin(), eaten.end(), '\n'));
  input_->consume(n);
}

bool JsonRecords::peek(char& c) {
  while (true) {
    const std::string_view window = input_->window();
    const auto at = std::find_if_not(window.begin(), window.end(), is_blank);
    consume(static_cast<std::size_t>(at - window.begin()));
    if (!input_->window().empty()) {
      c = input_->window().front();
      return true;
    }
    if (!input_->more()) return false;
  }
}

bool JsonRecords::stop(std::string_view message, std::string_view expected) {
  ended_ = true;
  const std::string_view window = input_->window();
  std::string found = window.empty()
                          ? std::string("the end of the file")
                          : fmt::format("'{}'", printable(window.substr(0, window.find('\n')), 40));
  status_ = fail(
      input_->error(line_, "JSON", std::string(message), std::move(found), std::string(expected)));
  return false;
}

bool JsonRecords::next(std::string_view& object) {
  if (ended_) return false;
  char c = 0;
  bool more = peek(c);
  if (!started_) {
    started_ = true;
    if (more && c == '[') {
      array_ = true;
      consume(1);
      more = peek(c);
      if (more && c == ']') return finish_array();
    }
  } else if (array_) {
    if (more && c == ']') return finish_array();
    if (!more || c != ',') return stop("the list is broken", "',' or ']' after an object");
    consume(1);
    more = peek(c);
  }
  if (!more && !array_) {
    ended_ = true;
    return false;
  }
  if (!more || (array_ ? c == ',' || c == ']' : c != '{')) {
    return stop(array_ ? "the list is broken" : "not a list of objects",
                array_ ? "an object" : "'[' (an array of jobs) or '{' (one job a line)");
  }
  record_line_ = line_;
  std::size_t size = 0;
  if (!scan_value(size)) return false;
  object = input_->window().substr(0, size);
  // The text stays where it is until the next call: consuming only moves the start of the window.
  consume(size);
  return true;
}

bool JsonRecords::finish_array() {
  consume(1);
  char c = 0;
  if (peek(c)) return stop("something follows the end of the list", "the end of the file");
  ended_ = true;
  return false;
}

bool JsonRecords::scan_value(std::size_t& size) {
  std::size_t at = 0;
  int depth = 0;
  bool text = false;
  bool escaped = false;
  const char first = input_->window().front();
  const bool has_end_of_its_own = first == '{' || first == '[';
  while (true) {
    const std::string_view window = input_->window();
    for (; at < window.size(); ++at) {
      const char c = window[at];
      if (text) {
        if (escaped) {
          escaped = false;
        } else if (c == '\\') {
          escaped = true;
        } else if (c == '"') {
          text = false;
        }
      } else if (c == '"') {
        text = true;
      } else if (!has_end_of_its_own && (c == ',' || c == ']')) {
        size = at;
        return true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        size = at + 1;
        return true;
      }
    }
    if (at > kMaxRecordBytes) {
      return stop("an object is too large", fmt::format("at most {} bytes", kMaxRecordBytes));
    }
    if (!input_->more()) {
      ended_ = true;
      status_ = fail(input_->error(record_line_, "JSON", "the file ends inside an object",
                                   "the end of the file", "'}'"));
      return false;
    }
  }
}

}  // namespace berth::trace
