// The GPUs of this machine behind the devices of the cluster: by which name a task gets them, and
// whether others use them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "model/cluster.h"
#include "probe/nvml.h"

namespace berth::local {

// This machine: its CPUs as far as this process may use them, its memory, its GPUs. GPUs of several
// kinds are described as several servers, which share CPUs and memory by their GPUs.
[[nodiscard]] Cluster describe_machine(const std::vector<GpuDescription>& gpus);

class Devices {
 public:
  // `gpus[i]` is DeviceId i of the cluster. Without `nvml` nothing is known of their use.
  Devices(std::size_t devices, std::vector<GpuDescription> gpus, std::optional<Nvml> nvml);

  // A process that may run on any device: is it ours?
  using Ours = std::function<bool(std::int32_t pid)>;
  // Looks again; true: something has changed.
  [[nodiscard]] bool look(const Ours& ours);
  [[nodiscard]] const std::vector<bool>& usable() const { return usable_; }
  [[nodiscard]] bool watched() const { return nvml_.has_value(); }

  // The value of CUDA_VISIBLE_DEVICES: UUIDs, where they are not known numbers; "" is none.
  [[nodiscard]] std::string visible(const std::vector<DeviceId>& devices,
                                    const Cluster& cluster) const;

 private:
  std::vector<GpuDescription> gpus_;
  std::optional<Nvml> nvml_;
  std::vector<bool> usable_;
};

}  // namespace berth::local
