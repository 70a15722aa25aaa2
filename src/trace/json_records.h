// The objects of a JSON file, one by one: the elements of one array (what else stands there is
// handed out too, to be reported), or one object after the other (JSON lines). Only the object at
// hand is in memory, so that a file of any size can be read, and compressed ones as they come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/input.h"

namespace berth::trace {

class JsonRecords {
 public:
  static constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 20U;

  explicit JsonRecords(Input& input) : input_(&input) {}

  // The next element's text, with Input::kPadding readable bytes behind it; valid until the next
  // call. False at the end, or where the file is not such a list: then status() says why.
  [[nodiscard]] bool next(std::string_view& object);
  [[nodiscard]] std::uint64_t line() const { return record_line_; }  // where the object starts
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  [[nodiscard]] bool peek(char& c);  // the next character that is no blank; false at the end
  [[nodiscard]] bool scan_value(std::size_t& size);
  void consume(std::size_t n);
  bool finish_array();
  bool stop(std::string_view message, std::string_view expected);

  Input* input_;
  bool started_ = false;
  bool array_ = false;
  bool ended_ = false;
  std::uint64_t line_ = 1;
  std::uint64_t record_line_ = 0;
  Status status_;
};

}  // namespace berth::trace
