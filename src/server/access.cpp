#include "server/access.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/number.h"

namespace berth {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_but_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

bool is_address(std::string_view text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  const std::string name(text);
  return ::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

// "[::1]:80" is "::1", "localhost:80" is "localhost"; nothing if what follows is no port.
std::optional<std::string_view> without_port(std::string_view host) {
  std::size_t end = host.find(':');
  std::string_view name = host.substr(0, end);
  if (!host.empty() && host.front() == '[') {
    end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    name = host.substr(1, end - 1);
    ++end;
  }
  const std::string_view rest = host.substr(std::min(end, host.size()));
  if (rest.empty()) return name;
  if (rest.front() != ':') return std::nullopt;
  const std::string_view port = rest.substr(1);
  const bool digits =
      std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || port.size() > 5) return std::nullopt;
  return name;
}

}  // namespace

bool same_secret(std::string_view given, std::string_view secret) {
  if (secret.empty()) return false;
  // volatile: the compiler may not stop at the first difference.
  volatile unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto a = static_cast<unsigned char>(given[i]);
    const auto b = static_cast<unsigned char>(secret[i % secret.size()]);
    difference = difference | (a ^ b);
  }
  return difference == 0;
}

std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (!equal_but_case(authorization.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  return trim(authorization.substr(kScheme.size()));
}

bool is_own_host(std::string_view host, std::string_view bound_address) {
  const auto name = without_port(host);
  if (!name || name->empty()) return false;
  if (equal_but_case(*name, "localhost") || *name == "127.0.0.1" || *name == "::1") return true;
  const bool everywhere = bound_address == "0.0.0.0" || bound_address == "::";
  return everywhere ? is_address(*name) : equal_but_case(*name, bound_address);
}

bool is_own_origin(std::string_view origin, std::string_view host) {
  constexpr std::string_view kScheme = "http://";
  return !host.empty() && origin.substr(0, kScheme.size()) == kScheme &&
         equal_but_case(origin.substr(kScheme.size()), host);
}

}  // namespace berth
