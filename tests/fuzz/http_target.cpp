// Targets of requests from arbitrary bytes. What is accepted has no way out of the tree, and is
// text that JSON can hold.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/utf8.h"
#include "server/access.h"
#include "server/target.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_clean(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
  }
  return berth::is_utf8(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // The other headers that are read: whatever they are, an own host stays what it is.
  if (berth::is_own_host(bytes, "10.0.0.7"))
    require(berth::is_own_origin("http://" + std::string(bytes), bytes));
  require(berth::same_secret(bytes, bytes) == !bytes.empty());
  if (const auto token = berth::bearer_token(bytes)) require(token->size() + 7 <= size);

  const auto target = berth::parse_target(bytes);
  if (!target) return 0;
  require(size <= berth::kMostTargetBytes && !bytes.empty() && bytes.front() == '/');
  for (const std::string& segment : target->path) {
    require(!segment.empty() && segment != "." && segment != ".." && is_clean(segment));
    require(segment.find('/') == std::string::npos);
  }
  require(target->query.size() <= berth::kMostParameters);
  for (const auto& [name, value] : target->query) require(is_clean(name) && is_clean(value));
  return 0;
}
