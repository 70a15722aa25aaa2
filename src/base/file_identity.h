// Which file a name or a descriptor stands for, however it is called.
#pragma once

#include <sys/stat.h>

namespace berth {

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;  // 0: no file

  bool operator==(const FileIdentity&) const = default;
};

[[nodiscard]] inline FileIdentity identity_of(const struct stat& info) {
  return {info.st_dev, info.st_ino};
}

}  // namespace berth
