// How many attempts a second go through the backend of local processes, end to end: attempt_rate
// DATA_FOLDER N IN_FLIGHT [PROGRAM [ARGUMENT...]]. Prints one line of JSON.
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "backend/local/launcher.h"
#include "backend/local/local_backend.h"
#include "base/number.h"

namespace {

double cpu_s(int who) {
  rusage used{};
  (void)::getrusage(who, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

struct Tally {
  std::int64_t started = 0;
  std::int64_t ended = 0;
  std::int64_t succeeded = 0;
};

int run(berth::LocalBackend& backend, std::int64_t jobs, std::int64_t in_flight,
        const std::vector<std::string>& command) {
  Tally tally;
  berth::BackendEvents events;
  events.ended = [&](const std::string& key, const berth::AttemptEnd& end) {
    ++tally.ended;
    if (end.success()) {
      ++tally.succeeded;
    } else {
      fmt::print(stderr, "{}: {}\n", key, end.why);
    }
    backend.forget(key);
  };
  berth::AttemptLaunch launch;
  launch.user = {.uid = ::geteuid(), .gid = ::getegid()};
  launch.command = command;
  launch.directory = "/";
  launch.tasks.resize(1);
  const auto begin = std::chrono::steady_clock::now();
  while (tally.ended < jobs) {
    while (tally.started < jobs && tally.started - tally.ended < in_flight) {
      launch.key = fmt::format("{}.1", ++tally.started);
      if (const auto status = backend.start(launch); !status) {
        fmt::print(stderr, "{}\n", status.error().text());
        return 1;
      }
    }
    pollfd one{.fd = backend.event_fd(), .events = POLLIN, .revents = 0};
    (void)::poll(&one, 1, -1);
    backend.poll(events);
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  fmt::print(
      "{{\"attempts\": {}, \"succeeded\": {}, \"wall_s\": {:.3f}, \"per_s\": {:.0f}, "
      "\"cpu_s\": {:.3f}}}\n",
      jobs, tally.succeeded, wall.count(), static_cast<double>(jobs) / wall.count(),
      cpu_s(RUSAGE_SELF));
  return tally.succeeded == jobs ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = berth::local::run_if_launcher(argc, argv)) return *code;
  constexpr int kFirstWord = 4;
  const auto jobs = argc >= kFirstWord ? berth::parse_int(argv[2]) : std::nullopt;
  const auto in_flight = argc >= kFirstWord ? berth::parse_int(argv[3]) : std::nullopt;
  if (!jobs || !in_flight || *jobs < 1 || *in_flight < 1) {
    fmt::print(stderr, "usage: attempt_rate DATA_FOLDER N IN_FLIGHT [PROGRAM [ARGUMENT...]]\n");
    return 2;
  }
  std::vector<std::string> command(argv + kFirstWord, argv + argc);
  if (command.empty()) command.emplace_back("/bin/true");
  berth::LocalOptions options;
  options.data_folder = argv[1];
  options.allow_root = true;
  auto backend = berth::make_local_backend(options);
  if (!backend) {
    fmt::print(stderr, "{}\n", backend.error().text());
    return 1;
  }
  for (const auto& line : (*backend)->limits()) fmt::print(stderr, "{}\n", line);
  return run(**backend, *jobs, *in_flight, command);
}
