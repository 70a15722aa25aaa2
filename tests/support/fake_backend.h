// A backend without processes: what it is told is written down, and the test says what comes of it.
// It outlives controllers, as real jobs do.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"

namespace berth::testing {

class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(Cluster cluster) : cluster_(std::move(cluster)) {}

  struct Run {
    AttemptLaunch launch;
    bool told_to_stop = false;
    bool killed = false;
    std::optional<AttemptEnd> end;
  };

  // A server of so many cores and GPUs.
  static Cluster machine(std::int64_t cores, std::uint32_t gpus = 0,
                         std::int64_t memory_mib = 8'000);

  const Cluster& cluster() const override { return cluster_; }
  std::vector<bool> usable_devices() const override {
    std::vector<bool> usable(cluster_.devices.size(), true);
    for (const std::uint32_t device : unusable) usable[device] = false;
    return usable;
  }
  Status start(const AttemptLaunch& launch) override;
  void stop(const std::string& key, bool now) override;
  void adopt(const std::string& key, const std::optional<ProcessId>& supervisor) override;
  void forget(const std::string& key) override { forgotten.insert(key); }
  int event_fd() const override { return -1; }
  void poll(const BackendEvents& events) override;
  std::string folder(const std::string& key) const override { return folder_root + "/" + key; }

  // The attempt ends by itself, with this code for each task.
  void finish(const std::string& key, int exit_code = 0);
  void end(const std::string& key, AttemptEnd end);
  // Those that were told to leave have left.
  void let_leave();
  // What the controller has not been told yet is lost with it.
  void crash();

  // Another machine, on which nothing has happened yet.
  void renew(Cluster cluster);

  [[nodiscard]] std::vector<std::string> running() const;
  [[nodiscard]] bool runs(const std::string& key) const {
    const auto found = attempts.find(key);
    return found != attempts.end() && !found->second.end;
  }

  std::map<std::string, Run> attempts;
  std::set<std::string> forgotten;
  std::vector<std::string> started_twice;
  std::set<std::uint32_t> unusable;
  std::string folder_root = "/nonexistent";
  std::function<void(const std::string& call, const std::string& key)>
      on_call;  // before it is done

 private:
  Cluster cluster_;
  std::deque<std::string> started_;
  std::deque<std::string> ended_;
  std::set<std::string> known_;  // to the present controller
};

}  // namespace berth::testing
