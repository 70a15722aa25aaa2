// Follows arbitrary bytes as a progress file and as an event file, once as a whole and once in
// portions while the file grows: the same points, and a curve that is in order.
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/temp_folder.h"
#include "telemetry/progress_log.h"

namespace {

using namespace berth;  // NOLINT(google-build-using-namespace)
using Points = std::vector<ProgressPoint>;

void require(bool holds) {
  if (!holds) std::abort();
}

void drain(ProgressSource& source, Points& out, std::size_t portion) {
  while (source.poll(out, portion)) {
  }
}

void write(const std::string& path, std::string_view bytes, std::ios::openmode mode) {
  std::ofstream(path, mode | std::ios::binary) << bytes;
}

void require_same(const Points& a, const Points& b) {
  require(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    require(a[i].iteration == b[i].iteration && a[i].loss == b[i].loss &&
            a[i].accuracy == b[i].accuracy && a[i].diverged == b[i].diverged);
  }
}

void check_curve(const Points& points) {
  ProgressCurve curve;
  for (const ProgressPoint& point : points) curve.add(point);
  std::int64_t last = -1;
  for (const ProgressPoint& point : curve.points()) {
    require(point.iteration > last);
    require(!point.loss || std::isfinite(*point.loss));
    require(!point.accuracy || (*point.accuracy >= 0 && *point.accuracy <= 1));
    last = point.iteration;
  }
  require(last == curve.last_iteration());
}

// `follow` makes a new source each time.
template <class Follow>
void check(const std::string& path, std::string_view bytes, Follow follow) {
  write(path, bytes, std::ios::trunc);
  Points whole;
  drain(*follow(), whole, 1 << 20);
  check_curve(whole);
  const std::size_t cut = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]) % bytes.size();
  Points parts;
  const auto source = follow();
  write(path, bytes.substr(0, cut), std::ios::trunc);
  drain(*source, parts, 509);
  write(path, bytes.substr(cut), std::ios::app);
  drain(*source, parts, 509);
  require_same(whole, parts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const testing::TempFolder folder;
  static const std::string lines = folder.file("progress");
  static const std::string events = folder.file("events.out.tfevents.1");
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(lines, bytes, [] { return follow_json_lines(lines); });
  // One byte a poll would read each record many times.
  if (size > 4096) return 0;
  check(events, bytes, [] { return follow_tensorboard(folder.path().string()); });
  return 0;
}
