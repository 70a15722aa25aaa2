#include "jobspec/job_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/datetime.h"
#include "base/number.h"
#include "base/text.h"
#include "jobspec/job_file.h"
#include "jobspec/job_words.h"
#include "jobspec/limits.h"
#include "jobspec/units.h"

namespace berth {
namespace {

using document::Decimal;
using document::Kind;
using document::Node;
namespace limits = job_limits;

constexpr std::int64_t kMilli = 1'000;
constexpr std::int64_t kLeastPriority = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kMostPriority = std::numeric_limits<std::int32_t>::max();

// An instant means the same everywhere only with its zone.
bool has_zone(std::string_view text) {
  constexpr std::size_t kDateLength = 10;
  return text.size() > kDateLength &&
         text.find_first_of("Zz+-UG", kDateLength) != std::string_view::npos;
}

// The value that an error's field names ("env.PATH", "command[2]"), or the nearest around it.
const Node& place_of(const Node& root, std::string_view field) {
  const Node* at = &root;
  while (!field.empty()) {
    const Node* next = nullptr;
    if (at->kind == Kind::kList && field.front() == '[') {
      const std::size_t end = field.find(']');
      const auto index = parse_int(field.substr(1, end - 1));
      if (!index || *index < 0 || static_cast<std::size_t>(*index) >= at->children.size()) break;
      next = &at->children[static_cast<std::size_t>(*index)];
      field.remove_prefix(std::min(field.size(), end + 1));
    } else {
      if (field.front() == '.') field.remove_prefix(1);
      next = at->find(field);  // names of variables may hold points
      const std::size_t end = next != nullptr ? field.size() : field.find_first_of(".[");
      if (next == nullptr) next = at->find(field.substr(0, end));
      if (next == nullptr) break;
      field.remove_prefix(std::min(field.size(), end));
    }
    at = next;
  }
  return *at;
}

std::string base_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

struct JobReader::Key {
  std::string_view name;
  Status (*read)(JobReader&, const Node&);
};

const std::vector<JobReader::Key>& JobReader::keys() {
  using R = JobReader;
  using N = Node;
  static const std::vector<Key> keys = {
      {"name", [](R& r, const N& n) { return r.text(n, "name", r.job_.name); }},
      {"command", [](R& r, const N& n) { return r.command(n); }},
      {"directory", [](R& r, const N& n) { return r.directory(n); }},
      {"env", [](R& r, const N& n) { return r.environment(n); }},
      {"replicas",
       [](R& r, const N& n) {
         return r.whole(n, "replicas", 1, kMaxTasksPerJob, r.job_.replicas);
       }},
      {"partitions",
       [](R& r, const N& n) {
         return r.whole(n, "partitions", 1, kMaxTasksPerJob, r.job_.partitions);
       }},
      {"parameter_server",
       [](R& r, const N& n) { return r.truth(n, "parameter_server", r.job_.parameter_server); }},
      {"elastic", [](R& r, const N& n) { return r.truth(n, "elastic", r.job_.elastic); }},
      {"graph", [](R& r, const N& n) { return r.graph(n); }},
      {"gpus", [](R& r, const N& n) { return r.gpus(n); }},
      {"gpu_memory",
       [](R& r, const N& n) { return r.mib(n, "gpu_memory", r.job_.gpu_memory_mib); }},
      {"gpu_type", [](R& r, const N& n) { return r.gpu_types(n); }},
      {"cpus",
       [](R& r, const N& n) -> Status {
         BERTH_TRY(const std::int64_t milli, r.number(n, "cpus", kMilli, 1, limits::kMostCpuMilli));
         r.job_.cpu_milli = static_cast<std::uint32_t>(milli);
         return {};
       }},
      {"memory", [](R& r, const N& n) { return r.mib(n, "memory", r.job_.memory_mib); }},
      {"model", [](R& r, const N& n) { return r.text(n, "model", r.job_.model); }},
      {"virtual_cluster",
       [](R& r, const N& n) { return r.text(n, "virtual_cluster", r.job_.virtual_cluster); }},
      {"priority",
       [](R& r, const N& n) {
         return r.whole(n, "priority", kLeastPriority, kMostPriority, r.job_.priority);
       }},
      {"urgency",
       [](R& r, const N& n) {
         return r.whole(n, "urgency", 1, limits::kMostUrgent, r.job_.urgency);
       }},
      {"deadline", [](R& r, const N& n) { return r.deadline(n); }},
      {"time_limit",
       [](R& r, const N& n) { return r.span(n, "time_limit", 1, r.job_.time_limit_us.emplace()); }},
      {"iterations",
       [](R& r, const N& n) {
         return r.whole(n, "iterations", 1, limits::kMostIterations,
                        r.job_.max_iterations.emplace());
       }},
      {"accuracy",
       [](R& r, const N& n) { return r.share(n, "accuracy", r.job_.required_accuracy_ppm); }},
      {"stop", [](R& r, const N& n) { return r.stop_option(n, "stop", r.job_.stop); }},
      {"stop_at_worst",
       [](R& r, const N& n) { return r.stop_option(n, "stop_at_worst", r.job_.stop_at_worst); }},
      {"interference_tolerance",
       [](R& r, const N& n) {
         return r.share(n, "interference_tolerance", r.job_.interference_tolerance_ppm);
       }},
      {"checkpoint",
       [](R& r, const N& n) { return r.read_map(n, "checkpoint", checkpoint_keys()); }},
      {"restarts",
       [](R& r, const N& n) {
         return r.whole(n, "restarts", 0, limits::kMostRestarts, r.job_.restarts);
       }},
      {"tensorboard",
       [](R& r, const N& n) { return r.text(n, "tensorboard", r.job_.tensorboard); }},
      {"log_limit",
       [](R& r, const N& n) -> Status {
         const auto bytes = n.scalar() ? parse_size_bytes(n.text) : std::nullopt;
         if (!bytes) return r.wrong(n, "log_limit", kSizeExample);
         r.job_.log_limit_bytes = *bytes;
         return {};
       }},
  };
  return keys;
}

const std::vector<JobReader::Key>& JobReader::checkpoint_keys() {
  using R = JobReader;
  using N = Node;
  static const std::vector<Key> keys = {
      {"signal", [](R& r, const N& n) { return r.signal(n); }},
      {"grace",
       [](R& r, const N& n) {
         return r.span(n, "checkpoint.grace", 0, r.job_.checkpoint.grace_us);
       }},
      {"term_grace",
       [](R& r, const N& n) {
         return r.span(n, "checkpoint.term_grace", 0, r.job_.checkpoint.term_grace_us);
       }},
  };
  return keys;
}

Status JobReader::read_map(const Node& map, std::string_view field, const std::vector<Key>& keys) {
  std::vector<std::string_view> names;
  for (const Key& key : keys) names.push_back(key.name);
  BERTH_CHECK_OK(fields_.known_keys(map, field, names));
  for (const Node& entry : map.children) {
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == entry.key; });
    BERTH_CHECK_OK(key->read(*this, entry));
  }
  return {};
}

