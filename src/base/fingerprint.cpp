#include "base/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/file.h"
#include "base/random.h"

namespace berth {

void Fingerprint::add(std::uint64_t word) {
  state_[0] = mix64(state_[0] ^ (word + 0x9E3779B97F4A7C15ULL));
  state_[1] = mix64(state_[1] ^ (word * 0xD6E8FEB86659FD93ULL + 0xA5A5A5A5A5A5A5A5ULL));
}

void Fingerprint::add(std::string_view text) {
  add(text.size());
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t n = std::min(text.size(), sizeof word);
    for (std::size_t i = 0; i < n; ++i) {
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
    }
    add(word);
    text.remove_prefix(n);
  }
}

Status Fingerprint::add_bytes_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (file == nullptr) return fail(open_error(path, errno));
  constexpr std::size_t kBlock = 1U << 16U;
  std::string block(kBlock, '\0');
  for (;;) {
    const std::size_t n = std::fread(block.data(), 1, kBlock, file.get());
    add(std::string_view(block).substr(0, n));
    if (n < kBlock) break;
  }
  if (std::ferror(file.get()) != 0) {
    return fail(io_error(path, fmt::format("cannot read: {}", std::strerror(errno))));
  }
  return {};
}

Status Fingerprint::add_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return add_bytes_of(path);
  std::vector<std::string> names;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code no_matter;
    if (it->is_regular_file(no_matter)) names.push_back(it->path().string());
  }
  if (error) return fail(io_error(path, fmt::format("cannot read: {}", error.message())));
  std::ranges::sort(names);
  for (const std::string& name : names) {
    add(std::string_view(name).substr(path.size()));
    BERTH_CHECK_OK(add_bytes_of(name));
  }
  return {};
}

std::string Fingerprint::hex() const {
  return fmt::format("{:016x}{:016x}", state_[0], state_[1]);
}

}  // namespace berth
