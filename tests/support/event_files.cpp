#include "support/event_files.h"

#include <bit>

#include "telemetry/crc32c.h"

namespace berth::test {
namespace {

template <class T>
std::string bytes_of(T value) {
  std::string out;
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i) & 0xFFU);
  return out;
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  return out + static_cast<char>(value);
}

std::string key(std::uint64_t field, unsigned type) {
  return varint(field << 3U | type);
}
std::string field(std::uint64_t number, std::string_view bytes) {
  return key(number, 2) + varint(bytes.size()) + std::string(bytes);
}
std::string float_bytes(double value) {
  return bytes_of(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
}
std::string double_bytes(double value) {
  return bytes_of(std::bit_cast<std::uint64_t>(value));
}

std::string value_field(double value, ScalarForm form) {
  switch (form) {
    case ScalarForm::kSimple:
      return key(2, 5) + float_bytes(value);
    case ScalarForm::kTensorFloat:
      return field(8, key(1, 0) + varint(1) + field(2, "") + field(5, float_bytes(value)));
    case ScalarForm::kTensorDouble:
      return field(8, key(1, 0) + varint(2) + key(6, 1) + double_bytes(value));
    case ScalarForm::kTensorContent:
      break;
  }
  return field(8, key(1, 0) + varint(1) + field(4, float_bytes(value)));
}

}  // namespace

std::string event_record(std::string_view data) {
  const std::string length = bytes_of(static_cast<std::uint64_t>(data.size()));
  return length + bytes_of(telemetry::masked_crc32c(length)) + std::string(data) +
         bytes_of(telemetry::masked_crc32c(data));
}

std::string scalar_event(double wall_time, std::int64_t step, std::string_view tag, double value,
                         ScalarForm form) {
  return key(1, 1) + double_bytes(wall_time) + key(2, 0) +
         varint(static_cast<std::uint64_t>(step)) +
         field(5, field(1, field(1, tag) + value_field(value, form)));
}

}  // namespace berth::test
