#include "cli.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <deque>
#include <exception>
#include <memory>
#include <system_error>

#include "base/number.h"
#include "base/text.h"
#include "console.h"

namespace berth::cli {

void Args::add(std::string_view name, std::string value) {
  values_[std::string(name)].push_back(std::move(value));
}

void Args::set_flag(std::string_view name) {
  values_[std::string(name)];
}

bool Args::flag(std::string_view name) const {
  return values_.find(name) != values_.end();
}

bool Args::has(std::string_view name) const {
  return flag(name);
}

std::string Args::text(std::string_view name) const {
  const auto it = values_.find(name);
  return it == values_.end() || it->second.empty() ? std::string{} : it->second.back();
}

std::vector<std::string> Args::list(std::string_view name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? std::vector<std::string>{} : it->second;
}

Result<std::int64_t> Args::integer(std::string_view name, std::int64_t low,
                                   std::int64_t high) const {
  const auto value = parse_int(text(name));
  if (!value || *value < low || *value > high) {
    Error error = usage_error("not valid", std::string(name));
    error.found = fmt::format("'{}'", text(name));
    error.expected = fmt::format("a whole number from {} to {}", low, high);
    return fail(std::move(error));
  }
  return *value;
}

Result<double> Args::number(std::string_view name, double low, double high) const {
  const auto value = parse_number(text(name));
  if (!value || *value < low || *value > high) {
    Error error = usage_error("not valid", std::string(name));
    error.found = fmt::format("'{}'", text(name));
    error.expected = fmt::format("a number from {} to {}", low, high);
    return fail(std::move(error));
  }
  return *value;
}

Result<std::string> Args::choice(std::string_view name,
                                 std::span<const std::string_view> names) const {
  std::string value = text(name);
  for (const auto candidate : names) {
    if (candidate == value) return value;
  }
  return fail(usage_error(unknown_name(name.substr(name.find_first_not_of('-')), value, names)));
}

int report_error(const Error& error) {
  print_err(fmt::format("berth: {}\n", error.text()));
  return error.exit_code();
}

namespace {

// A command's parsed values live here while CLI11 fills them.
struct Bound {
  const Command* command = nullptr;
  CLI::App* app = nullptr;
  std::deque<std::vector<std::string>> values;
  std::deque<bool> flags;
};

void bind(Bound& bound) {
  for (const Option& option : bound.command->options) {
    std::string name(option.name);
    if (!option.alias.empty()) name += fmt::format(",{}", option.alias);
    std::string help(option.help);
    if (!option.default_value.empty()) help += fmt::format(" [{}]", option.default_value);
    if (option.required) help += " (required)";
    CLI::Option* added = nullptr;
    if (option.kind == OptionKind::kFlag) {
      bound.values.emplace_back();
      bound.flags.push_back(false);
      added = bound.app->add_flag(name, bound.flags.back(), help);
    } else {
      bound.flags.push_back(false);
      bound.values.emplace_back();
      added = bound.app->add_option(name, bound.values.back(), help);
      const bool several = option.kind == OptionKind::kRepeated && !name.starts_with("-");
      added->expected(1, several ? 1'000'000 : 1);
      added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      // One value after each name: what follows is an argument.
      if (!several) added->allow_extra_args(false);
      added->type_name(std::string(option.metavar));
    }
  }
}

Args collect(const Bound& bound) {
  Args args;
  for (std::size_t i = 0; i < bound.command->options.size(); ++i) {
    const Option& option = bound.command->options[i];
    if (option.kind == OptionKind::kFlag) {
      if (bound.flags[i]) args.set_flag(option.name);
      continue;
    }
    for (const auto& value : bound.values[i]) args.add(option.name, value);
    if (bound.values[i].empty() && !option.default_value.empty()) {
      args.add(option.name, std::string(option.default_value));
    }
  }
  return args;
}

// What is wrong with the values that an option was given, in words; "" if nothing is. Not left to
// the parser, whose words do not help.
std::string values_error(const Bound& bound) {
  for (std::size_t i = 0; i < bound.command->options.size(); ++i) {
    const Option& option = bound.command->options[i];
    const auto& values = bound.values[i];
    if (option.kind == OptionKind::kValue && values.size() > 1) {
      return fmt::format("{} is given {} times", option.name, values.size());
    }
    if (std::find(values.begin(), values.end(), "") != values.end()) {
      return fmt::format("{} needs a value ({}), an empty one was given", option.name,
                         option.metavar);
    }
  }
  return {};
}

// The words of the nearest command or option to what was not understood.
std::string explain_extra(const Bound& bound, std::string_view word) {
  std::vector<std::string_view> names;
  for (const Option& option : bound.command->options) {
    if (option.name.starts_with("--")) names.push_back(option.name);
  }
  names.emplace_back("--help");
  if (word.starts_with("-")) {
    const auto nearest = nearest_name(word.substr(0, word.find('=')), names);
    std::string out =
        fmt::format("unknown option '{}' for 'berth {}'", printable(word), bound.command->path);
    if (!nearest.empty()) out += fmt::format("; did you mean '{}'?", nearest);
    return out;
  }
  return fmt::format("unexpected argument '{}' for 'berth {}'", printable(word),
                     bound.command->path);
}

// "convert, stats, generate": what a group of commands has.
std::string group_summary(std::string_view group, std::span<const Command> commands) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) {
    if (command.path.starts_with(group) && command.path.substr(group.size()).starts_with(' ')) {
      names.push_back(command.path.substr(group.size() + 1));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

int wrong_use(const std::string& message) {
  print_err(fmt::format("berth: {}\n", printable(message, 2000)));
  return kWrongUse;
}

// The words after the first "--", if the command has a use for them: they are cut off here, so that
// nothing of them is taken for an option or changed.
std::vector<std::string> cut_words(int& argc, char** argv, std::span<const Command> commands) {
  std::vector<std::string> words;
  const auto takes = [&](const Command& command) {
    return command.takes_words && argc > 1 && command.path == argv[1];
  };
  if (std::none_of(commands.begin(), commands.end(), takes)) return words;
  int end = 2;
  while (end < argc && std::string_view(argv[end]) != "--") ++end;
  for (int i = end + 1; i < argc; ++i) words.emplace_back(argv[i]);
  argc = end;
  return words;
}

int dispatch(int argc, char** argv, std::span<const Command> commands) {
  const std::vector<std::string> words = cut_words(argc, argv, commands);
  CLI::App app{"Berth decides where and when machine-learning jobs run, and which may share a GPU.",
               "berth"};
  app.set_version_flag("--version", std::string("berth ") + BERTH_VERSION);
  app.require_subcommand(0, 1);
  std::deque<Bound> bounds;
  std::map<std::string, CLI::App*, std::less<>> groups;
  for (const Command& command : commands) {
    CLI::App* parent = &app;
    std::string leaf(command.path);
    if (const std::size_t space = leaf.find(' '); space != std::string::npos) {
      const std::string group = leaf.substr(0, space);
      leaf = leaf.substr(space + 1);
      CLI::App*& entry = groups[group];
      if (entry == nullptr) {
        entry = app.add_subcommand(group, group_summary(group, commands));
        entry->require_subcommand(0, 1);
        entry->allow_extras();
      }
      parent = entry;
    }
    Bound& bound = bounds.emplace_back();
    bound.command = &command;
    bound.app = parent->add_subcommand(leaf, std::string(command.summary));
    bound.app->footer(fmt::format("Example:\n  {}", command.example));
    bound.app->allow_extras();
    bind(bound);
  }
  app.allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* target = &app;
    std::string above;  // the names before its own
    for (auto chosen = app.get_subcommands(); !chosen.empty();) {
      above += (above.empty() ? "" : " ") + target->get_name();
      target = chosen.front();
      chosen = target->get_subcommands();
    }
    fmt::print("{}", target->help(above));
    return kDone;
  } catch (const CLI::CallForVersion&) {
    fmt::print("berth {}\n", BERTH_VERSION);
    return kDone;
  } catch (const CLI::ArgumentMismatch& error) {
    // "--json: 1 required F missing": nothing else can be wrong with one value after each name.
    const std::string_view what = error.what();
    return wrong_use(fmt::format("{} needs a value", what.substr(0, what.find(':'))));
  } catch (const CLI::ParseError& error) {
    return wrong_use(error.what());
  }
  for (const Bound& bound : bounds) {
    if (!bound.app->parsed()) continue;
    auto extras = app.remaining(true);  // with what follows a "--"
    std::erase(extras, "--");
    if (!extras.empty()) return wrong_use(explain_extra(bound, extras.front()));
    if (const auto error = values_error(bound); !error.empty()) return wrong_use(error);
    Args args = collect(bound);
    for (const std::string& word : words) args.add("--", word);
    // Not left to the parser: an unknown option, which may be a misspelt one, comes first.
    for (const Option& option : bound.command->options) {
      if (option.required && !args.has(option.name)) {
        return wrong_use(
            fmt::format("{} is required; see 'berth {} --help'", option.name, bound.command->path));
      }
    }
    return bound.command->run(args);
  }
  std::vector<std::string_view> names;
  const auto extras = app.remaining(true);
  for (const auto& [name, group] : groups) {
    if (!group->parsed()) continue;
    for (const Command& command : commands) {
      if (command.path.starts_with(name + " "))
        names.push_back(command.path.substr(name.size() + 1));
    }
    if (extras.empty()) {
      return wrong_use(fmt::format("'berth {}' needs one of: {}", name, fmt::join(names, ", ")));
    }
    return wrong_use(
        unknown_name(fmt::format("command after 'berth {}'", name), extras.front(), names));
  }
  for (const Command& command : commands) {
    const auto top = command.path.substr(0, command.path.find(' '));
    if (names.empty() || names.back() != top) names.push_back(top);
  }
  if (!extras.empty()) {
    if (extras.front().starts_with("-")) {
      names = {"--help", "--version"};
      return wrong_use(unknown_name("option", extras.front(), names));
    }
    return wrong_use(unknown_name("command", extras.front(), names));
  }
  fmt::print("{}", app.help());
  return argc > 1 ? kWrongUse : kDone;
}

// What was printed must have arrived: a full disk is an error, not a short answer.
int checked_output(int code) {
  if (code != kDone || (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)) return code;
  return report_error(io_error("standard output", "could not be written"));
}

}  // namespace

int run_main(int argc, char** argv, std::span<const Command> commands) {
  try {
    return checked_output(dispatch(argc, argv, commands));
  } catch (const std::system_error& error) {
    // fmt throws this when a write fails.
    print_err(fmt::format("berth: could not write: {}\n", error.code().message()));
  } catch (const std::bad_alloc&) {
    print_err("berth: out of memory\n");
  } catch (const std::exception& error) {
    print_err(fmt::format("berth: internal error: {}\n", error.what()));
  }
  return kFailed;
}

}  // namespace berth::cli
