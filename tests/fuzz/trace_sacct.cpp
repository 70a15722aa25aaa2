#include "trace_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return berth::fuzz::read_as("sacct", data, size);
}
