// Errors as values. An Error says where, what was found and what would be right; a Result cannot be
// ignored. Exceptions are for what ends the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace berth {

// Decides the exit code at the edge: kUsage and kBadInput are 2, the others 1.
enum class ErrorKind : std::uint8_t {
  kUsage,        // a wrong option, an unknown name
  kBadInput,     // a file that is damaged, cut short, empty, or not of its format
  kIo,           // the system refused: no such file, no space, no permission
  kUnsupported,  // right input that this build or machine cannot serve
  kInternal,     // a broken invariant
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;     // the whole story in one line when the parts below are empty
  std::string file;        // empty: not about a file
  std::uint64_t line = 0;  // 1 = first line; 0: not known
  std::string field;       // column, key or option
  std::string found;       // what stands there, shortened
  std::string expected;    // what would be right

  // "FILE:LINE: FIELD: MESSAGE: found F, expected E", leaving out what is not known; always one
  // line, control characters escaped.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] int exit_code() const;
};

[[nodiscard]] Error usage_error(std::string message, std::string field = {});
[[nodiscard]] Error io_error(std::string_view file, std::string message);
[[nodiscard]] Error bad_input(std::string_view file, std::uint64_t line, std::string field,
                              std::string message, std::string found = {},
                              std::string expected = {});
[[nodiscard]] Error internal_error(std::string message);

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

// Text for people: control characters and invalid UTF-8 as \xNN, cut to `max_bytes` with "...".
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 80);

}  // namespace berth

// BERTH_TRY(auto x, f()) binds the value or returns the error.
#define BERTH_CONCAT_INNER(a, b) a##b
#define BERTH_CONCAT(a, b) BERTH_CONCAT_INNER(a, b)
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot stand in parentheses.
#define BERTH_TRY_IMPL(tmp, decl, expr)                   \
  auto tmp = (expr);                                      \
  if (!tmp) return ::berth::fail(std::move(tmp).error()); \
  decl = std::move(*tmp)
// NOLINTEND(bugprone-macro-parentheses)
#define BERTH_TRY(decl, expr) BERTH_TRY_IMPL(BERTH_CONCAT(try_result_, __LINE__), decl, expr)
#define BERTH_CHECK_OK(expr)                                        \
  do {                                                              \
    auto status_ = (expr);                                          \
    if (!status_) return ::berth::fail(std::move(status_).error()); \
  } while (false)
