#include "backend/local/wire.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace berth::local {
namespace {

// Both directions of one description: describe() below names the parts of a thing once.
class Writer {
 public:
  void number(std::uint64_t value) {
    std::array<char, sizeof(value)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(value));
    out_.append(bytes.data(), bytes.size());
  }
  template <class T>
  void integer(const T& value) {
    number(static_cast<std::uint64_t>(value));
  }
  void text(const std::string& value) {
    number(value.size());
    out_ += value;
  }
  template <class T, class Each>
  void list(const std::vector<T>& values, const Each& each) {
    number(values.size());
    for (const T& value : values) each(value);
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    if (bytes_.size() < sizeof(value)) {
      good_ = false;
      bytes_ = {};
      return 0;
    }
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_.remove_prefix(sizeof(value));
    return value;
  }
  template <class T>
  void integer(T& value) {
    value = static_cast<T>(number());
  }
  void text(std::string& value) {
    const std::uint64_t size = number();
    if (size > bytes_.size()) {
      good_ = false;
      bytes_ = {};
      return;
    }
    value = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  template <class T, class Each>
  void list(std::vector<T>& values, const Each& each) {
    const std::uint64_t size = number();
    for (std::uint64_t i = 0; i < size && good_; ++i) each(values.emplace_back());
  }
  [[nodiscard]] bool all_read() const { return good_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

template <class Archive, class Variables>
void describe_environment(Archive& archive, Variables& environment) {
  archive.list(environment, [&](auto& variable) {
    archive.text(variable.first);
    archive.text(variable.second);
  });
}

template <class Archive, class Task>
void describe_task(Archive& archive, Task& task) {
  archive.integer(task.task);
  describe_environment(archive, task.environment);
  archive.integer(task.limits.cpu_milli);
  archive.integer(task.limits.memory_mib);
  archive.list(task.limits.cpus, [&](auto& cpu) { archive.integer(cpu); });
}

template <class Archive, class Request>
void describe_request(Archive& archive, Request& request) {
  archive.text(request.key);
  archive.text(request.folder);
  archive.integer(request.user.uid);
  archive.integer(request.user.gid);
  archive.list(request.command, [&](auto& argument) { archive.text(argument); });
  archive.text(request.directory);
  describe_environment(archive, request.environment);
  archive.list(request.tasks, [&](auto& task) { describe_task(archive, task); });
  archive.integer(request.checkpoint_signal);
  archive.integer(request.grace_us);
  archive.integer(request.term_grace_us);
  archive.integer(request.log_limit_bytes);
  archive.integer(request.open_files);
  archive.text(request.groups.unified);
  archive.text(request.groups.cpu);
  archive.text(request.groups.memory);
}

template <class Archive, class Told>
void describe_report(Archive& archive, Told& report) {
  archive.integer(report.kind);
  archive.text(report.key);
  archive.integer(report.pid);
  archive.integer(report.start_ticks);
  archive.text(report.why);
}

// Room for one descriptor beside the bytes, aligned as the kernel wants it.
union Control {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

void wait_for(int socket, short events) {
  pollfd one{.fd = socket, .events = events, .revents = 0};
  (void)::poll(&one, 1, -1);
}

}  // namespace

std::string encode(const LaunchRequest& request) {
  Writer writer;
  describe_request(writer, request);
  return writer.take();
}

std::optional<LaunchRequest> decode_request(std::string_view bytes) {
  Reader reader(bytes);
  LaunchRequest request;
  describe_request(reader, request);
  if (!reader.all_read()) return std::nullopt;
  return request;
}

std::string encode(const Report& report) {
  Writer writer;
  describe_report(writer, report);
  return writer.take();
}

std::optional<Report> decode_report(std::string_view bytes) {
  Reader reader(bytes);
  Report report;
  describe_report(reader, report);
  if (!reader.all_read() || report.kind > ReportKind::kEnded) return std::nullopt;
  return report;
}

SendResult send_packet(int socket, std::string_view bytes, int fd, bool wait) {
  // sendmsg() takes what it only reads as not const.
  iovec part{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  Control control{};
  if (fd >= 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof(int));
  }
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return SendResult::kSent;
    if (errno == EINTR) continue;
    // ETOOMANYREFS: too many descriptors are on their way.
    const bool full = errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS;
    if (!full) return SendResult::kClosed;
    if (!wait) return SendResult::kFull;
    if (errno == EAGAIN) {
      wait_for(socket, POLLOUT);
    } else {
      constexpr int kPauseMs = 5;
      (void)::poll(nullptr, 0, kPauseMs);
    }
  }
}

ReceiveResult receive_packet(int socket, Packet& packet) {
  packet.fd.reset();
  packet.bytes.resize(kMaxPacketBytes);
  iovec part{.iov_base = packet.bytes.data(), .iov_len = packet.bytes.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t got = -1;
  do {
    got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return ReceiveResult::kEmpty;
  if (got <= 0) return ReceiveResult::kClosed;
  packet.bytes.resize(static_cast<std::size_t>(got));
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(int));
    packet.fd.reset(fd);
  }
  return ReceiveResult::kReceived;
}

SendResult send_request(int socket, const std::string& key, std::string_view encoded) {
  if (encoded.size() <= kMaxPacketBytes) return send_packet(socket, encoded, -1, false);
  const Fd memory(::memfd_create("berth-request", MFD_CLOEXEC));
  if (!memory || !write_whole(memory.get(), encoded)) return SendResult::kFull;
  Writer head;
  head.text(key);
  return send_packet(socket, head.take(), memory.get(), false);
}

std::optional<LaunchRequest> request_of(const Packet& packet) {
  if (!packet.fd) return decode_request(packet.bytes);
  if (::lseek(packet.fd.get(), 0, SEEK_SET) != 0) return std::nullopt;
  const auto bytes = read_whole(packet.fd.get(), std::numeric_limits<std::size_t>::max());
  return bytes ? decode_request(*bytes) : std::nullopt;
}

std::string request_key(const Packet& packet) {
  Reader reader(packet.bytes);
  std::string key;
  reader.text(key);
  return key;
}

}  // namespace berth::local
