#include "base/datetime.h"

#include <fmt/format.h>

namespace berth {
namespace {

// Days since 1970-01-01 of the proleptic Gregorian calendar, and back. March is counted as the
// first month, so that the leap day is the last of a year.
constexpr std::int64_t days_from_date(std::int64_t year, int month, int day) {
  if (month <= 2) --year;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719'468;
}
static_assert(days_from_date(1970, 1, 1) == 0);
static_assert(days_from_date(2000, 3, 1) == 11'017);

struct Date {
  std::int64_t year;
  std::int64_t month;
  std::int64_t day;
};
constexpr Date date_from_days(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted = (5 * day_of_year + 2) / 153;
  const std::int64_t month = shifted + (shifted < 10 ? 3 : -9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          day_of_year - (153 * shifted + 2) / 5 + 1};
}
static_assert(date_from_days(11'016).day == 29);

constexpr int days_in_month(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

// Eats a text from the left.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : left_(text) {}

  bool digits(int count, int& out) {
    if (left_.size() < static_cast<std::size_t>(count)) return false;
    out = 0;
    for (int i = 0; i < count; ++i) {
      const char c = left_[static_cast<std::size_t>(i)];
      if (c < '0' || c > '9') return false;
      out = out * 10 + (c - '0');
    }
    left_.remove_prefix(static_cast<std::size_t>(count));
    return true;
  }
  bool one_of(std::string_view characters) {
    if (left_.empty() || characters.find(left_.front()) == std::string_view::npos) return false;
    last_ = left_.front();
    left_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view expected) {
    if (!left_.starts_with(expected)) return false;
    left_.remove_prefix(expected.size());
    return true;
  }
  // Digits after the point, rounded down to microseconds.
  bool fraction(TimeUs& us) {
    TimeUs unit = kUsPerS / 10;
    int digit = 0;
    if (!digits(1, digit)) return false;
    do {
      us += digit * unit;
      unit /= 10;
    } while (digits(1, digit));
    return true;
  }
  [[nodiscard]] char last() const { return last_; }
  [[nodiscard]] bool done() const { return left_.empty(); }

 private:
  std::string_view left_;
  char last_ = '\0';
};

bool scan_date(Scanner& in, std::int64_t& days) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!in.digits(4, year) || !in.one_of("-/")) return false;
  const char separator = in.last();
  if (!in.digits(2, month) || !in.one_of({&separator, 1}) || !in.digits(2, day)) return false;
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) {
    return false;
  }
  days = days_from_date(year, month, day);
  return true;
}

bool scan_clock(Scanner& in, TimeUs& us) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  TimeUs fraction = 0;
  if (!in.digits(2, hour) || !in.word(":") || !in.digits(2, minute)) return false;
  if (in.word(":")) {
    if (!in.digits(2, second)) return false;
    if (in.one_of(".,") && !in.fraction(fraction)) return false;
  }
  if (hour > 23 || minute > 59 || second > 60) return false;
  us = hour * kUsPerHour + minute * kUsPerMin + second * kUsPerS + fraction;
  return true;
}

bool scan_offset(Scanner& in, TimeUs& us) {
  in.word(" ");
  if (in.done() || in.word("Z") || in.word("z") || in.word("UTC") || in.word("GMT")) return true;
  if (!in.one_of("+-")) return false;
  const int sign = in.last() == '-' ? -1 : 1;
  int hour = 0;
  int minute = 0;
  if (!in.digits(2, hour)) return false;
  if (in.word(":") || !in.done()) {
    if (!in.digits(2, minute)) return false;
  }
  if (hour > 23 || minute > 59) return false;
  us = sign * (hour * kUsPerHour + minute * kUsPerMin);
  return true;
}

}  // namespace

std::optional<TimeUs> parse_datetime(std::string_view text) {
  Scanner in(text);
  std::int64_t days = 0;
  TimeUs clock = 0;
  TimeUs offset = 0;
  if (!scan_date(in, days)) return std::nullopt;
  if (!in.done()) {
    if (!in.one_of(" Tt") || !scan_clock(in, clock) || !scan_offset(in, offset) || !in.done()) {
      return std::nullopt;
    }
  }
  return days * kUsPerDay + clock - offset;
}

std::string format_utc(TimeUs unix_us) {
  std::int64_t days = unix_us / kUsPerDay;
  TimeUs rest = unix_us % kUsPerDay;
  if (rest < 0) {
    rest += kUsPerDay;
    --days;
  }
  const Date date = date_from_days(days);
  std::string out =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", date.year, date.month, date.day,
                  rest / kUsPerHour, rest / kUsPerMin % 60, rest / kUsPerS % 60);
  if (rest % kUsPerS != 0) {
    out += fmt::format(".{:06}", rest % kUsPerS);
    while (out.back() == '0') out.pop_back();
  }
  return out + "Z";
}

}  // namespace berth