Result<JobSpec> JobReader::read(const Node& root) {
  if (root.kind != Kind::kMap) {
    return wrong(root, "", "a job: a map with the key 'command'");
  }
  job_ = JobSpec();
  job_.directory = *directory_;
  BERTH_CHECK_OK(read_map(root, "", keys()));
  if (root.find("name") == nullptr && !job_.command.empty()) {
    job_.name = base_name(job_.command.front());
  }
  if (root.find("stop_at_worst") == nullptr) job_.stop_at_worst = job_.stop;
  if (auto right = check_job(job_); !right) {
    Error error = std::move(right).error();
    error.file = std::string(fields_.file());
    error.line = place_of(root, error.field).line;
    return fail(std::move(error));
  }
  return std::move(job_);
}

Status JobReader::text(const Node& node, std::string_view field, std::string& out) const {
  const bool plain = node.kind == Kind::kPlain && syntax_ == Syntax::kYaml;
  if (node.kind != Kind::kQuoted && !plain) return wrong(node, field, "text");
  out = node.text;
  return {};
}

Status JobReader::truth(const Node& node, std::string_view field, bool& out) const {
  if (node.kind != Kind::kPlain || (node.text != "true" && node.text != "false")) {
    return wrong(node, field, "true or false");
  }
  out = node.text == "true";
  return {};
}

