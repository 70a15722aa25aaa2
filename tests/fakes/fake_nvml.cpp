// NVIDIA's management library as the tests want it. The file named in BERTH_FAKE_NVML has a line a
// GPU: UUID NAME TOTAL_BYTES USED_BYTES ok|lost [PID...]; it is read anew on every call.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "probe/nvml_abi.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kGpuIsLost = 15;

struct Gpu {
  std::string uuid;
  std::string name;
  unsigned long long total = 0;
  unsigned long long used = 0;
  bool lost = false;
  std::vector<unsigned int> processes;
};

std::vector<Gpu> gpus() {
  std::vector<Gpu> out;
  const char* const file = std::getenv("BERTH_FAKE_NVML");
  std::ifstream in(file != nullptr ? file : "/dev/null");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Gpu gpu;
    std::string state;
    words >> gpu.uuid >> gpu.name >> gpu.total >> gpu.used >> state;
    gpu.lost = state == "lost";
    for (unsigned int pid = 0; words >> pid;) gpu.processes.push_back(pid);
    out.push_back(gpu);
  }
  return out;
}

// A handle is an index plus one.
void* handle(std::size_t index) {
  return reinterpret_cast<void*>(index + 1);
}

int find(void* device, Gpu& gpu) {
  const auto all = gpus();
  const std::size_t index = reinterpret_cast<std::uintptr_t>(device) - 1;
  if (index >= all.size()) return kInvalidArgument;
  gpu = all[index];
  return gpu.lost ? kGpuIsLost : kSuccess;
}

int copy(const std::string& text, char* out, unsigned int size) {
  if (text.size() + 1 > size) return kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return std::getenv("BERTH_FAKE_NVML") != nullptr ? kSuccess : 9;  // driver not loaded
}
int nvmlShutdown() {
  return kSuccess;
}
const char* nvmlErrorString(int code) {
  return code == 9 ? "Driver Not Loaded" : "an error";
}
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = static_cast<unsigned int>(gpus().size());
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  const auto all = gpus();
  if (index >= all.size()) return kInvalidArgument;
  if (all[index].lost) return kGpuIsLost;
  *device = handle(index);
  return kSuccess;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  const auto all = gpus();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Gpu& gpu) { return gpu.uuid == uuid; });
  if (found == all.end()) return kNotFound;
  *device = handle(static_cast<std::size_t>(found - all.begin()));
  return kSuccess;
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned int size) {
  Gpu gpu;
  const int code = find(device, gpu);
  return code == kSuccess ? copy(gpu.uuid, uuid, size) : code;
}
int nvmlDeviceGetName(void* device, char* name, unsigned int size) {
  Gpu gpu;
  const int code = find(device, gpu);
  return code == kSuccess ? copy(gpu.name, name, size) : code;
}
int nvmlDeviceGetMemoryInfo(void* device, berth::NvmlMemory* memory) {
  Gpu gpu;
  const int code = find(device, gpu);
  if (code == kSuccess) *memory = {gpu.total, gpu.total - gpu.used, gpu.used};
  return code;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count,
                                            berth::NvmlProcess* processes) {
  Gpu gpu;
  const int code = find(device, gpu);
  if (code != kSuccess) return code;
  const unsigned int room = *count;
  *count = static_cast<unsigned int>(gpu.processes.size());
  if (room < *count) return kInsufficientSize;
  for (unsigned int i = 0; i < *count; ++i) processes[i] = {gpu.processes[i], 1, 0, 0};
  return kSuccess;
}

}  // extern "C"
