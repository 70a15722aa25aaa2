// Lists of nodes: whatever they say, a cluster within bounds or one error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "trace/node_lists.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto parse : {berth::trace::parse_scontrol_nodes, berth::trace::parse_philly_machines,
                           berth::trace::parse_openb_nodes}) {
    const auto cluster = parse(text, "nodes");
    if (!cluster) continue;
    std::size_t gpus = 0;
    for (const auto& server : cluster->servers) {
      gpus += server.gpus;
      if (server.gpu_type.index() >= cluster->gpu_types.size()) std::abort();
    }
    if (gpus != cluster->gpus() || cluster->servers.empty()) std::abort();
  }
  return 0;
}
