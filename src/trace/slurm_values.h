// How Slurm writes job ids, times, amounts of memory and resources: sacct(1), gres.conf(5),
// sbatch(1), of versions 17.11 to 24.05.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/maybe.h"
#include "trace/values.h"

namespace berth::trace {

struct SlurmJobId {
  std::string_view job;        // without the step: "511", "511_3", "45+1"
  std::string_view group;      // of a component of a heterogeneous job: "45"; else as `job`
  bool step = false;           // "511.batch", "511.0", "45+0.extern"
  bool component = false;      // "45+1"
  bool waiting_array = false;  // "512_[3-9%2]": tasks that have not been started
};
// Nothing if it is no job id.
[[nodiscard]] std::optional<SlurmJobId> parse_slurm_job_id(std::string_view text);

// "[[days-]hours:]minutes:seconds[.fraction]", "days-hours", "days-hours:minutes": to microseconds.
[[nodiscard]] const Fault* parse_slurm_duration(std::string_view text, MaybeInt& out);
// As parse_slurm_duration, and a plain number of minutes; UNLIMITED, Partition_Limit: unknown.
[[nodiscard]] const Fault* parse_slurm_limit(std::string_view text, MaybeInt& out);
// As parse_instant, and seconds since the epoch (SLURM_TIME_FORMAT=%s).
[[nodiscard]] const Fault* parse_slurm_time(std::string_view text, MaybeInt& out);
// "64G", "4000M", "1.5T", "512" (MiB): to MiB. Suffixes n and c ("per node", "per core") are left
// to the caller.
[[nodiscard]] const Fault* parse_slurm_memory(std::string_view text, MaybeInt& out);

// What a job or a node has of each resource. Unknown: not named.
struct SlurmResources {
  struct Gpus {
    std::string_view type;  // "" where none is named
    std::int64_t count = 0;
  };

  MaybeInt cpus;
  MaybeInt memory_mib;
  MaybeInt nodes;
  MaybeInt untyped_shards;  // the sum over all types, where it is written
  MaybeInt typed_shards;    // the sum over those of a type
  MaybeInt untyped_gpus;    // the sum over all types, where it is written
  std::vector<Gpus> typed;  // in the order of the text

  [[nodiscard]] std::int64_t gpus() const;    // 0 where none is named
  [[nodiscard]] std::int64_t shards() const;  // likewise
  // All of its GPUs are MIG slices: "1g.5gb", "a100_3g.40gb".
  [[nodiscard]] bool only_mig_slices() const;
  // "a100", "a100|v100"; "" where no type is named.
  [[nodiscard]] std::string types() const;
  void clear();
};

// "billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1". A GPU's memory and utilisation
// (gres/gpumem, gres/gpuutil) are no counts. `out` is replaced.
[[nodiscard]] const Fault* parse_slurm_tres(std::string_view text, SlurmResources& out);
// "gpu:a100:4(S:0-1),shard:16", "gpu:2", "gres:gpu:1", "(null)". `out` is replaced.
[[nodiscard]] const Fault* parse_slurm_gres(std::string_view text, SlurmResources& out);

}  // namespace berth::trace
