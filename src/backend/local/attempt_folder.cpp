#include "backend/local/attempt_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/number.h"
#include "base/text.h"

namespace berth::local {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxKeyBytes = 64;
constexpr std::string_view kClaimHead = "berth-claim";
constexpr std::string_view kNobody = "nobody";
constexpr std::array<std::string_view, 4> kEndKinds = {"exited", "stopped", "not-started", "lost"};

Error system_error(const std::string& file, const char* what) {
  return io_error(file, fmt::format("{}: {}", what, std::strerror(errno)));
}

std::optional<ProcessId> parse_process(const std::vector<std::string_view>& fields) {
  constexpr std::size_t kFields = 5;
  if (fields.size() != kFields) return std::nullopt;
  const auto pid = parse_int(fields[2]);
  const auto ticks = parse_int(fields[3]);
  if (!pid || !ticks || *pid <= 0 || *ticks < 0) return std::nullopt;
  return ProcessId{.pid = static_cast<std::int32_t>(*pid),
                   .start_ticks = static_cast<std::uint64_t>(*ticks),
                   .boot_id = std::string(fields[4])};
}

std::optional<TaskProcess> parse_task(std::string_view line) {
  constexpr std::size_t kFields = 5;
  const auto fields = split(line, ' ');
  if (fields.size() != kFields || fields[0] != "task") return std::nullopt;
  const auto task = parse_int(fields[1]);
  const auto pid = parse_int(fields[2]);
  const auto ticks = parse_int(fields[3]);
  if (!task || !pid || !ticks || *task < 0 || *pid <= 0 || *ticks < 0) return std::nullopt;
  TaskProcess out{.task = static_cast<std::uint32_t>(*task),
                  .pid = static_cast<pid_t>(*pid),
                  .start_ticks = static_cast<std::uint64_t>(*ticks)};
  for (const std::string_view text : split(fields[4], ',')) {
    const auto cpu = parse_int(text);
    if (cpu && *cpu >= 0) out.cpus.push_back(static_cast<std::uint32_t>(*cpu));
  }
  return out;
}

Json task_json(const TaskEnd& task) {
  return {{"task", task.task},
          {"exit_code", task.exit_code},
          {"signal", task.signal},
          {"out_of_memory", task.out_of_memory},
          {"max_rss_bytes", task.max_rss_bytes},
          {"cpu_us", task.cpu_us}};
}

TaskEnd task_from(const Json& json) {
  return {.task = json.at("task").get<std::uint32_t>(),
          .exit_code = json.at("exit_code").get<int>(),
          .signal = json.at("signal").get<int>(),
          .out_of_memory = json.at("out_of_memory").get<bool>(),
          .max_rss_bytes = json.at("max_rss_bytes").get<std::int64_t>(),
          .cpu_us = json.at("cpu_us").get<TimeUs>()};
}

}  // namespace

bool is_attempt_key(std::string_view key) {
  const auto good = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-';
  };
  return !key.empty() && key.size() <= kMaxKeyBytes && key[0] != '.' &&
         std::all_of(key.begin(), key.end(), good);
}

std::string claim_text(const std::optional<ProcessId>& supervisor) {
  if (!supervisor) return fmt::format("{} {}\n", kClaimHead, kNobody);
  return fmt::format("{} supervisor {} {} {}\n", kClaimHead, supervisor->pid,
                     supervisor->start_ticks, supervisor->boot_id);
}

std::string claim_task_line(const TaskProcess& task) {
  return fmt::format("task {} {} {} {}\n", task.task, task.pid, task.start_ticks,
                     task.cpus.empty() ? "-" : fmt::format("{}", fmt::join(task.cpus, ",")));
}

std::optional<Claim> parse_claim(std::string_view text) {
  auto lines = split(text, '\n');
  lines.pop_back();  // what follows the last end of line: nothing, or cut short
  if (lines.empty()) return std::nullopt;
  const auto head = split(lines[0], ' ');
  if (head.size() < 2 || head[0] != kClaimHead) return std::nullopt;
  Claim claim;
  if (head[1] != kNobody) {
    claim.supervisor = parse_process(head);
    if (!claim.supervisor) return std::nullopt;
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (auto task = parse_task(lines[i])) claim.tasks.push_back(*std::move(task));
  }
  return claim;
}

