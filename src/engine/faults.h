// What goes wrong in a run: servers and devices that fail and come back, devices that are slow for
// a while. From a file, or drawn from a seeded process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "model/cluster.h"

namespace berth {

enum class FaultKind : std::uint8_t {
  kServerDown,
  kServerUp,
  kDeviceDown,
  kDeviceUp,
  kDeviceSpeed,  // from now on the device computes at this speed, as a straggler or as usual
};

struct FaultEvent {
  TimeUs at_us = 0;
  FaultKind kind = FaultKind::kServerDown;
  std::uint32_t id = 0;                // ServerId, or DeviceId
  std::int32_t speed_ppm = 1'000'000;  // of a healthy device; for kDeviceSpeed
  friend bool operator==(const FaultEvent&, const FaultEvent&) = default;
};

// Exponential times between failures and to repair, each server and each device by itself; 0:
// never.
struct FaultProcess {
  TimeUs server_between_us = 0;  // mean time a server is up
  TimeUs server_repair_us = 0;
  TimeUs device_between_us = 0;
  TimeUs device_repair_us = 0;
  TimeUs slow_between_us = 0;  // mean time between slow periods of a device
  TimeUs slow_for_us = 0;      // mean length of one
  std::int32_t slow_speed_ppm = 500'000;
};

// Events before `until_us`, sorted by (at_us, kind, id). Every failure has its end, which may lie
// beyond `until_us`. About until_us / between_us events of each kind for each server and device.
[[nodiscard]] std::vector<FaultEvent> draw_faults(const FaultProcess& process,
                                                  const Cluster& cluster, TimeUs until_us, Rng rng);

// CSV with the header "time_s,event,server,device,speed": event is down, up or speed; server a name
// of the cluster or a number from 0; device a number within the server, or empty for the server
// itself (or absent as a column, like speed); speed a factor above 0 and at most 10. At most a
// million rows, in any order. An event that changes nothing is an error, so are two about the same
// thing at one time and a speed without a device.
[[nodiscard]] Result<std::vector<FaultEvent>> parse_faults(std::string_view text,
                                                           std::string_view file,
                                                           const Cluster& cluster);

}  // namespace berth
