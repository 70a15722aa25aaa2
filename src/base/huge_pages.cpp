#include "base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace berth {

void use_huge_pages(const void* begin, std::size_t bytes) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20U;
  // The whole large pages inside the range.
  const std::size_t to_first =
      (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (bytes < to_first + kHugePage) return;
  const std::size_t length = (bytes - to_first) / kHugePage * kHugePage;
  // madvise wants a pointer that is not const, and changes nothing behind it. Only a hint: an error
  // means that pages stay small.
  auto* const first = const_cast<char*>(static_cast<const char*>(begin)) + to_first;
  (void)::madvise(first, length, MADV_HUGEPAGE);
}

}  // namespace berth
