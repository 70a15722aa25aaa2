// A hint that saves page faults, which cost more than the work itself where memory is filled once
// (on virtual machines above all). It changes no result and may be ignored.
#pragma once

#include <cstddef>
#include <vector>

namespace berth {

// Asks for 2 MiB pages in [begin, begin + bytes).
void use_huge_pages(const void* begin, std::size_t bytes);

// The same for what a vector has reserved; call it after reserve(), before filling.
template <class T>
void use_huge_pages(const std::vector<T>& reserved) {
  use_huge_pages(reserved.data(), reserved.capacity() * sizeof(T));
}

// `count` copies of `value`, on 2 MiB pages where the kernel has them.
template <class T>
[[nodiscard]] std::vector<T> large_vector(std::size_t count, const T& value = {}) {
  std::vector<T> out;
  out.reserve(count);
  use_huge_pages(out);
  out.resize(count, value);
  return out;
}

}  // namespace berth
