#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_identity.h"
#include "telemetry/event_file.h"
#include "telemetry/progress_line.h"
#include "telemetry/progress_log.h"
#include "telemetry/scalar_name.h"
#include "telemetry/untrusted_file.h"

namespace berth {
namespace {

using telemetry::Event;
using telemetry::Record;
using telemetry::RecordKind;
using telemetry::ScalarKind;

constexpr std::size_t kChunkBytes = std::size_t{64} << 10U;
constexpr int kMostFolders = 4;              // one within the other
constexpr std::size_t kMostEntries = 2'000;  // looked at in a poll
constexpr std::size_t kMostFiles = 1'000;
constexpr std::uint32_t kFirstWriter = 1U << 16U;

// Where reading of one file stands. Nothing else is kept of it.
struct EventFile {
  std::uint32_t writer = 0;
  bool validation = false;
  FileIdentity identity;
  std::int64_t size = 0;    // when it was last looked at
  std::int64_t offset = 0;  // of the first record that was not read
  bool stopped = false;     // what follows cannot be found
};

// The tag that is taken for the loss, or the accuracy.
struct Chosen {
  int rank = 0;
  std::string tag;
  bool any = false;

  // True where this one is meant, the better one from now on.
  bool accept(int new_rank, std::string_view new_tag) {
    if (!any || std::pair<int, std::string_view>(new_rank, new_tag) <
                    std::pair<int, std::string_view>(rank, tag)) {
      rank = new_rank;
      tag = new_tag;
      any = true;
    }
    return rank == new_rank && tag == new_tag;
  }
};

class Tensorboard final : public ProgressSource {
 public:
  Tensorboard(std::string folder, std::optional<std::uint32_t> owner)
      : folder_(std::move(folder)), owner_(owner) {}

  bool poll(std::vector<ProgressPoint>& out, std::size_t max_bytes) override {
    look_for_files();
    std::size_t left = max_bytes;
    // Begins behind the file that used up the last poll, so that none keeps the others waiting.
    auto it = files_.upper_bound(last_read_);
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (it == files_.end()) it = files_.begin();
      auto& [name, file] = *it++;
      if (file.stopped || file.size == file.offset) continue;
      if (!read_file(name, file, left, out)) {
        last_read_ = name;
        return true;
      }
    }
    return false;
  }

  const ProgressIssues& issues() const override { return issues_; }

