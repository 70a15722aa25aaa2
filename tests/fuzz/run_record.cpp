// Reads a kept run from arbitrary bytes, as from a damaged runs.jsonl. What is accepted is written
// again the same.
#include "report/run_record.h"

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Json = nlohmann::ordered_json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto record = berth::run_record_from_json(Json::parse(text, nullptr, false));
  if (!record) return 0;
  const std::string written =
      berth::to_json(*record).dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto again = berth::run_record_from_json(Json::parse(written, nullptr, false));
  if (!again) std::abort();
  const std::string twice =
      berth::to_json(*again).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (twice != written) std::abort();
  return 0;
}
