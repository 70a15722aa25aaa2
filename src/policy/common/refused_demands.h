// Demands that found no room: while room only shrinks, whatever asks for as much finds none either,
// so that a long queue is searched in few tries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/job.h"

namespace berth {

class RefusedDemands {
 public:
  // For whom cores and memory count: most give out whole GPUs whatever is left of them.
  enum class Host : std::uint8_t { kNobody, kShares, kEverybody };
  explicit RefusedDemands(Host host = Host::kShares) : host_(host) {}

  // Of a job, or of a part of one, that is placed as a whole.
  void add(const Job& job) { add(job, job.workers()); }
  // The same where already so many workers of the job would have found none.
  void add(const Job& job, std::uint32_t workers) {
    Demand demand = demand_of(job);
    demand.workers = workers;
    std::erase_if(demands_, [&](const Demand& known) { return as_much(known, demand); });
    demands_.push_back(demand);
  }
  [[nodiscard]] bool contains(const Job& job) const {
    const Demand demand = demand_of(job);
    return std::ranges::any_of(demands_,
                               [&](const Demand& known) { return as_much(demand, known); });
  }

 private:
  struct Demand {
    GpuTypeMask types = 0;
    std::uint32_t gpu_milli = 0;
    std::uint32_t gpu_memory_mib = 0;
    std::uint32_t workers = 0;
    std::uint32_t cpu_milli = 0;
    std::uint32_t memory_mib = 0;
  };

  [[nodiscard]] Demand demand_of(const Job& job) const {
    Demand out{.types = job.gpu_types,
               .gpu_milli = job.gpu_milli_per_task,
               .gpu_memory_mib = job.gpu_memory_mib_per_task,
               .workers = job.workers()};
    if (host_ == Host::kEverybody ||
        (host_ == Host::kShares && job.gpu_milli_per_task < kWholeGpuMilli)) {
      out.cpu_milli = job.cpu_milli_per_task;
      out.memory_mib = job.memory_mib_per_task;
    }
    return out;
  }
  [[nodiscard]] static bool as_much(const Demand& more, const Demand& less) {
    return (more.types & ~less.types) == 0 && more.gpu_milli >= less.gpu_milli &&
           more.gpu_memory_mib >= less.gpu_memory_mib && more.workers >= less.workers &&
           more.cpu_milli >= less.cpu_milli && more.memory_mib >= less.memory_mib;
  }

  Host host_;
  std::vector<Demand> demands_;  // none asks for as much as another
};

}  // namespace berth
