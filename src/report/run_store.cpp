#include "report/run_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/fingerprint.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

std::string sum_of(std::string_view text) {
  Fingerprint sum;
  sum.add(text);
  return sum.hex();
}

Error error_of(const std::string& path, const char* what) {
  return io_error(path, fmt::format("{}: {}", what, std::strerror(errno)));
}

// A lock on the file, of this process: others that append wait.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) {
    while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() { (void)::flock(fd_, LOCK_UN); }

 private:
  int fd_;
};

}  // namespace

RunStore::RunStore(RunStore&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      runs_(std::move(other.runs_)),
      damaged_(other.damaged_) {}

RunStore::~RunStore() {
  if (fd_ >= 0) ::close(fd_);
}

Result<RunStore> RunStore::open(const std::string& folder, const std::set<std::string>& keys) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(error_of(folder, "cannot make the folder"));
  }
  std::string path = (std::filesystem::path(folder) / "runs.jsonl").string();
  const int fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail(error_of(path, "cannot write"));
  RunStore store(std::move(path), fd);
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return fail(io_error(store.path_, "cannot write: it is not a regular file"));
  }
  BERTH_CHECK_OK(store.read(keys));
  return store;
}

Status RunStore::read(const std::set<std::string>& keys) {
  std::ifstream file(path_, std::ios::binary);
  if (!file) return fail(error_of(path_, "cannot read"));
  std::string line;
  while (std::getline(file, line)) {
    if (!line.empty()) read_line(line, keys);
  }
  if (file.bad()) return fail(error_of(path_, "cannot read"));
  return {};
}

namespace {

// Our own lines are a few levels deep; one that is not would exhaust the stack when it is written
// again for its sum.
bool is_deep(std::string_view line) {
  constexpr int kDeepest = 32;
  int depth = 0;
  for (const char c : line) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

}  // namespace

void RunStore::read_line(std::string_view line, const std::set<std::string>& keys) {
  if (is_deep(line)) {
    ++damaged_;
    return;
  }
  const Json json = Json::parse(line, nullptr, false);
  const auto text = [&](const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const bool whole = json.is_object() && json.contains("run") &&
                     text("sum") == sum_of(text("key") + json["run"].dump());
  if (!whole) {
    ++damaged_;
    return;
  }
  const std::string key = text("key");
  if (!keys.contains(key)) return;
  auto record = run_record_from_json(json["run"]);
  if (!record) {
    ++damaged_;
    return;
  }
  runs_.insert_or_assign(key, *std::move(record));
}

const RunRecord* RunStore::find(const std::string& key) const {
  const auto found = runs_.find(key);
  return found == runs_.end() ? nullptr : &found->second;
}

Status RunStore::add(const std::string& key, const RunRecord& record) {
  const Json run = to_json(record);
  const Json line = {{"key", key}, {"sum", sum_of(key + run.dump())}, {"run", run}};
  const std::lock_guard guard(mutex_);
  return append(line.dump() + "\n");
}

Status RunStore::append(std::string_view line) const {
  const FileLock lock(fd_);
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return fail(error_of(path_, "cannot write"));
  std::string bytes(line);
  // A line that was cut short stays as it is, damaged; this one begins on a line of its own.
  char last = '\n';
  if (info.st_size > 0 && ::pread(fd_, &last, 1, info.st_size - 1) == 1 && last != '\n') {
    bytes.insert(0, 1, '\n');
  }
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      Error error = error_of(path_, "cannot write");
      (void)!::ftruncate(fd_, info.st_size);  // nothing of it stays
      return fail(std::move(error));
    }
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

}  // namespace berth
