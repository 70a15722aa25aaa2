#include "engine/faults.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace berth {
namespace {

// Far beyond any run, and small enough to add to an instant.
constexpr double kLongestGapUs = 1e18;

// At least a microsecond, so that what starts also lasts, and drawing comes to an end.
TimeUs draw_us(TimeUs mean_us, Rng& rng) {
  const double us = rng.exponential(1.0) * static_cast<double>(std::max<TimeUs>(0, mean_us));
  return std::max<TimeUs>(1, std::llround(std::min(us, kLongestGapUs)));
}

// Calls start(at) and end(at) of each period in turn.
template <class Start, class End>
void draw_periods(TimeUs between_us, TimeUs length_us, TimeUs until_us, Rng rng, Start start,
                  End end) {
  if (between_us <= 0) return;
  for (TimeUs at = draw_us(between_us, rng); at < until_us; at += draw_us(between_us, rng)) {
    start(at);
    at += draw_us(length_us, rng);
    end(at);
  }
}

}  // namespace

std::vector<FaultEvent> draw_faults(const FaultProcess& process, const Cluster& cluster,
                                    TimeUs until_us, Rng rng) {
  std::vector<FaultEvent> events;
  const auto add = [&events](FaultKind kind, std::uint32_t id, std::int32_t speed_ppm = 1'000'000) {
    return [&events, kind, id, speed_ppm](TimeUs at) {
      events.push_back({.at_us = at, .kind = kind, .id = id, .speed_ppm = speed_ppm});
    };
  };
  // A stream for each server and, by its number within the server, each device: another server or
  // device more changes nothing for the rest.
  const Rng of_servers = rng.fork("server");
  const Rng of_devices = rng.fork("device");
  const Rng of_stragglers = rng.fork("straggler");
  for (std::uint32_t s = 0; s < cluster.servers.size(); ++s) {
    const Server& server = cluster.servers[s];
    draw_periods(process.server_between_us, process.server_repair_us, until_us, of_servers.fork(s),
                 add(FaultKind::kServerDown, s), add(FaultKind::kServerUp, s));
    for (std::uint32_t d = 0; d < server.gpus; ++d) {
      const std::uint32_t id = server.first_device.value + d;
      draw_periods(process.device_between_us, process.device_repair_us, until_us,
                   of_devices.fork(s).fork(d), add(FaultKind::kDeviceDown, id),
                   add(FaultKind::kDeviceUp, id));
      draw_periods(process.slow_between_us, process.slow_for_us, until_us,
                   of_stragglers.fork(s).fork(d),
                   add(FaultKind::kDeviceSpeed, id, process.slow_speed_ppm),
                   add(FaultKind::kDeviceSpeed, id));
    }
  }
  std::ranges::sort(events, {}, [](const FaultEvent& event) {
    return std::tuple(event.at_us, event.kind, event.id);
  });
  return events;
}

}  // namespace berth
