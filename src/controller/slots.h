// The cluster as policies see it, made of what a backend found: GPUs, and cores as devices of a
// type of their own, so that jobs without a GPU are ordered, packed and refused like all others.
//
// A core's device has its part of the machine's main memory. A job that needs more memory for a
// core takes more of the cores, so that memory is never promised twice among such jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/cluster.h"

namespace berth {

inline constexpr std::string_view kCoreType = "cpu";

struct SlotOptions {
  // Cores that jobs without a GPU may have on a server with GPUs; -1: a quarter of them.
  std::int64_t cores_beside_gpus = -1;
};

// Where a device of the policies' cluster really is.
struct Slot {
  ServerId server;  // of the backend's cluster
  DeviceId device;  // of it; invalid: a core
};

class Slots {
 public:
  // Refused: a server of unknown cores, a GPU type called "cpu", nothing at all to run on.
  [[nodiscard]] static Result<Slots> make(const Cluster& physical, const SlotOptions& options);

  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const Slot& slot(DeviceId device) const { return slots_[device.index()]; }
  [[nodiscard]] ServerId physical(ServerId server) const { return servers_[server.index()]; }
  [[nodiscard]] GpuTypeMask core_mask() const { return core_mask_; }
  [[nodiscard]] GpuTypeMask gpu_mask() const { return ~core_mask_; }
  // Least main memory that goes with a core anywhere.
  [[nodiscard]] std::int64_t memory_mib_per_core() const { return memory_mib_per_core_; }
  // Main memory of the largest server.
  [[nodiscard]] std::int64_t most_memory_mib() const { return most_memory_mib_; }

 private:
  Cluster cluster_;
  std::vector<Slot> slots_;        // by DeviceId of cluster_
  std::vector<ServerId> servers_;  // by ServerId of cluster_: the backend's
  GpuTypeMask core_mask_ = 0;
  std::int64_t memory_mib_per_core_ = 0;
  std::int64_t most_memory_mib_ = 0;
};

}  // namespace berth
