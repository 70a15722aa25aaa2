// What a command is: its options as data, and a function. Only cli.cpp knows the library that
// parses.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUse = 2;
inline constexpr int kInterrupted = 130;

enum class OptionKind : std::uint8_t { kValue, kFlag, kRepeated };

struct Option {
  std::string_view name;     // "--trace"; "FILE" (no dashes) for a positional
  std::string_view metavar;  // "F"; for a flag ""
  std::string_view help;
  OptionKind kind = OptionKind::kValue;
  std::string_view default_value = {};  // shown in --help, used when absent
  bool required = false;
  std::string_view alias = {};  // "-f": a shorter name
};

// Parsed options by name. Values are text; the accessors convert and name the option in errors.
class Args {
 public:
  void add(std::string_view name, std::string value);
  void set_flag(std::string_view name);

  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name) const;  // "" if absent
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view name, std::int64_t low,
                                             std::int64_t high) const;
  [[nodiscard]] Result<double> number(std::string_view name, double low, double high) const;
  // The value, which must be one of `names`; the error names the nearest.
  [[nodiscard]] Result<std::string> choice(std::string_view name,
                                           std::span<const std::string_view> names) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

struct Command {
  std::string_view path;     // "simulate", "trace convert"
  std::string_view summary;  // one line
  std::string_view example;  // a command that works
  std::vector<Option> options;
  int (*run)(const Args& args) = nullptr;
  // What follows a "--" is not for us: Args::list("--"), word by word as it was written.
  bool takes_words = false;
};

// Prints "berth: ..." on standard error; returns the exit code that the error asks for.
int report_error(const Error& error);

// Parses and runs. Never throws.
int run_main(int argc, char** argv, std::span<const Command> commands);

}  // namespace berth::cli
