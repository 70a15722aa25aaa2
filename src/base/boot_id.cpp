#include "base/boot_id.h"

#include "base/fd.h"
#include "base/number.h"

namespace berth {

const std::string& boot_id() {
  static const std::string id = [] {
    constexpr std::size_t kMostBytes = 128;
    const auto text = read_file("/proc/sys/kernel/random/boot_id", kMostBytes);
    return text ? std::string(trim(*text)) : std::string();
  }();
  return id;
}

}  // namespace berth
