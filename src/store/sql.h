// What every file of this folder does with SQLite: exceptions become errors, rows become values.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace berth::sql {

// In words for people: no space, damaged, in use, read-only, not a database.
[[nodiscard]] Error error_of(const std::string& path, const SQLite::Exception& exception);

// Runs `work`, which returns a Result or a Status; what SQLiteCpp throws becomes an Error.
template <class Work>
[[nodiscard]] std::invoke_result_t<Work> guarded(const std::string& path, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const SQLite::Exception& exception) {
    return fail(error_of(path, exception));
  }
}

// The first column of the first row.
[[nodiscard]] std::int64_t number_of(SQLite::Database& database, const char* query);
[[nodiscard]] std::string text_of(SQLite::Database& database, const char* query);

// A statement in use: reset whatever happens, so that it holds no lock on the store afterwards.
class Use {
 public:
  explicit Use(SQLite::Statement& statement) : statement_(statement) {}
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { (void)statement_.tryReset(); }

  // Binds the next parameter. Text is not copied: it must outlive the last step.
  Use& bind(const std::string& text) {
    statement_.bindNoCopy(++parameter_, text);
    return *this;
  }
  template <std::integral T>
  Use& bind(T value) {
    statement_.bind(++parameter_, static_cast<std::int64_t>(value));
    return *this;
  }
  template <class T>
  requires std::is_enum_v<T> Use& bind(T value) { return bind(static_cast<std::int64_t>(value)); }

  // True: there is a row, to be read from its first column on.
  [[nodiscard]] bool next() {
    column_ = 0;
    return statement_.executeStep();
  }
  // For statements without rows; how many rows were changed.
  int run() { return statement_.exec(); }

  template <std::integral T>
  [[nodiscard]] T integer() {
    return static_cast<T>(statement_.getColumn(column_++).getInt64());
  }
  [[nodiscard]] std::string text() { return statement_.getColumn(column_++).getString(); }
  // One of 0..last, or throws as SQLite does for a damaged file.
  template <class T>
  requires std::is_enum_v<T>
  [[nodiscard]] T one_of(T last) {
    const auto value = integer<std::int64_t>();
    if (value < 0 || value > static_cast<std::int64_t>(last)) throw_damaged();
    return static_cast<T>(value);
  }

 private:
  [[noreturn]] static void throw_damaged();

  SQLite::Statement& statement_;
  int parameter_ = 0;
  int column_ = 0;
};

}  // namespace berth::sql
