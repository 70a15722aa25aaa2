#include "trace/slurm_values.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/datetime.h"
#include "base/number.h"
#include "base/time.h"

namespace berth::trace {
namespace {

constexpr Fault kNoDuration{"not a duration", "[days-]hours:minutes:seconds"};
constexpr Fault kDurationRange{"out of range", "at most 100 years"};
constexpr Fault kNoMemory{"not an amount of memory", "a number with K, M, G, T or P"};
constexpr Fault kNoTres{"not a list of resources", "name=amount,..."};
constexpr Fault kNumberedTres{"resources are numbered, not named", "gres/gpu=N"};
constexpr Fault kNoGres{"not a list of generic resources", "gpu[:type]:N,..."};
constexpr Fault kTimeRange{"time out of range", "a year from 1971 to 2199"};
constexpr Fault kRange{"out of range", "a smaller number"};
constexpr Fault kManyTypes{"too many types of GPU", "at most 1000"};

constexpr std::int64_t kMostGpus = kMaxCount / 1000;  // of one type; also shards
constexpr std::size_t kMostTypes = 1000;

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// Takes what stands before `separator` (all, if there is none) off the front of `rest`.
std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

std::optional<std::int64_t> small_number(std::string_view text) {
  if (text.size() > 9 || !all_digits(text)) return std::nullopt;
  return parse_int(text);
}

// "hours:minutes:seconds" with `parts` of them, the last with a fraction; the first may be large.
bool clock_us(std::string_view text, bool hours_first, TimeUs& out) {
  std::array<std::string_view, 3> parts;
  std::size_t n = 0;
  while (n < 3) {
    parts.at(n++) = take_until(text, ':');
    if (text.empty()) break;
  }
  if (!text.empty()) return false;
  if (!hours_first && n == 1) return false;  // a plain number is not a duration
  // Without days, two parts are minutes and seconds; with days, hours and minutes.
  const std::size_t first_unit = hours_first || n == 3 ? 0 : 1;
  constexpr std::array<TimeUs, 3> kUnits{kUsPerHour, kUsPerMin, kUsPerS};
  out = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::string_view part = parts.at(i);
    const std::size_t unit = first_unit + i;
    if (unit == 2) {
      const std::size_t point = part.find('.');
      if (point != std::string_view::npos) {
        const auto fraction = parse_seconds_us(part.substr(point));
        if (!fraction || !all_digits(part.substr(point + 1))) return false;
        out += *fraction;
        part = part.substr(0, point);
      }
    }
    const auto value = small_number(part);
    if (!value || (i > 0 && *value > 59)) return false;
    if (hours_first && i == 0 && *value > 23) return false;
    out += *value * kUnits.at(unit);
  }
  return true;
}

const Fault* checked_duration(TimeUs us, MaybeInt& out) {
  if (us > kMaxDurationUs) return &kDurationRange;
  out = us;
  return nullptr;
}

bool is_mig_profile(std::string_view type) {
  // "1g.5gb", "a100_3g.40gb", "1g.5gb.me": slices g, memory gb.
  const std::size_t g = type.find("g.");
  if (g == 0 || g == std::string_view::npos || !is_digit(type[g - 1])) return false;
  std::string_view memory = type.substr(g + 2);
  const std::size_t digits = std::min(memory.find_first_not_of("0123456789"), memory.size());
  return digits > 0 && memory.substr(digits).starts_with("gb");
}

// A count, with a suffix for thousands of 1,024 as sacct may write it.
std::optional<std::int64_t> count_of(std::string_view text) {
  std::int64_t factor = 1;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'M')) {
    factor = text.back() == 'K' ? 1024 : 1024 * 1024;
    text.remove_suffix(1);
  }
  const auto value = small_number(text);
  if (!value) return std::nullopt;
  return *value * factor;
}

