// Prints what a job has reported, one JSON object a line and the curve in the end:
// progress_points json|tensorboard PATH
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "telemetry/progress_log.h"

namespace {

nlohmann::ordered_json to_json(const berth::ProgressPoint& point) {
  nlohmann::ordered_json out;
  out["iteration"] = point.iteration;
  if (point.loss) out["loss"] = *point.loss;
  if (point.accuracy) out["accuracy"] = *point.accuracy;
  if (point.diverged) out["diverged"] = true;
  if (point.unix_us) out["unix_us"] = *point.unix_us;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto source = std::string_view(argv[1]) == "json" ? berth::follow_json_lines(argv[2])
                                                          : berth::follow_tensorboard(argv[2]);
  std::vector<berth::ProgressPoint> points;
  while (source->poll(points, std::size_t{1} << 16U)) {
  }
  berth::ProgressCurve curve;
  for (const auto& point : points) {
    curve.add(point);
    fmt::print("{}\n", to_json(point).dump());
  }
  auto kept = nlohmann::ordered_json::array();
  for (const auto& point : curve.points()) kept.push_back(to_json(point));
  fmt::print("{}\n", nlohmann::ordered_json{{"curve", kept},
                                            {"damaged", source->issues().damaged},
                                            {"ignored", source->issues().ignored},
                                            {"last", source->issues().last}}
                         .dump());
  return 0;
}
