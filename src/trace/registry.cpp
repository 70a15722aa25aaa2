#include "trace/registry.h"

#include <array>

#include "trace/formats/readers.h"

namespace berth::trace {

std::span<const Reader* const> readers() {
  // In equal doubt the earlier one is taken.
  static constexpr std::array kReaders{
      &kBerthReader, &kPhillyCsvReader, &kPhillyJsonReader, &kHeliosReader, &kAcmeReader,
      &kGavelReader, &kSwfReader,       &kOpenbReader,      &kPaiReader,    &kSacctReader,
  };
  return kReaders;
}

}  // namespace berth::trace