const Fault* add_gpus(std::string_view type, std::int64_t count, SlurmResources& out) {
  if (count > kMostGpus) return &kRange;
  if (type.empty()) {
    out.untyped_gpus = out.untyped_gpus.value_or(0) + count;
    if (out.untyped_gpus.value() > kMaxCount) return &kRange;
  } else {
    if (out.typed.size() == kMostTypes) return &kManyTypes;
    out.typed.push_back({type, count});
  }
  return nullptr;
}

const Fault* add_shards(bool typed, std::int64_t count, SlurmResources& out) {
  if (count > kMostGpus) return &kRange;
  MaybeInt& sum = typed ? out.typed_shards : out.untyped_shards;
  sum = sum.value_or(0) + count;
  return sum.value() > kMaxCount ? &kRange : nullptr;
}

const Fault* read_tres(std::string_view key, std::string_view value, SlurmResources& out) {
  if (key == "mem") return parse_slurm_memory(value, out.memory_mib);
  if (all_digits(key)) return parse_int(key).value_or(0) > 1000 ? &kNumberedTres : nullptr;
  const bool gpu = key == "gres/gpu" || key.starts_with("gres/gpu:");
  const bool shard = key == "gres/shard" || key.starts_with("gres/shard:");
  if (!gpu && !shard && key != "cpu" && key != "node") return nullptr;
  const auto count = count_of(value);
  if (!count) return &kNoTres;
  if (key == "cpu") out.cpus = *count;
  if (key == "node" && *count > kMaxCount) return &kRange;
  if (key == "node") out.nodes = *count;
  if (gpu) return add_gpus(key.size() > 8 ? key.substr(9) : std::string_view{}, *count, out);
  return shard ? add_shards(key.size() > 10, *count, out) : nullptr;
}

// One of "gpu", "gpu:2", "gpu:a100", "gpu:a100:2(S:0-1)".
const Fault* read_gres(std::string_view item, SlurmResources& out) {
  item = item.substr(0, item.find('('));
  if (item.starts_with("gres:") || item.starts_with("gres/")) item.remove_prefix(5);
  const std::string_view name = take_until(item, ':');
  if (name != "gpu" && name != "shard") return nullptr;
  const std::size_t last = item.rfind(':');
  std::string_view number = last == std::string_view::npos ? item : item.substr(last + 1);
  std::string_view type =
      last == std::string_view::npos ? std::string_view{} : item.substr(0, last);
  auto count = count_of(number);
  if (!count && last == std::string_view::npos) {  // a lone type, or nothing: one
    type = number;
    count = 1;
  }
  if (!count) return &kNoGres;
  if (name == "gpu") return add_gpus(type, *count, out);
  return add_shards(!type.empty(), *count, out);
}

}  // namespace

std::optional<SlurmJobId> parse_slurm_job_id(std::string_view text) {
  SlurmJobId id;
  const std::size_t point = text.find('.');
  id.job = text.substr(0, point);
  if (point != std::string_view::npos) {
    if (point + 1 == text.size()) return std::nullopt;
    id.step = true;
  }
  const std::size_t end = std::min(id.job.find_first_of("_+"), id.job.size());
  id.group = id.job;
  if (!all_digits(id.job.substr(0, end))) return std::nullopt;
  if (end == id.job.size()) return id;
  const std::string_view rest = id.job.substr(end + 1);
  if (id.job[end] == '+') {
    id.component = true;
    id.group = id.job.substr(0, end);
    return all_digits(rest) ? std::optional(id) : std::nullopt;
  }
  id.waiting_array = rest.starts_with('[');
  return id.waiting_array || all_digits(rest) ? std::optional(id) : std::nullopt;
}

