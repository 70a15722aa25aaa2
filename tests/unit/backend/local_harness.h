// A backend of local processes in a folder of its own, and what it told.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "backend/local/local_backend.h"

namespace berth::testing {

inline std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Others may go through it: tasks of other users run in it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "berth-local-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
    std::filesystem::permissions(path_, std::filesystem::perms(0711));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code no_matter;
    std::filesystem::remove_all(path_, no_matter);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Credentials own_user() {
  return {.uid = ::geteuid(), .gid = ::getegid()};
}

inline LocalOptions local_options(const std::string& folder) {
  LocalOptions options;
  options.data_folder = folder;
  options.executable = BERTH_BINARY;
  options.allow_root = true;
  options.nvml = "";
  return options;
}

inline AttemptLaunch launch_of(std::string key, std::vector<std::string> command,
                               std::uint32_t tasks = 1) {
  AttemptLaunch launch;
  launch.key = std::move(key);
  launch.user = own_user();
  launch.command = std::move(command);
  launch.directory = "/";
  launch.term_grace_us = 10 * kUsPerS;
  launch.log_limit_bytes = 1 << 20;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    TaskLaunch task;
    task.task = i;
    task.environment = {{"RANK", std::to_string(i)}};
    launch.tasks.push_back(std::move(task));
  }
  return launch;
}

inline AttemptLaunch shell(std::string key, const std::string& script, std::uint32_t tasks = 1) {
  return launch_of(std::move(key), {"/bin/sh", "-c", script}, tasks);
}

class LocalHarness {
 public:
  explicit LocalHarness(const LocalOptions& options) {
    auto made = make_local_backend(options);
    EXPECT_TRUE(made) << made.error().text();
    if (made) backend = *std::move(made);
  }

  void poll(int wait_ms) {
    pollfd one{.fd = backend->event_fd(), .events = POLLIN, .revents = 0};
    (void)::poll(&one, 1, wait_ms);
    BackendEvents events;
    events.started = [this](const std::string& key, const ProcessId& id) {
      EXPECT_TRUE(started.emplace(key, id).second) << key << " started twice";
      EXPECT_FALSE(ends.contains(key)) << key << " started after its end";
    };
    events.ended = [this](const std::string& key, const AttemptEnd& end) {
      EXPECT_TRUE(ends.emplace(key, end).second) << key << " ended twice";
    };
    events.devices_changed = [this] { ++device_changes; };
    backend->poll(events);
  }

  // False after half a minute, which no test takes.
  [[nodiscard]] bool until(const std::function<bool()>& done) {
    constexpr auto kLongest = std::chrono::seconds(30);
    constexpr int kWaitMs = 20;
    const auto deadline = std::chrono::steady_clock::now() + kLongest;
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      poll(kWaitMs);
    }
    return true;
  }
  [[nodiscard]] AttemptEnd end_of(const std::string& key) {
    EXPECT_TRUE(until([&] { return ends.contains(key); })) << key << " does not end";
    return ends[key];
  }
  [[nodiscard]] AttemptEnd run(const AttemptLaunch& launch) {
    const auto status = backend->start(launch);
    EXPECT_TRUE(status) << status.error().text();
    return end_of(launch.key);
  }
  [[nodiscard]] bool runs(const AttemptLaunch& launch) {
    const auto status = backend->start(launch);
    EXPECT_TRUE(status) << status.error().text();
    return until([&] { return started.contains(launch.key); });
  }
  [[nodiscard]] bool says(const std::string& key, const std::string& file,
                          const std::string& what) {
    return until(
        [&] { return text_of(backend->folder(key) + "/" + file).find(what) != std::string::npos; });
  }
  [[nodiscard]] std::string out(const std::string& key, int task = 0) const {
    return text_of(backend->folder(key) + "/" + std::to_string(task) + ".out");
  }

  std::unique_ptr<LocalBackend> backend;
  std::map<std::string, ProcessId> started;
  std::map<std::string, AttemptEnd> ends;
  int device_changes = 0;
};

}  // namespace berth::testing
