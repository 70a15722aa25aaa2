#include "telemetry/progress_line.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/datetime.h"
#include "base/time.h"

namespace berth::telemetry {
namespace {

using nlohmann::json;

// NaN, Infinity and -Infinity are no JSON, and yet what many programs write. In quotes they are.
std::string quote_not_finite(std::string_view line) {
  std::string out;
  bool in_text = false;
  while (!line.empty()) {
    std::size_t length = 1;
    if (in_text && line.front() == '\\' && line.size() > 1) {
      length = 2;
    } else if (line.front() == '"') {
      in_text = !in_text;
    } else if (!in_text) {
      for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        if (!line.starts_with(word)) continue;
        out += fmt::format("\"{}\"", word);
        line.remove_prefix(word.size());
        length = 0;
        break;
      }
    }
    out += line.substr(0, length);
    line.remove_prefix(length);
  }
  return out;
}

json parse(std::string_view line) {
  json out = json::parse(line, nullptr, false);
  const bool not_finite = out.is_discarded() && (line.find("NaN") != std::string_view::npos ||
                                                 line.find("Inf") != std::string_view::npos);
  return not_finite ? json::parse(quote_not_finite(line), nullptr, false) : out;
}

std::optional<double> number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return std::nan("");
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<std::int64_t> iteration_of(const json& object) {
  const auto it = object.find("iteration");
  if (it == object.end() || !it->is_number()) return std::nullopt;
  const double value = it->get<double>();
  if (!(value >= 0) || value > static_cast<double>(kMostIterations) || value != std::floor(value)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);  // exact: below 2^53
}

// The value of `key`, if there is one; "" or what is wrong with it.
std::string read_value(const json& object, const char* key, bool& diverged,
                       std::optional<double>& out) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return {};
  const auto value = number(*it);
  if (!value) return fmt::format("{} is no number", key);
  if (std::isfinite(*value)) {
    out = *value;
  } else {
    diverged = true;
  }
  return {};
}

}  // namespace

std::optional<std::int64_t> unix_us_from_seconds(double seconds) {
  const auto us = us_from_seconds(seconds);
  if (!us || *us < kFirstInstantUs || *us >= kEndInstantUs) return std::nullopt;
  return us;
}

std::string read_progress_line(std::string_view line, ProgressPoint& out) {
  const json object = parse(line);
  if (!object.is_object()) return "no JSON object";
  const auto iteration = iteration_of(object);
  if (!iteration) return "no \"iteration\" that is a whole number from 0";
  out = ProgressPoint();
  out.iteration = *iteration;
  for (const auto& [key, value] : {std::pair{"loss", &out.loss}, {"accuracy", &out.accuracy}}) {
    if (std::string fault = read_value(object, key, out.diverged, *value); !fault.empty()) {
      return fault;
    }
  }
  if (out.accuracy && (*out.accuracy < 0 || *out.accuracy > 1)) return "accuracy is not in 0..1";
  if (out.diverged) out.loss.reset();
  bool ignored = false;
  std::optional<double> time;
  if (std::string fault = read_value(object, "time", ignored, time); !fault.empty()) return fault;
  if (time) out.unix_us = unix_us_from_seconds(*time);
  return {};
}

}  // namespace berth::telemetry