const Fault* parse_slurm_duration(std::string_view text, MaybeInt& out) {
  if (is_missing(text)) return nullptr;
  TimeUs days_us = 0;
  const std::size_t dash = text.find('-');
  const bool with_days = dash != std::string_view::npos;
  if (with_days) {
    const auto days = small_number(text.substr(0, dash));
    if (!days) return &kNoDuration;
    if (*days > 36'525) return &kDurationRange;
    days_us = *days * kUsPerDay;
    text.remove_prefix(dash + 1);
  }
  TimeUs us = 0;
  if (text.empty() || text.back() == ':' || !clock_us(text, with_days, us)) return &kNoDuration;
  return checked_duration(days_us + us, out);
}

const Fault* parse_slurm_limit(std::string_view text, MaybeInt& out) {
  if (text == "UNLIMITED" || text == "Partition_Limit" || text == "INVALID") return nullptr;
  if (all_digits(text)) {
    const auto minutes = small_number(text);
    return minutes ? checked_duration(*minutes * kUsPerMin, out) : &kDurationRange;
  }
  return parse_slurm_duration(text, out);
}

const Fault* parse_slurm_time(std::string_view text, MaybeInt& out) {
  if (text.size() > 8 && text.size() < 12 && all_digits(text)) {
    const TimeUs us = *parse_int(text) * kUsPerS;
    if (us < kFirstInstantUs || us >= kEndInstantUs) return &kTimeRange;
    out = us;
    return nullptr;
  }
  return parse_instant(text, out);
}

const Fault* parse_slurm_memory(std::string_view text, MaybeInt& out) {
  if (is_missing(text)) return nullptr;
  double factor = 1;
  if (text.ends_with('B')) text.remove_suffix(1);
  constexpr std::string_view kSuffixes = "KMGTP";
  const std::size_t suffix = text.empty() ? std::string_view::npos : kSuffixes.find(text.back());
  if (suffix != std::string_view::npos) {
    factor = std::pow(1024.0, static_cast<double>(suffix) - 1);
    text.remove_suffix(1);
  }
  const auto value = parse_number(text);
  if (!value || *value < 0) return &kNoMemory;
  if (*value * factor > static_cast<double>(kMaxCount)) return &kRange;
  out = std::llround(std::ceil(*value * factor));
  return nullptr;
}

std::int64_t SlurmResources::gpus() const {
  std::int64_t sum = 0;
  for (const Gpus& g : typed) sum += g.count;
  return std::max(sum, untyped_gpus.value_or(0));
}

std::int64_t SlurmResources::shards() const {
  return std::max(typed_shards.value_or(0), untyped_shards.value_or(0));
}

bool SlurmResources::only_mig_slices() const {
  return !typed.empty() &&
         std::ranges::all_of(typed, [](const Gpus& g) { return is_mig_profile(g.type); });
}

std::string SlurmResources::types() const {
  std::string out;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const bool again = std::any_of(typed.begin(), typed.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const Gpus& g) { return g.type == typed[i].type; });
    if (again || typed[i].count == 0) continue;
    if (!out.empty()) out += '|';
    out += typed[i].type;
  }
  return out;
}

void SlurmResources::clear() {
  cpus = memory_mib = nodes = untyped_shards = typed_shards = untyped_gpus = MaybeInt{};
  typed.clear();
}

const Fault* parse_slurm_tres(std::string_view text, SlurmResources& out) {
  out.clear();
  if (is_missing(text)) return nullptr;
  while (!text.empty()) {
    std::string_view item = take_until(text, ',');
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return &kNoTres;
    const Fault* fault = read_tres(item.substr(0, equals), item.substr(equals + 1), out);
    if (fault != nullptr) return fault;
  }
  return nullptr;
}

const Fault* parse_slurm_gres(std::string_view text, SlurmResources& out) {
  out.clear();
  if (is_missing(text) || text == "(null)") return nullptr;
  // Commas inside parentheses do not separate: "gpu:2(IDX:0,3)".
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const std::string_view item = trim(text.substr(begin, i - begin));
    begin = i + 1;
    const Fault* fault = item.empty() ? nullptr : read_gres(item, out);
    if (fault != nullptr) return fault;
  }
  return nullptr;
}

}  // namespace berth::trace
