// Reads a file of faults from arbitrary bytes. What is accepted is in order, names what the cluster
// has, and changes a state with every event.
#include "engine/faults.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

using namespace berth;  // NOLINT(google-build-using-namespace)

void require(bool holds) {
  if (!holds) std::abort();
}

void change(std::vector<bool>& down, std::uint32_t id, bool goes) {
  require(id < down.size() && down[id] != goes);
  down[id] = goes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Cluster cluster = named_cluster("3x4").value().value();
  const auto events =
      parse_faults({reinterpret_cast<const char*>(data), size}, "faults.csv", cluster);
  if (!events) {
    require(events.error().exit_code() == 2);
    return 0;
  }
  std::vector<bool> servers(cluster.servers.size(), false);
  std::vector<bool> devices(cluster.devices.size(), false);
  std::vector<std::int32_t> speeds(cluster.devices.size(), 1'000'000);
  const FaultEvent* before = nullptr;
  for (const FaultEvent& event : *events) {
    require(event.at_us >= 0 && event.at_us < kNever);
    require(before == nullptr || std::tie(before->at_us, before->kind, before->id) <
                                     std::tie(event.at_us, event.kind, event.id));
    before = &event;
    switch (event.kind) {
      case FaultKind::kServerDown:
      case FaultKind::kServerUp:
        change(servers, event.id, event.kind == FaultKind::kServerDown);
        break;
      case FaultKind::kDeviceDown:
      case FaultKind::kDeviceUp:
        change(devices, event.id, event.kind == FaultKind::kDeviceDown);
        break;
      case FaultKind::kDeviceSpeed:
        require(event.id < speeds.size() && event.speed_ppm > 0);
        require(speeds[event.id] != event.speed_ppm);
        speeds[event.id] = event.speed_ppm;
        break;
    }
  }
  return 0;
}
