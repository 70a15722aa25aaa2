// Answers that go on: what happens, and a log that grows.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "controller/event_ring.h"
#include "server/http.h"

namespace berth {

// Server-sent events after `sequence`, as they come. `ring` must outlive it.
[[nodiscard]] std::unique_ptr<HttpStream> event_stream(const EventRing& ring,
                                                       std::uint64_t sequence);

struct LogPart {
  std::string path;              // the newer part; path + ".1" is what was before it
  std::int64_t tail_bytes = -1;  // only so much of the end; -1: all
  // Whether the job may still write; null: what is there now is all that is wanted.
  std::function<bool()> grows;
};

// Nothing has been printed yet: it is empty so far. An error: what is there is not a plain file.
[[nodiscard]] Result<std::unique_ptr<HttpStream>> log_stream(const LogPart& part);

}  // namespace berth
