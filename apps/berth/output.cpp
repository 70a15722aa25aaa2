#include "output.h"

#include "base/atomic_file.h"

namespace berth::cli {

Status write_output(const std::string& path, std::string_view content) {
  BERTH_TRY(AtomicFile file, AtomicFile::create(path));
  BERTH_CHECK_OK(file.write(content));
  return file.commit();
}

}  // namespace berth::cli
