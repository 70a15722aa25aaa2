// CRC-32C (Castagnoli; reflected polynomial 0x82F63B78), and the masked form of event files.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth::telemetry {

[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);
// Rotated right by 15 bits plus a constant, so that a sum over bytes that hold a sum stays good.
[[nodiscard]] std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace berth::telemetry
