// One daemon a store: an exclusive lock on a file beside it.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace berth {

// A record lock (fcntl): it dies with its process, children do not inherit it, and the kernel names
// the process that has it. Such a lock does not keep the own process out; a list of what this one
// has open does.
class StoreLock {
 public:
  // Refused while another has it; names its pid.
  [[nodiscard]] static Result<StoreLock> take(const std::string& store_path);

  StoreLock(StoreLock&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), name_(std::move(other.name_)) {}
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;
  StoreLock& operator=(StoreLock&&) = delete;
  ~StoreLock();

 private:
  StoreLock(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  int fd_;
  std::string name_;
};

}  // namespace berth
