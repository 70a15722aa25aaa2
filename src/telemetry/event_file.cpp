#include "telemetry/event_file.h"

#include <bit>
#include <cstring>
#include <optional>

#include "telemetry/crc32c.h"

namespace berth::telemetry {
namespace {

// A file that claims more is damaged whatever its checksum says.
constexpr std::uint64_t kMostClaimedBytes = std::uint64_t{1} << 40U;

template <class T>
T little_endian(std::string_view bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  }
  return value;
}

float to_float(std::string_view bytes) {
  return std::bit_cast<float>(little_endian<std::uint32_t>(bytes));
}
double to_double(std::string_view bytes) {
  return std::bit_cast<double>(little_endian<std::uint64_t>(bytes));
}

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Goes through the fields of a protocol buffer.
class Fields {
 public:
  explicit Fields(std::string_view data) : left_(data) {}

  // False at the end, or where it is damaged.
  bool next() {
    if (left_.empty()) return false;
    const auto key = varint();
    if (!key || *key >> 3U == 0 || *key > 0xFFFFFFFFU) return damage();
    field_ = static_cast<std::uint32_t>(*key >> 3U);
    type_ = static_cast<std::uint32_t>(*key & 7U);
    std::uint64_t length = 0;
    switch (type_) {
      case kVarint: {
        const auto value = varint();
        if (!value) return damage();
        number_ = *value;
        return true;
      }
      case kFixed64:
        length = 8;
        break;
      case kFixed32:
        length = 4;
        break;
      case kBytes: {
        const auto said = varint();
        if (!said) return damage();
        length = *said;
        break;
      }
      default:
        return damage();
    }
    if (length > left_.size()) return damage();
    bytes_ = left_.substr(0, length);
    left_.remove_prefix(length);
    return true;
  }

  [[nodiscard]] bool is(std::uint32_t field, WireType type) const {
    return field_ == field && type_ == type;
  }
  [[nodiscard]] std::uint64_t number() const { return number_; }   // of kVarint
  [[nodiscard]] std::string_view bytes() const { return bytes_; }  // of the others
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  bool damage() {
    damaged_ = true;
    return false;
  }
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    return std::nullopt;
  }

  std::string_view left_;
  std::string_view bytes_;
  std::uint64_t number_ = 0;
  std::uint32_t field_ = 0;
  std::uint32_t type_ = 0;
  bool damaged_ = false;
};

// The one number of a tensor; nothing if it has another count or another type.
bool read_tensor(std::string_view data, std::optional<double>& out) {
  constexpr std::uint64_t kFloatType = 1;
  constexpr std::uint64_t kDoubleType = 2;
  std::uint64_t type = 0;
  std::string_view content;
  std::size_t values = 0;
  std::optional<double> value;
  Fields fields(data);
  while (fields.next()) {
    if (fields.is(1, kVarint)) type = fields.number();
    if (fields.is(4, kBytes)) content = fields.bytes();
    // Repeated numbers: packed into one field, or a field each.
    if (fields.is(5, kBytes) || fields.is(5, kFixed32)) {
      values += fields.bytes().size() / sizeof(float);
      if (fields.bytes().size() == sizeof(float)) value = to_float(fields.bytes());
    }
    if (fields.is(6, kBytes) || fields.is(6, kFixed64)) {
      values += fields.bytes().size() / sizeof(double);
      if (fields.bytes().size() == sizeof(double)) value = to_double(fields.bytes());
    }
  }
  if (fields.damaged()) return false;
  if (values == 1) {
    out = value;
  } else if (values == 0 && type == kFloatType && content.size() == sizeof(float)) {
    out = to_float(content);
  } else if (values == 0 && type == kDoubleType && content.size() == sizeof(double)) {
    out = to_double(content);
  }
  return true;
}

bool read_value(std::string_view data, std::vector<EventScalar>& out) {
  std::string_view tag;
  std::optional<double> value;
  Fields fields(data);
  while (fields.next()) {
    if (fields.is(1, kBytes)) tag = fields.bytes();
    if (fields.is(2, kFixed32)) value = to_float(fields.bytes());
    if (fields.is(8, kBytes) && !read_tensor(fields.bytes(), value)) return false;
  }
  if (fields.damaged()) return false;
  if (value) out.push_back({tag, *value});
  return true;
}

bool read_summary(std::string_view data, std::vector<EventScalar>& out) {
  Fields fields(data);
  while (fields.next()) {
    if (fields.is(1, kBytes) && !read_value(fields.bytes(), out)) return false;
  }
  return !fields.damaged();
}

}  // namespace

Record read_record(std::string_view bytes) {
  Record out;
  out.bytes = kRecordHeadBytes;
  if (bytes.size() < kRecordHeadBytes) return out;
  const auto length = little_endian<std::uint64_t>(bytes.substr(0, 8));
  if (little_endian<std::uint32_t>(bytes.substr(8, 4)) != masked_crc32c(bytes.substr(0, 8)) ||
      length > kMostClaimedBytes) {
    out.kind = RecordKind::kBadLength;
    return out;
  }
  out.bytes = length + kRecordExtraBytes;
  if (length > kMaxRecordDataBytes) {
    out.kind = RecordKind::kLong;
    return out;
  }
  if (bytes.size() < out.bytes) return out;
  out.data = bytes.substr(kRecordHeadBytes, length);
  const auto sum = little_endian<std::uint32_t>(bytes.substr(kRecordHeadBytes + length, 4));
  out.kind = sum == masked_crc32c(out.data) ? RecordKind::kWhole : RecordKind::kDamaged;
  return out;
}

bool read_event(std::string_view data, Event& out) {
  out.wall_time = 0;
  out.step = 0;
  out.scalars.clear();
  Fields fields(data);
  while (fields.next()) {
    if (fields.is(1, kFixed64)) out.wall_time = to_double(fields.bytes());
    if (fields.is(2, kVarint)) out.step = static_cast<std::int64_t>(fields.number());
    if (fields.is(5, kBytes) && !read_summary(fields.bytes(), out.scalars)) return false;
  }
  return !fields.damaged();
}

}  // namespace berth::telemetry
