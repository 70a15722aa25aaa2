#include "base/string_pool.h"

#include <algorithm>
#include <cstring>

namespace berth {

std::string_view StringPool::keep(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > left_) {
    constexpr std::size_t kChunkBytes = std::size_t{64} * 1024;
    const std::size_t size = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    next_ = chunks_.back().get();
    left_ = size;
    bytes_ += size;
  }
  char* const copy = next_;
  std::memcpy(copy, text.data(), text.size());
  next_ += text.size();
  left_ -= text.size();
  return {copy, text.size()};
}

std::uint32_t NameTable::index_of(std::string_view name) {
  if (name.empty()) return kNoName;
  if (const auto it = index_.find(name); it != index_.end()) return it->second;
  const auto index = static_cast<std::uint32_t>(names_.size());
  names_.push_back(pool_.keep(name));
  index_.emplace(names_.back(), index);
  return index;
}

std::uint32_t NameTable::find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? kNoName : it->second;
}

std::string_view NameTable::name(std::uint32_t index) const {
  return index < names_.size() ? names_[index] : std::string_view{};
}

}  // namespace berth