std::optional<Decimal> JobReader::decimal(const Node& node) const {
  if (node.kind != Kind::kPlain) return std::nullopt;
  if (syntax_ == Syntax::kYaml || node.text.find_first_of(".eE") == std::string::npos) {
    return document::parse_decimal(node.text);
  }
  // Programs write the binary number next to what they mean: 0.30000000000000004, 1e-06.
  const auto value = parse_number(node.text);
  if (!value || std::abs(*value) >= 1e15) return std::nullopt;
  std::string written = fmt::format("{:.9f}", *value);
  while (written.back() == '0') written.pop_back();
  if (written.back() == '.') written.pop_back();
  return document::parse_decimal(written);
}

Result<std::int64_t> JobReader::number(const Node& node, std::string_view field,
                                       std::int64_t factor, std::int64_t low,
                                       std::int64_t high) const {
  const auto written = decimal(node);
  const auto value = written ? document::scaled(*written, factor) : std::nullopt;
  if (value && *value >= low && *value <= high) return *value;
  if (factor == 1) {
    return wrong(node, field,
                 fmt::format("a whole number from {} to {}, as in {}", low, high,
                             std::clamp<std::int64_t>(10, low, high)));
  }
  return wrong(node, field,
               fmt::format("a number from {} to {} with at most three decimals",
                           static_cast<double>(low) / static_cast<double>(factor),
                           static_cast<double>(high) / static_cast<double>(factor)));
}

Status JobReader::share(const Node& node, std::string_view field, std::int32_t& out) const {
  const auto written = decimal(node);
  const auto ppm = written ? document::scaled_nearest(*written, limits::kPpm) : std::nullopt;
  if (!ppm || *ppm < 0 || *ppm > limits::kPpm) {
    return wrong(node, field, "a number from 0 to 1, as in 0.92");
  }
  out = static_cast<std::int32_t>(*ppm);
  return {};
}

Status JobReader::span(const Node& node, std::string_view field, TimeUs least, TimeUs& out) const {
  const auto us = node.scalar() ? parse_span_us(node.text) : std::nullopt;
  if (!us || *us < least) return wrong(node, field, kSpanExample);
  out = *us;
  return {};
}

Status JobReader::mib(const Node& node, std::string_view field, std::uint32_t& out) const {
  constexpr std::int64_t kMib = std::int64_t{1} << 20U;
  const auto bytes = node.scalar() ? parse_size_bytes(node.text) : std::nullopt;
  if (!bytes || *bytes < kMib || *bytes % kMib != 0 || *bytes / kMib > limits::kMostMemoryMib) {
    return wrong(node, field, fmt::format("{}; a whole number of MiB", kSizeExample));
  }
  out = static_cast<std::uint32_t>(*bytes / kMib);
  return {};
}

Status JobReader::stop_option(const Node& node, std::string_view field, StopOption& out) const {
  const auto it = std::find(kStopWords.begin(), kStopWords.end(), node.text);
  if (!node.scalar() || it == kStopWords.end()) {
    return wrong(node, field, fmt::format("{}", fmt::join(kStopWords, ", ")));
  }
  out = static_cast<StopOption>(it - kStopWords.begin());
  return {};
}

