#include "server/streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/fd.h"
#include "base/file.h"

namespace berth {
namespace {

class EventStream final : public HttpStream {
 public:
  EventStream(const EventRing& ring, std::uint64_t sequence)
      // Of another run of the scheduler: from the first that is there.
      : ring_(ring), next_after_(sequence > ring.last() ? 0 : sequence) {}

  bool read(std::string& out, std::size_t max_bytes) override {
    // A comment first, so that the client sees that it is connected.
    if (std::exchange(greet_, false)) out += ": events of this scheduler\n\n";
    const std::size_t from = out.size();
    while (out.size() - from < max_bytes) {
      const LiveEvent* event = ring_.after(next_after_);
      if (event == nullptr) break;
      nlohmann::ordered_json json = {{"event", event->kind},
                                     {"unix_s", static_cast<double>(event->unix_us) / 1e6},
                                     {"job", nullptr},
                                     {"attempt", nullptr},
                                     {"detail", event->detail}};
      if (event->job > 0) json["job"] = event->job;
      if (event->attempt > 0) json["attempt"] = event->attempt;
      out +=
          fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event->sequence, event->kind,
                      json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
      next_after_ = event->sequence;
    }
    return true;
  }

 private:
  const EventRing& ring_;
  std::uint64_t next_after_;
  bool greet_ = true;
};

// A plain file and nothing else: the folder may be a job's own.
Fd open_plain(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    const int why = fd ? EINVAL : errno;
    fd = Fd();
    errno = why;
    return fd;
  }
  return fd;
}

std::int64_t size_of(const Fd& fd) {
  struct stat info {};
  return fstat(fd.get(), &info) == 0 ? info.st_size : 0;
}

// The older part, then the newer one, then whatever comes; a file that is put aside while it is
// read is read to its end first.
class LogStream final : public HttpStream {
 public:
  LogStream(LogPart part, std::vector<Fd> files)
      : part_(std::move(part)), files_(std::move(files)) {
    if (part_.tail_bytes < 0) return;
    std::int64_t skip = -part_.tail_bytes;
    for (const Fd& file : files_) skip += size_of(file);
    while (files_.size() > 1 && skip >= size_of(files_.front())) {
      skip -= size_of(files_.front());
      files_.erase(files_.begin());
    }
    offset_ = std::max<std::int64_t>(0, skip);
  }

  bool read(std::string& out, std::size_t max_bytes) override {
    // Asked before the last look, so that nothing is missed between.
    const bool grows = part_.grows && part_.grows();
    std::size_t left = max_bytes;
    while (left > 0) {
      if (files_.empty() && !has_appeared()) return grows;
      const std::size_t got = read_some(out, left);
      if (got > 0) {
        left -= got;
        continue;
      }
      if (files_.size() > 1) {
        files_.erase(files_.begin());
        offset_ = 0;
        continue;
      }
      if (grows && was_put_aside()) continue;
      return grows;
    }
    return true;
  }

 private:
  std::size_t read_some(std::string& out, std::size_t most) {
    const std::size_t from = out.size();
    out.resize(from + most);
    const ssize_t got = pread(files_.front().get(), out.data() + from, most, offset_);
    out.resize(from + static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    offset_ += std::max<ssize_t>(0, got);
    return out.size() - from;
  }

  // A log is there from the first byte that is printed.
  bool has_appeared() {
    Fd file = open_plain(part_.path);
    if (!file) return false;
    files_.push_back(std::move(file));
    return true;
  }

  // The name stands for a new file: that one is next.
  bool was_put_aside() {
    struct stat mine {};
    struct stat named {};
    if (fstat(files_.front().get(), &mine) != 0 || lstat(part_.path.c_str(), &named) != 0 ||
        (mine.st_dev == named.st_dev && mine.st_ino == named.st_ino)) {
      return false;
    }
    return has_appeared();
  }

  LogPart part_;
  std::vector<Fd> files_;    // none: nothing has been printed yet
  std::int64_t offset_ = 0;  // in the first
};

}  // namespace

std::unique_ptr<HttpStream> event_stream(const EventRing& ring, std::uint64_t sequence) {
  return std::make_unique<EventStream>(ring, sequence);
}

Result<std::unique_ptr<HttpStream>> log_stream(const LogPart& part) {
  std::vector<Fd> files;
  if (Fd older = open_plain(part.path + ".1"); older) files.push_back(std::move(older));
  Fd newer = open_plain(part.path);
  if (!newer && errno != ENOENT) return fail(open_error(part.path, errno));
  if (newer) files.push_back(std::move(newer));
  return std::make_unique<LogStream>(part, std::move(files));
}

}  // namespace berth
