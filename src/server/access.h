// Who may ask at all: secrets, and what keeps other people's web pages from asking through a
// browser on this machine.
#pragma once

#include <optional>
#include <string_view>

namespace berth {

// In a time that depends on the length of `given` alone. An empty secret is nobody's.
[[nodiscard]] bool same_secret(std::string_view given, std::string_view secret);

// The token of "Bearer TOKEN"; the scheme in any case.
[[nodiscard]] std::optional<std::string_view> bearer_token(std::string_view authorization);

// Whether a Host header names this machine's own port and not a name that somebody made to point
// here (DNS rebinding): localhost, 127.0.0.1, [::1] or the address that the server is bound to; one
// bound to every address accepts any IP address. The port does not matter.
[[nodiscard]] bool is_own_host(std::string_view host, std::string_view bound_address);

// Whether an Origin header names the page's server as the one asked: "http://HOST" of the request.
[[nodiscard]] bool is_own_origin(std::string_view origin, std::string_view host);

}  // namespace berth
