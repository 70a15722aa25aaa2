// Append-only storage for many short strings: views stay valid until the pool goes.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace berth {

class StringPool {
 public:
  StringPool() = default;
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  ~StringPool() = default;

  // A copy of `text` that lives as long as the pool.
  [[nodiscard]] std::string_view keep(std::string_view text);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t left_ = 0;
  char* next_ = nullptr;
  std::size_t bytes_ = 0;
};

// Names to dense indices, in order of first use. Index of "" is kNoName: no name is not a name.
class NameTable {
 public:
  static constexpr std::uint32_t kNoName = 0xFFFFFFFFU;

  std::uint32_t index_of(std::string_view name);                   // adds it if new
  [[nodiscard]] std::uint32_t find(std::string_view name) const;   // kNoName if absent
  [[nodiscard]] std::string_view name(std::uint32_t index) const;  // "" for kNoName
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  StringPool pool_;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::uint32_t> index_;
};

}  // namespace berth
