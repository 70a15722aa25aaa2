// What the backend of local processes reads back after a crash, and what it is told: damaged is
// refused, and what is accepted is written and read back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "backend/local/attempt_folder.h"
#include "backend/local/limits.h"
#include "backend/local/process.h"
#include "backend/local/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth::local;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      if (const auto claim = parse_claim(text)) {
        const auto back = parse_claim(claim_text(claim->supervisor));
        if (!back || back->supervisor != claim->supervisor) std::abort();
      }
      break;
    case 1:
      if (const auto end = berth::local::parse_end(text, "end")) {
        if (!parse_end(end_text(*end), "end")) std::abort();
      }
      break;
    case 2:
      if (const auto request = decode_request(text)) {
        if (decode_request(encode(*request)) != request) std::abort();
      }
      break;
    case 3:
      if (const auto report = decode_report(text)) {
        if (decode_report(encode(*report)) != report) std::abort();
      }
      break;
    case 4:
      (void)parse_process_stat(text);
      break;
    default:
      (void)group_mounts(text.substr(0, text.size() / 2), text.substr(text.size() / 2));
  }
  return 0;
}