Status JobReader::command(const Node& node) {
  if (node.kind != Kind::kList) {
    return wrong(node, "command", "a list of words, as in [python3, train.py]; no shell reads it");
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    BERTH_CHECK_OK(
        text(node.children[i], fmt::format("command[{}]", i), job_.command.emplace_back()));
  }
  return {};
}

Status JobReader::directory(const Node& node) {
  std::string written;
  BERTH_CHECK_OK(text(node, "directory", written));
  if (written.empty()) return wrong(node, "directory", "a folder");
  const bool relative = written.front() != '/';
  if (!relative || directory_->empty()) {
    job_.directory = std::move(written);
  } else if (written != ".") {
    job_.directory = *directory_ + (directory_->ends_with('/') ? "" : "/") + written;
  }
  return {};
}

Status JobReader::environment(const Node& node) {
  if (node.kind != Kind::kMap) return wrong(node, "env", "a map of names and texts");
  for (const Node& entry : node.children) {
    auto& [name, value] = job_.environment.emplace_back();
    name = entry.key;
    BERTH_CHECK_OK(text(entry, "env." + entry.key, value));
  }
  return {};
}

Status JobReader::graph(const Node& node) {
  constexpr const char* kExpected = "a list of pairs of partitions, as in [[0, 1], [0, 2]]";
  if (node.kind != Kind::kList) return wrong(node, "graph", kExpected);
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Node& pair = node.children[i];
    const std::string field = fmt::format("graph[{}]", i);
    if (pair.kind != Kind::kList || pair.children.size() != 2) {
      return wrong(pair, field, kExpected);
    }
    auto& [from, to] = job_.graph.emplace_back();
    BERTH_CHECK_OK(whole(pair.children[0], field, 0, kMaxTasksPerJob, from));
    BERTH_CHECK_OK(whole(pair.children[1], field, 0, kMaxTasksPerJob, to));
  }
  return {};
}

Status JobReader::gpus(const Node& node) {
  const auto written = decimal(node);
  const auto milli = written ? document::scaled(*written, kMilli) : std::nullopt;
  const bool right = milli && *milli >= 0 && *milli <= limits::kMostGpus * kMilli &&
                     (*milli < kMilli || *milli % kMilli == 0);
  if (!right) {
    return wrong(node, "gpus",
                 fmt::format("a whole number from 0 to {}, or a share of one GPU such as 0.5",
                             limits::kMostGpus));
  }
  job_.gpu_milli = static_cast<std::uint32_t>(*milli);
  return {};
}

Status JobReader::gpu_types(const Node& node) {
  if (node.kind != Kind::kList) return text(node, "gpu_type", job_.gpu_types.emplace_back());
  if (node.children.empty()) return wrong(node, "gpu_type", "at least one type");
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    BERTH_CHECK_OK(
        text(node.children[i], fmt::format("gpu_type[{}]", i), job_.gpu_types.emplace_back()));
  }
  return {};
}

Status JobReader::deadline(const Node& node) {
  const auto after = node.scalar() ? parse_span_us(node.text) : std::nullopt;
  if (after && *after > 0) {
    job_.deadline_after_us = *after;
    return {};
  }
  const auto instant = node.scalar() ? parse_datetime(node.text) : std::nullopt;
  if (!instant || !has_zone(node.text)) {
    return wrong(node, "deadline",
                 "an instant with its zone, as in 2026-12-01T08:00:00+01:00, or the time from the "
                 "submission, as in 2h, 90min or 30s");
  }
  job_.deadline_unix_us = *instant;
  return {};
}

Status JobReader::signal(const Node& node) {
  std::string_view word = node.text;
  if (word.starts_with("SIG")) word.remove_prefix(3);
  if (!node.scalar() ||
      std::find(kSignalWords.begin(), kSignalWords.end(), word) == kSignalWords.end()) {
    return wrong(node, "checkpoint.signal", fmt::format("{}", fmt::join(kSignalWords, ", ")));
  }
  job_.checkpoint.signal = word;
  return {};
}

}  // namespace berth
