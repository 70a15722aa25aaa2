// The request handler: whatever is asked by whomever, it answers, and with a status of its own.
#include "server/api.h"

#include <cstdlib>
#include <string>

#include "base/text.h"
#include "support/live_controller.h"

namespace {

// "METHOD TARGET WHO\nBODY": what the transport has parsed.
berth::HttpRequest request_of(std::string_view line, std::string_view body) {
  berth::HttpRequest out{.body = std::string(body)};
  const auto words = berth::split(line, ' ');
  out.method = words[0];
  const std::string_view target = words.size() > 1 ? words[1] : "";
  const std::size_t mark = target.find('?');
  for (const auto part : berth::split(target.substr(0, mark), '/')) {
    if (!part.empty()) out.path.emplace_back(part);
  }
  if (mark != std::string_view::npos) {
    for (const auto pair : berth::split(target.substr(mark + 1), '&')) {
      const std::size_t equals = pair.find('=');
      out.query.emplace_back(pair.substr(0, equals),
                             equals == std::string_view::npos ? "" : pair.substr(equals + 1));
    }
  }
  const std::string_view who = words.size() > 2 ? words[2] : "";
  if (who == "ann") out.peer = berth::Peer{.uid = 1000, .gid = 1000};
  if (who == "bob") out.peer = berth::Peer{.uid = 1001, .gid = 1001};
  if (who == "root") out.peer = berth::Peer{.uid = 0, .gid = 0, .admin = true};
  return out;
}

struct World {
  berth::testing::LiveController live;
  berth::Api api{{.allow_root = true, .look_ahead_us = 1'000},
                 *live.controller,
                 *live.store,
                 live.backend,
                 [] {}};
};

}  // namespace

// Requests are separated by a byte 0; between them the scheduler does what there is to do.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto* world = new World;
  static int left = 0;
  if (--left <= 0) {  // not all jobs of all runs
    delete world;
    world = new World;
    left = 200;
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto part : berth::split(text, '\0')) {
    const std::size_t end = part.find('\n');
    const auto body = end == std::string_view::npos ? "" : part.substr(end + 1);
    const berth::HttpResponse response = world->api.handle(request_of(part.substr(0, end), body));
    if (response.status < 200 || response.status > 599) std::abort();
    if (response.stream) {
      std::string out;
      (void)response.stream->read(out, 10'000);
    }
    world->live.turn(1);
    world->live.backend.let_leave();
    for (const std::string& key : world->live.backend.running()) world->live.backend.finish(key);
  }
  return 0;
}
