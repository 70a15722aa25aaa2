// How the daemon, its launcher and the supervisors talk: packets on a pair of sockets, which may
// carry a descriptor. All three are the same program, so that the bytes need no versions; what is
// cut short is refused all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/fd.h"
#include "base/result.h"

namespace berth::local {

using Environment = std::vector<std::pair<std::string, std::string>>;

// What holds a task within its CPUs and memory (limits.h).
struct TaskLimits {
  std::uint32_t cpu_milli = 0;      // 0: no limit
  std::uint32_t memory_mib = 0;     // 0: no limit
  std::vector<std::uint32_t> cpus;  // pinned to these; empty: to none
  friend bool operator==(const TaskLimits&, const TaskLimits&) = default;
};

struct TaskRequest {
  std::uint32_t task = 0;
  Environment environment;  // further to the attempt's, or instead of what has the same name
  TaskLimits limits;
  friend bool operator==(const TaskRequest&, const TaskRequest&) = default;
};

// Folders of control groups that those of attempts are made in; "" where there is none.
struct GroupFolders {
  std::string unified;  // version 2
  std::string cpu;      // version 1
  std::string memory;   // version 1
  friend bool operator==(const GroupFolders&, const GroupFolders&) = default;
};

// All that a supervisor needs to know.
struct LaunchRequest {
  std::string key;
  std::string folder;
  Credentials user;
  std::vector<std::string> command;
  std::string directory;
  Environment environment;
  std::vector<TaskRequest> tasks;
  std::int32_t checkpoint_signal = 0;
  TimeUs grace_us = 0;
  TimeUs term_grace_us = 0;
  std::int64_t log_limit_bytes = 0;
  std::uint64_t open_files = 0;  // soft limit that the tasks get; 0: as it is
  GroupFolders groups;
  friend bool operator==(const LaunchRequest&, const LaunchRequest&) = default;
};

[[nodiscard]] std::string encode(const LaunchRequest& request);
[[nodiscard]] std::optional<LaunchRequest> decode_request(std::string_view bytes);

enum class ReportKind : std::uint8_t {
  kForked,   // of the launcher: `pid` is to supervise it; its pidfd comes with it
  kRefused,  // of launcher or supervisor: nothing ran or will (`why`)
  kRunning,  // of the supervisor: all tasks run
  kEnded,    // of the supervisor: its end is written down
};

struct Report {
  ReportKind kind = ReportKind::kRefused;
  std::string key;
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string why;
  friend bool operator==(const Report&, const Report&) = default;
};

[[nodiscard]] std::string encode(const Report& report);
[[nodiscard]] std::optional<Report> decode_report(std::string_view bytes);

inline constexpr std::size_t kMaxPacketBytes = 32 << 10;

enum class SendResult : std::uint8_t { kSent, kFull, kClosed };
// With kFull nothing was sent; try again later. Waits if `wait`.
[[nodiscard]] SendResult send_packet(int socket, std::string_view bytes, int fd, bool wait);

struct Packet {
  std::string bytes;
  Fd fd;
};
enum class ReceiveResult : std::uint8_t { kReceived, kEmpty, kClosed };
// `packet` keeps its room from one call to the next. Never waits.
[[nodiscard]] ReceiveResult receive_packet(int socket, Packet& packet);

// A request in a packet; a long one in a file in memory whose descriptor travels with its key.
[[nodiscard]] SendResult send_request(int socket, const std::string& key, std::string_view encoded);
[[nodiscard]] std::optional<LaunchRequest> request_of(const Packet& packet);
// Of a packet with a request: without reading the rest.
[[nodiscard]] std::string request_key(const Packet& packet);

}  // namespace berth::local
