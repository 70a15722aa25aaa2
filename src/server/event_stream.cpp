#include "server/event_stream.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace berth {
namespace {

class EventStream final : public HttpStream {
 public:
  EventStream(const EventRing& ring, std::uint64_t sequence)
      // Of another run of the scheduler: from the first that is there.
      : ring_(ring), next_after_(sequence > ring.last() ? 0 : sequence) {}

  bool read(std::string& out, std::size_t max_bytes) override {
    // A comment first, so that the client sees that it is connected.
    if (std::exchange(greet_, false)) out += ": events of this scheduler\n\n";
    const std::size_t from = out.size();
    while (out.size() - from < max_bytes) {
      const LiveEvent* event = ring_.after(next_after_);
      if (event == nullptr) break;
      nlohmann::ordered_json json = {{"event", event->kind},
                                     {"unix_s", static_cast<double>(event->unix_us) / 1e6},
                                     {"job", nullptr},
                                     {"attempt", nullptr},
                                     {"detail", event->detail}};
      if (event->job > 0) json["job"] = event->job;
      if (event->attempt > 0) json["attempt"] = event->attempt;
      out +=
          fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event->sequence, event->kind,
                      json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
      next_after_ = event->sequence;
    }
    return true;
  }

 private:
  const EventRing& ring_;
  std::uint64_t next_after_;
  bool greet_ = true;
};

}  // namespace

std::unique_ptr<HttpStream> event_stream(const EventRing& ring, std::uint64_t sequence) {
  return std::make_unique<EventStream>(ring, sequence);
}

}  // namespace berth
