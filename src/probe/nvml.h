// NVIDIA's management library, loaded when it is there: which GPUs there are, and who uses them.
// Nothing of its SDK is needed to build. https://docs.nvidia.com/deploy/nvml-api/
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace berth {

struct GpuDescription {
  std::string uuid;  // "GPU-8d5c...", as CUDA_VISIBLE_DEVICES takes it
  std::string name;
  std::int64_t memory_bytes = 0;
};

struct GpuUse {
  std::int64_t memory_used_bytes = -1;  // -1: not known
  std::vector<std::int32_t> processes;  // that compute on it, by number in the driver's namespace
};

class Nvml {
 public:
  static constexpr const char* kLibrary = "libnvidia-ml.so.1";

  // An error where there is no such library, no driver, or one that is too old.
  [[nodiscard]] static Result<Nvml> open(const std::string& library);
  Nvml(Nvml&&) noexcept;
  Nvml& operator=(Nvml&&) noexcept;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  // In the driver's order. A device that does not answer is left out.
  [[nodiscard]] Result<std::vector<GpuDescription>> devices() const;
  // Nothing: it does not answer any more ("has fallen off the bus").
  [[nodiscard]] std::optional<GpuUse> use(const std::string& uuid) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace berth
