// The part of nvml.h that Berth uses: the layouts belong to the binary interface of NVIDIA's
// management library. The stand-in of the tests includes this as well, so that a caller and what it
// calls agree on the types.
#pragma once

namespace berth {

using NvmlDevice = void*;
using NvmlReturn = int;

struct NvmlMemory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

// Since version 2 of the call (R440); that of version 1 ends after the memory.
struct NvmlProcess {
  unsigned int pid = 0;
  unsigned long long memory = 0;
  unsigned int gpu_instance = 0;
  unsigned int compute_instance = 0;
};

}  // namespace berth
