// A controller on a store in a folder of its own, a backend without processes, and time that the
// test moves.
#pragma once

#include <memory>
#include <string>

#include "controller/controller.h"
#include "support/fake_backend.h"
#include "support/temp_folder.h"

namespace berth::testing {

struct LiveController {
  explicit LiveController(Cluster machine = FakeBackend::machine(2)) : backend(std::move(machine)) {
    options.time = {.boottime_us = [this] { return now_us; },
                    .unix_us = [this] { return 1'700'000'000 * kUsPerS + now_us; },
                    .boot_id = "boot"};
    options.policy = "fifo";
    store = std::move(*Store::open(folder + "/berth.db"));
    controller = std::move(*Controller::open(options, *store, backend));
  }
  LiveController(const LiveController&) = delete;
  LiveController& operator=(const LiveController&) = delete;
  ~LiveController() {
    controller.reset();
    store.reset();
  }
  void turn(int times = 4) {
    for (int i = 0; i < times; ++i) {
      now_us += kUsPerS / 5;
      controller->poll();
    }
  }

  TempFolder temp;
  std::string folder = temp.path().string();
  TimeUs now_us = 1'000 * kUsPerS;
  FakeBackend backend;
  ControllerOptions options;
  std::unique_ptr<Store> store;
  std::unique_ptr<Controller> controller;
};

}  // namespace berth::testing
