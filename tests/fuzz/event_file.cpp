// An event file of arbitrary bytes: the records of it, what an event's data says, and, where the
// checksums hold it back, the same bytes as the data of a record.
#include "telemetry/event_file.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace berth::telemetry;  // NOLINT(google-build-using-namespace)

void require(bool holds) {
  if (!holds) std::abort();
}

void check_event(std::string_view data) {
  Event event;
  if (!read_event(data, event)) return;
  for (const EventScalar& scalar : event.scalars) {
    require(scalar.tag.empty() ||
            (scalar.tag.data() >= data.data() &&
             scalar.tag.data() + scalar.tag.size() <= data.data() + data.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string_view left(reinterpret_cast<const char*>(bytes), size);
  check_event(left);
  while (true) {
    const Record record = read_record(left);
    require(record.bytes >= kRecordHeadBytes);
    if (record.kind == RecordKind::kWhole) {
      require(record.data.size() + kRecordExtraBytes == record.bytes);
      check_event(record.data);
    }
    const bool goes_on = record.kind == RecordKind::kWhole || record.kind == RecordKind::kDamaged;
    if (!goes_on) return 0;
    require(record.bytes <= left.size());
    left.remove_prefix(record.bytes);
  }
}
