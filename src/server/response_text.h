// Responses as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/http.h"

namespace berth {

enum class Framing : std::uint8_t {
  kLength,   // Content-Length
  kChunked,  // a stream
  kToEnd,    // a stream to a client of HTTP/1.0: ends with the connection
};

// Status line and header fields, to the empty line. Control characters in what the handler gave
// become spaces.
[[nodiscard]] std::string response_head(const HttpResponse& response, Framing framing,
                                        bool keep_alive);
// A piece of a stream; never the last one (which is empty).
void append_chunk(std::string& out, std::string_view piece);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// {"error": why}, as every refusal of the transport is answered.
[[nodiscard]] HttpResponse refusal_response(int status, std::string_view why);

}  // namespace berth
