// Finished runs in a file, so that a comparison that was cut short goes on where it was:
// DIR/runs.jsonl, a JSON object a line: {"key": ..., "sum": ..., "run": ...}. The key tells which
// run it is, the sum that the line is whole. Lines are only ever appended.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "report/run_record.h"

namespace berth {

class RunStore {
 public:
  // Makes the folder (mode 0700) and the file (0600) where they are absent, and reads the runs with
  // these keys. Lines that are damaged are counted, others' runs are left alone.
  [[nodiscard]] static Result<RunStore> open(const std::string& folder,
                                             const std::set<std::string>& keys);
  RunStore(RunStore&& other) noexcept;
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;
  RunStore& operator=(RunStore&&) = delete;
  ~RunStore();

  [[nodiscard]] const RunRecord* find(const std::string& key) const;
  // Appends the run as one line, or nothing of it. From any thread.
  [[nodiscard]] Status add(const std::string& key, const RunRecord& record);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t damaged_lines() const { return damaged_; }

 private:
  RunStore(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  [[nodiscard]] Status read(const std::set<std::string>& keys);
  void read_line(std::string_view line, const std::set<std::string>& keys);
  [[nodiscard]] Status append(std::string_view line) const;

  std::string path_;
  int fd_ = -1;
  std::map<std::string, RunRecord> runs_;
  std::uint64_t damaged_ = 0;
  std::mutex mutex_;  // of add()
};

}  // namespace berth