 private:
  void look_for_files() {
    entries_ = 0;
    look_into(Fd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)), "",
              false, 1);
  }

  void look_into(Fd folder, const std::string& prefix, bool validation, int depth) {
    if (!folder) return;
    std::vector<std::string> folders;
    const auto names = names_in(folder);
    for (const std::string& name : names) {
      struct stat status {};
      if (::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (S_ISDIR(status.st_mode)) {
        folders.push_back(name);
      } else if (S_ISREG(status.st_mode) && name.find("tfevents") != std::string::npos) {
        see_file(prefix + name, validation, status);
      }
    }
    if (depth == kMostFolders) return;
    for (const std::string& name : folders) {
      look_into(
          Fd(::openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
          prefix + name + "/", validation || telemetry::names_validation(name), depth + 1);
    }
  }

  // In order, so that files are found and numbered in the same one everywhere.
  std::vector<std::string> names_in(const Fd& folder) {
    std::vector<std::string> names;
    const int copy = ::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(copy < 0 ? nullptr : ::fdopendir(copy),
                                                      &::closedir);
    if (!entries) return names;
    while (const dirent* entry = ::readdir(entries.get())) {
      if (entry->d_name[0] == '.') continue;
      if (++entries_ > kMostEntries) {
        say_once(fmt::format("more than {} files and folders: the others are not looked at",
                             kMostEntries));
        break;
      }
      names.emplace_back(entry->d_name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  void see_file(const std::string& name, bool validation, const struct stat& status) {
    if (owner_ && status.st_uid != *owner_) return;
    auto it = files_.find(name);
    if (it == files_.end()) {
      if (files_.size() == kMostFiles) {
        say_once(fmt::format("more than {} event files: the others are not read", kMostFiles));
        return;
      }
      it = files_.emplace(name, EventFile()).first;
      it->second.writer = next_writer_;
      next_writer_ += 2;
    }
    EventFile& file = it->second;
    if (identity_of(status) != file.identity || status.st_size < file.offset) {
      file.offset = 0;
      file.stopped = false;
    }
    file.validation = validation;
    file.identity = identity_of(status);
    file.size = status.st_size;
  }

  // False when `left` is used up.
  bool read_file(const std::string& name, EventFile& file, std::size_t& left,
                 std::vector<ProgressPoint>& out) {
    const auto opened = telemetry::open_untrusted(AT_FDCWD, folder_ + "/" + name,
                                                  telemetry::FileKinds::kRegular, owner_);
    if (!opened.handle) return true;
    std::size_t wanted = kChunkBytes;
    // A record that was begun is read to its end.
    while (left > 0 || wanted > kChunkBytes) {
      buffer_.resize(wanted);
      const std::int64_t n =
          telemetry::read_some(opened.handle.get(), buffer_.data(), wanted, file.offset);
      if (n <= 0) return true;
      const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(n));
      left -= std::min(left, bytes.size());
      const std::int64_t before = file.offset;
      const std::uint64_t needed = read_records(name, file, bytes, out);
      if (file.stopped) return true;
      if (file.offset != before) {
        wanted = kChunkBytes;
      } else if (needed > wanted && bytes.size() == wanted) {
        wanted = static_cast<std::size_t>(needed);  // at most kMaxRecordDataBytes and a little
      } else {
        return true;  // its end has not come
      }
    }
    return false;
  }

  // Goes through the whole records of `bytes`; how many bytes the next one has.
  std::uint64_t read_records(const std::string& name, EventFile& file, std::string_view bytes,
                             std::vector<ProgressPoint>& out) {
    while (true) {
      const Record record = telemetry::read_record(bytes);
      switch (record.kind) {
        case RecordKind::kBadLength:
          file.stopped = true;
          note_damage(name, file, "a length whose checksum is wrong; nothing behind it is read");
          return 0;
        case RecordKind::kCut:
          return record.bytes;
        case RecordKind::kLong:
          if (file.size - file.offset < static_cast<std::int64_t>(record.bytes)) return 0;
          file.offset += static_cast<std::int64_t>(record.bytes);
          if (record.bytes >= bytes.size()) return 0;
          bytes.remove_prefix(record.bytes);
          continue;
        case RecordKind::kDamaged:
          note_damage(name, file, "a record whose checksum is wrong");
          break;
        case RecordKind::kWhole:
          if (telemetry::read_event(record.data, event_)) {
            take_event(name, file, out);
          } else {
            note_damage(name, file, "a record that is no event");
          }
          break;
      }
      file.offset += static_cast<std::int64_t>(record.bytes);
      bytes.remove_prefix(record.bytes);
    }
  }

  void take_event(const std::string& name, const EventFile& file, std::vector<ProgressPoint>& out) {
    for (const auto& [tag, value] : event_.scalars) {
      const auto [kind, rank] = telemetry::scalar_name(tag, file.validation);
      if (kind == ScalarKind::kOther) continue;
      const bool loss = kind == ScalarKind::kLoss;
      if (!(loss ? loss_ : accuracy_).accept(rank, tag)) continue;
      if (event_.step < 0 || event_.step > telemetry::kMostIterations) {
        ignore(name, file, fmt::format("step {}", event_.step));
        continue;
      }
      ProgressPoint point;
      point.iteration = event_.step;
      point.writer = file.writer + (loss ? 0 : 1);
      point.unix_us = telemetry::unix_us_from_seconds(event_.wall_time);
      if (!std::isfinite(value)) {
        point.diverged = true;
      } else if (loss) {
        point.loss = value;
      } else if (value >= 0 && value <= 1) {
        point.accuracy = value;
      } else {
        ignore(name, file, fmt::format("accuracy {} is not in 0..1", value));
        continue;
      }
      out.push_back(point);
    }
  }

  [[nodiscard]] std::string place(const std::string& name, const EventFile& file) const {
    return fmt::format("{}: byte {}", printable(folder_ + "/" + name, 400), file.offset);
  }
  void note_damage(const std::string& name, const EventFile& file, std::string_view what) {
    ++issues_.damaged;
    issues_.last = fmt::format("{}: {}", place(name, file), what);
  }
  void ignore(const std::string& name, const EventFile& file, const std::string& what) {
    ++issues_.ignored;
    issues_.last = fmt::format("{}: {}", place(name, file), what);
  }
  void say_once(const std::string& what) {
    if (std::exchange(said_, true)) return;
    ++issues_.ignored;
    issues_.last = fmt::format("{}: {}", printable(folder_, 400), what);
  }

  std::string folder_;
  std::optional<std::uint32_t> owner_;
  std::map<std::string, EventFile> files_;  // by path within the folder
  std::uint32_t next_writer_ = kFirstWriter;
  std::string last_read_;
  std::string buffer_;
  Event event_;
  Chosen loss_;
  Chosen accuracy_;
  std::size_t entries_ = 0;
  bool said_ = false;
  ProgressIssues issues_;
};

}  // namespace

std::unique_ptr<ProgressSource> follow_tensorboard(std::string folder,
                                                   std::optional<std::uint32_t> owner) {
  return std::make_unique<Tensorboard>(std::move(folder), owner);
}

}  // namespace berth
