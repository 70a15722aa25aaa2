// Files that a job's user controls, opened by a process that may be allowed to read everything: no
// link is followed, nothing is opened but what it seems to be, and no open or read waits.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"

namespace berth::telemetry {

enum class FileKinds : std::uint8_t { kRegular, kRegularOrFifo };

struct OpenedFile {
  Fd handle;  // not valid: `fault` says why
  struct stat status {};
  std::string fault;  // "" where it is just not there
};

// `path` counts from `folder_fd` (AT_FDCWD). The file must belong to `owner`, if there is one.
[[nodiscard]] OpenedFile open_untrusted(int folder_fd, const std::string& path, FileKinds kinds,
                                        std::optional<std::uint32_t> owner);

// Reads at most `size` bytes at `offset`, or at the present place of a FIFO (offset -1). -1: none
// now, or an error.
[[nodiscard]] std::int64_t read_some(int fd, char* out, std::size_t size, std::int64_t offset);

}  // namespace berth::telemetry
