#include "trace/values.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/datetime.h"
#include "base/number.h"

namespace berth::trace {
namespace {

constexpr Fault kNoSeconds{"not a number", "seconds"};
constexpr Fault kNegativeTime{"negative time", "seconds of at least 0"};
constexpr Fault kArrivalRange{"out of range", "seconds of at most 3e11"};
constexpr Fault kDurationRange{"out of range", "seconds of at most 100 years"};
constexpr Fault kNoGpus{"not a number of GPUs", "a whole number, or a share of one GPU"};
constexpr Fault kNegativeGpus{"negative number of GPUs", "a number of at least 0"};
constexpr Fault kSplitGpus{"not a whole number of GPUs", "a whole number, or a share below 1"};
constexpr Fault kNoCount{"not a whole number", "a whole number of at least 0"};
constexpr Fault kNegative{"negative number", "a number of at least 0"};
constexpr Fault kNoNumber{"not a number", "a number"};
constexpr Fault kRange{"out of range", "a smaller number"};
constexpr Fault kNoDate{"not a date and time", "YYYY-MM-DD HH:MM:SS"};
constexpr Fault kDateRange{"time out of range", "a year from 1971 to 2199"};

constexpr bool same_letters(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

const Fault* parse_time(std::string_view text, TimeUs most, const Fault* above, MaybeInt& out) {
  if (is_missing(text)) return nullptr;
  const auto us = parse_seconds_us(text);
  // A number too large for microseconds is out of range, not "no number".
  if (!us) {
    const auto number = parse_number(text);
    if (!number) return &kNoSeconds;
    return *number < 0 ? &kNegativeTime : above;
  }
  if (*us < 0) return &kNegativeTime;
  if (*us > most) return above;
  out = *us;
  return nullptr;
}

struct StatusWord {
  std::string_view word;
  EndStatus status;
};
// The words of Slurm (also in Helios and Acme), Philly, and our own; the first of a status is the
// one that we write.
constexpr std::array kStatusWords{
    StatusWord{"completed", EndStatus::kCompleted}, StatusWord{"failed", EndStatus::kFailed},
    StatusWord{"cancelled", EndStatus::kCancelled}, StatusWord{"timeout", EndStatus::kTimeout},
    StatusWord{"node_fail", EndStatus::kNodeFail},  StatusWord{"suspended", EndStatus::kSuspended},
    StatusWord{"pass", EndStatus::kCompleted},      StatusWord{"killed", EndStatus::kCancelled},
    StatusWord{"canceled", EndStatus::kCancelled},  StatusWord{"out_of_memory", EndStatus::kFailed},
    StatusWord{"boot_fail", EndStatus::kNodeFail},  StatusWord{"deadline", EndStatus::kTimeout},
    StatusWord{"preempted", EndStatus::kCancelled}, StatusWord{"revoked", EndStatus::kCancelled},
};

}  // namespace

bool is_missing(std::string_view text) {
  if (text.empty()) return true;
  const char first = text.front();
  if ((first >= '0' && first <= '9') || text.size() > 7) return false;
  constexpr std::array<std::string_view, 12> kWords{
      "nan", "null", "none", "na", "n/a", "-", "--", "\\n", "nat", "<na>", "nil", "unknown"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [text](std::string_view word) { return same_letters(text, word); });
}

const Fault* parse_arrival_s(std::string_view text, MaybeInt& out) {
  return parse_time(text, kMaxArrivalUs, &kArrivalRange, out);
}

const Fault* parse_duration_s(std::string_view text, MaybeInt& out) {
  return parse_time(text, kMaxDurationUs, &kDurationRange, out);
}

const Fault* parse_gpu_milli(std::string_view text, MaybeInt& out) {
  if (is_missing(text)) return nullptr;
  const auto milli = parse_milli(text);
  if (!milli) {
    const auto number = parse_number(text);
    if (!number) return &kNoGpus;
    if (*number < 0) return &kNegativeGpus;
    return *number > static_cast<double>(kMaxCount) ? &kRange : &kNoGpus;
  }
  if (*milli < 0) return &kNegativeGpus;
  if (*milli > kMaxCount * 1000) return &kRange;
  out = *milli;
  return nullptr;
}

const Fault* parse_gpus(std::string_view text, MaybeInt& out) {
  MaybeInt milli;
  const Fault* fault = parse_gpu_milli(text, milli);
  if (fault != nullptr || !milli.known()) return fault;
  if (milli.value() > 1000 && milli.value() % 1000 != 0) return &kSplitGpus;
  out = milli;
  return nullptr;
}

const Fault* parse_count(std::string_view text, MaybeInt& out) {
  if (is_missing(text)) return nullptr;
  auto value = parse_int(text);
  if (!value) {
    const auto number = parse_number(text);
    if (!number) return &kNoCount;
    if (*number < 0) return &kNegative;
    if (*number > static_cast<double>(kMaxIterations)) return &kRange;
    if (*number != std::floor(*number)) return &kNoCount;
    value = static_cast<std::int64_t>(*number);
  }
  if (*value < 0) return &kNegative;
  if (*value > kMaxIterations) return &kRange;
  out = *value;
  return nullptr;
}

const Fault* parse_count_milli(std::string_view text, MaybeInt& out) {
  if (is_missing(text)) return nullptr;
  const auto number = parse_number(text);
  if (!number) return &kNoNumber;
  if (*number < 0) return &kNegative;
  if (*number > static_cast<double>(kMaxCount)) return &kRange;
  const auto exact = parse_milli(text);
  out = exact ? *exact : std::llround(*number * 1000.0);
  return nullptr;
}

const Fault* parse_factor_milli(std::string_view text, MaybeInt& out) {
  const Fault* fault = parse_count_milli(text, out);
  if (fault != nullptr || !out.known()) return fault;
  return out.value() > 2'000'000'000 ? &kRange : nullptr;
}

const Fault* parse_instant(std::string_view text, MaybeInt& out) {
  if (is_missing(text)) return nullptr;
  const auto us = parse_datetime(text);
  if (!us) return &kNoDate;
  if (*us < kFirstInstantUs || *us >= kEndInstantUs) return &kDateRange;
  out = *us;
  return nullptr;
}

EndStatus parse_status(std::string_view text) {
  text = text.substr(0, text.find(' '));
  for (const auto& [word, status] : kStatusWords) {
    if (same_letters(text, word)) return status;
  }
  return EndStatus::kUnknown;
}

std::string_view status_name(EndStatus status) {
  for (const auto& entry : kStatusWords) {
    if (entry.status == status) return entry.word;
  }
  return {};
}

}  // namespace berth::trace
