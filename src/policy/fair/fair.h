// Equal shares between jobs, as the fair scheduler under TensorFlow on Borg is described (Verma et
// al., EuroSys 2015; the baseline "TensorFlow" of MLFS, CoNEXT 2020): max-min fair over time.
//
// A gang cannot be given a part of its GPUs, so shares are shares of time: the job goes first that
// has had the fewest GPUs on average since it was submitted. One whose demand is below the equal
// share always runs; wider ones take turns until all have had the same. Preemptive, with a quantum.
// A job that was never served goes before all that were, so nobody starves.
#pragma once

#include "policy/policy.h"

namespace berth {

[[nodiscard]] Result<std::unique_ptr<Policy>> make_fair(std::span<const PolicyOption> options);

}  // namespace berth
