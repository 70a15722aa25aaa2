#include "base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace berth {

void use_huge_pages(const void* begin, std::size_t bytes) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20U;
  const auto first = (reinterpret_cast<std::uintptr_t>(begin) + kHugePage - 1) & ~(kHugePage - 1);
  const auto last = (reinterpret_cast<std::uintptr_t>(begin) + bytes) & ~(kHugePage - 1);
  if (first >= last) return;
  // Only a hint: an error means that pages stay small.
  (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace berth
