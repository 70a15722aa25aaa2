// TensorBoard event files: records, and the scalars of an event.
//
// A record is the length of its data (8 bytes, little-endian), the masked CRC-32C of these 8 bytes,
// the data, the masked CRC-32C of the data. The data is a protocol buffer, an Event:
//   1 wall_time double, 2 step int64, 5 summary { 1 value { 1 tag string, 2 simple_value float,
//   8 tensor { 1 dtype, 4 tensor_content bytes, 5 float_val float, 6 double_val double } } }
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace berth::telemetry {

inline constexpr std::size_t kRecordHeadBytes = 12;
inline constexpr std::size_t kRecordExtraBytes = 16;  // of a record beside its data
// Longer ones hold pictures or graphs and are passed over unread.
inline constexpr std::uint64_t kMaxRecordDataBytes = std::uint64_t{1} << 20U;

enum class RecordKind : std::uint8_t {
  kWhole,
  kLong,       // whole or not, it is passed over
  kCut,        // its end is not there yet
  kDamaged,    // its data has another checksum; the next record can be found
  kBadLength,  // nothing behind it can be found
};

struct Record {
  RecordKind kind = RecordKind::kCut;
  std::string_view data;    // of kWhole
  std::uint64_t bytes = 0;  // all of it; of kCut: at least so many are needed
};

// The record at the start of `bytes`, which are what there is of the file from there on, or the
// beginning of that.
[[nodiscard]] Record read_record(std::string_view bytes);

struct EventScalar {
  std::string_view tag;
  double value = 0;
};
struct Event {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
  std::vector<EventScalar> scalars;
};

// False: it is no such protocol buffer. Views are into `data`. `out` is replaced.
[[nodiscard]] bool read_event(std::string_view data, Event& out);

}  // namespace berth::telemetry
