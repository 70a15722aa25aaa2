// The bytes of a connection, whole and cut into pieces: the same requests and the same refusal come
// of both, within the limits.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/request_reader.h"

namespace {

using namespace berth;  // NOLINT(google-build-using-namespace)
using State = RequestReader::State;

void require(bool holds) {
  if (!holds) std::abort();
}

const HttpLimits& small_limits() {
  static const HttpLimits limits = [] {
    HttpLimits small;
    small.header_bytes = 2048;
    small.body_bytes = 512;
    small.buffered_bytes = 400;
    return small;
  }();
  return limits;
}

// Reads all in pieces of `step` bytes; says what came of it.
std::string read_in(std::string_view bytes, std::size_t step) {
  BodyBudget budget{.used = 0, .limit = small_limits().buffered_bytes};
  std::string heard;
  {
    RequestReader reader(small_limits(), budget);
    std::string input;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      input += bytes.substr(at, step);
      State state = State::kComplete;
      while (state == State::kComplete) {
        state = reader.read(input);
        (void)reader.take_continue();
        require(budget.used <= budget.limit);
        if (state == State::kRefused) {
          require(reader.refusal().status >= 400 && !reader.refusal().why.empty());
          return heard + std::to_string(reader.refusal().status);
        }
        if (state != State::kComplete) break;
        const RawRequest request = reader.take();
        require(request.body.size() <= small_limits().body_bytes);
        require(request.target.size() <= small_limits().header_bytes);
        heard += request.method + ' ' + request.target + ' ' + request.host + ' ' + request.body +
                 (request.keep_alive ? "+\n" : "-\n");
      }
      // What is left is less than what another limit would have refused.
      require(input.size() <= small_limits().header_bytes + (4 << 10));
    }
  }
  require(budget.used == 0);
  return heard;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 16'384) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string one_by_one = read_in(bytes, 1);
  require(read_in(bytes, 7) == one_by_one);
  require(read_in(bytes, 1000) == one_by_one);
  return 0;
}
