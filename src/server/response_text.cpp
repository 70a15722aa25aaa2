#include "server/response_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <nlohmann/json.hpp>

namespace berth {
namespace {

std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return line;
}

bool has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

}  // namespace

std::string response_head(const HttpResponse& response, Framing framing, bool keep_alive) {
  const auto reason =
      boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(response.status));
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nX-Content-Type-Options: nosniff\r\n",
                                 response.status, std::string_view(reason.data(), reason.size()));
  auto add = [&head](std::string_view name, std::string_view value) {
    head += fmt::format("{}: {}\r\n", one_line(name), one_line(value));
  };
  if (!response.content_type.empty() && has_body(response.status)) {
    add("Content-Type", response.content_type);
  }
  for (const auto& [name, value] : response.headers) add(name, value);
  if (framing == Framing::kChunked) add("Transfer-Encoding", "chunked");
  if (framing == Framing::kLength && has_body(response.status)) {
    add("Content-Length", std::to_string(response.body.size()));
  }
  add("Connection", keep_alive ? "keep-alive" : "close");
  return head += "\r\n";
}

void append_chunk(std::string& out, std::string_view piece) {
  if (piece.empty()) return;
  out += fmt::format("{:x}\r\n", piece.size());
  out += piece;
  out += "\r\n";
}

HttpResponse refusal_response(int status, std::string_view why) {
  HttpResponse response;
  response.status = status;
  response.body = nlohmann::json{{"error", {{"message", why}}}}.dump() + "\n";
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace berth
