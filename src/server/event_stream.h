// What happens, as server-sent events.
#pragma once

#include <cstdint>
#include <memory>

#include "controller/event_ring.h"
#include "server/http.h"

namespace berth {

// Those after `sequence`, as they come. `ring` must outlive it.
[[nodiscard]] std::unique_ptr<HttpStream> event_stream(const EventRing& ring,
                                                       std::uint64_t sequence);

}  // namespace berth
