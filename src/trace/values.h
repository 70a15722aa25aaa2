// What the fields of a trace may hold: one rule for each kind of value, for every reader.
//
// Each parser leaves `out` unknown when the field says that there is no value ("", "nan", "NULL",
// "N/A", "None", "-", ...) and returns a Fault when there is one that is not of its kind.
#pragma once

#include <string_view>

#include "base/maybe.h"
#include "base/time.h"
#include "trace/trace.h"

namespace berth::trace {

// Beyond these no figure is meant; within them sums of an arrival and a duration cannot overflow.
inline constexpr TimeUs kMaxDurationUs = 36'525 * kUsPerDay;        // 100 years
inline constexpr TimeUs kMaxArrivalUs = 300'000'000'000 * kUsPerS;  // beyond the year 9999
inline constexpr std::int64_t kMaxCount = 1'000'000'000'000;        // GPUs, cores, MiB
inline constexpr std::int64_t kMaxIterations = 1'000'000'000'000'000;

struct Fault {
  std::string_view reason;    // short and countable
  std::string_view expected;  // what would be right
};

inline constexpr Fault kMissing{"missing value", "a value"};

using Parser = const Fault* (*)(std::string_view text, MaybeInt& out);  // nullptr: no fault

[[nodiscard]] bool is_missing(std::string_view text);

// Seconds since the trace's own zero, not negative: to microseconds.
[[nodiscard]] const Fault* parse_arrival_s(std::string_view text, MaybeInt& out);
// A length of time in seconds, not negative, at most 100 years: to microseconds.
[[nodiscard]] const Fault* parse_duration_s(std::string_view text, MaybeInt& out);
// GPUs: a whole number (0: a CPU job), or a share of one GPU in thousandths: to thousandths.
[[nodiscard]] const Fault* parse_gpus(std::string_view text, MaybeInt& out);
// GPUs in thousandths, whatever their sum: the tasks of one job may have 0.5 and 1.
[[nodiscard]] const Fault* parse_gpu_milli(std::string_view text, MaybeInt& out);
// A whole number, not negative ("2.0" is one).
[[nodiscard]] const Fault* parse_count(std::string_view text, MaybeInt& out);
// As parse_count, in thousandths and with fractions: cores.
[[nodiscard]] const Fault* parse_count_milli(std::string_view text, MaybeInt& out);
// A factor, not negative: to thousandths, rounded.
[[nodiscard]] const Fault* parse_factor_milli(std::string_view text, MaybeInt& out);
// A date and time, see base/datetime.h: to microseconds of Unix time. Years 1971 to 2199;
// schedulers write the epoch and the year 9999 for "unset".
[[nodiscard]] const Fault* parse_instant(std::string_view text, MaybeInt& out);

// A status as schedulers write it, in any case and with what follows a blank ("CANCELLED by 0")
// ignored; kUnknown for another word.
[[nodiscard]] EndStatus parse_status(std::string_view text);
// "completed", ...; "" for kUnknown.
[[nodiscard]] std::string_view status_name(EndStatus status);

}  // namespace berth::trace