Status make_folder(const std::string& folder) {
  constexpr mode_t kGoThrough = 0711;
  if (::mkdir(folder.c_str(), kGoThrough) == 0) {
    // Whatever the mask is: tasks reach their own files through it.
    if (::chmod(folder.c_str(), kGoThrough) != 0) return fail(system_error(folder, "cannot make"));
    return {};
  }
  if (errno == EEXIST) return {};
  return fail(system_error(folder, "cannot make the folder"));
}

Result<Fd> make_claim(const std::string& folder, const std::optional<ProcessId>& supervisor) {
  const std::string name = folder + "/" + kClaimFile;
  const std::string beside = fmt::format("{}.{}", name, ::getpid());
  (void)::unlink(beside.c_str());  // of a process of this number that was killed just here
  Fd fd(::open(beside.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
  if (!fd) return fail(system_error(name, "cannot write"));
  if (!write_whole(fd.get(), claim_text(supervisor))) {
    Error error = system_error(name, "cannot write");
    (void)::unlink(beside.c_str());
    return fail(std::move(error));
  }
  const bool mine = ::link(beside.c_str(), name.c_str()) == 0;
  const int why = errno;
  (void)::unlink(beside.c_str());
  if (mine) return fd;
  if (why == EEXIST) return Fd();
  errno = why;
  return fail(system_error(name, "cannot write"));
}

std::string end_text(const AttemptEnd& end) {
  Json tasks = Json::array();
  for (const TaskEnd& task : end.tasks) tasks.push_back(task_json(task));
  const Json json = {{"kind", kEndKinds.at(static_cast<std::size_t>(end.kind))},
                     {"own_fault", end.own_fault},
                     {"why", end.why},
                     {"tasks", std::move(tasks)},
                     {"started_unix_us", end.started_unix_us},
                     {"ended_unix_us", end.ended_unix_us}};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

Result<AttemptEnd> parse_end(std::string_view text, const std::string& file) {
  try {
    const Json json = Json::parse(text);
    const auto kind = json.at("kind").get<std::string>();
    const auto* const found = std::find(kEndKinds.begin(), kEndKinds.end(), kind);
    if (found == kEndKinds.end()) {
      return fail(bad_input(file, 0, "kind", "not a way to end", kind));
    }
    AttemptEnd end;
    end.kind = static_cast<AttemptEndKind>(found - kEndKinds.begin());
    end.own_fault = json.at("own_fault").get<bool>();
    end.why = json.at("why").get<std::string>();
    end.started_unix_us = json.at("started_unix_us").get<TimeUs>();
    end.ended_unix_us = json.at("ended_unix_us").get<TimeUs>();
    for (const Json& task : json.at("tasks")) end.tasks.push_back(task_from(task));
    return end;
  } catch (const Json::exception& error) {
    return fail(bad_input(file, 0, {}, fmt::format("damaged: {}", error.what())));
  }
}

Result<EndFile> EndFile::reserve(const std::string& folder, std::size_t tasks) {
  constexpr off_t kBytes = 1024;
  constexpr off_t kBytesPerTask = 256;
  EndFile file;
  file.folder_ = folder;
  file.tasks_ = tasks;
  // Not yet anybody's who has the claim: others may be here at the same time.
  file.beside_ = fmt::format("{}/{}.{}", folder, kEndFile, ::getpid());
  file.fd_.reset(::open(file.beside_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  if (!file.fd_) return fail(system_error(file.beside_, "cannot write"));
  const int error =
      ::posix_fallocate(file.fd_.get(), 0, kBytes + kBytesPerTask * static_cast<off_t>(tasks));
  if (error != 0) {
    errno = error;
    Error told = system_error(file.beside_, "cannot write");
    file.discard();
    return fail(std::move(told));
  }
  return file;
}

Status EndFile::write(const AttemptEnd& end) {
  const std::string to = folder_ + "/" + kEndFile;
  if (!fd_ || ::access(beside_.c_str(), F_OK) != 0) {
    BERTH_CHECK_OK(make_folder(folder_));
    const std::string folder = folder_;
    BERTH_TRY(*this, reserve(folder, tasks_));
  }
  const std::string text = end_text(end);
  if (::lseek(fd_.get(), 0, SEEK_SET) != 0 || !write_whole(fd_.get(), text) ||
      ::ftruncate(fd_.get(), static_cast<off_t>(text.size())) != 0 ||
      ::rename(beside_.c_str(), to.c_str()) != 0) {
    return fail(system_error(to, "cannot write"));
  }
  return {};
}

void EndFile::discard() {
  fd_.reset();
  (void)::unlink(beside_.c_str());
}

}  // namespace berth::local
