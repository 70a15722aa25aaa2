// Jobs drawn at random, every field at its bounds now and then.
#pragma once

#include "base/random.h"
#include "jobspec/job_spec.h"

namespace berth::test {

[[nodiscard]] JobSpec random_job_spec(Rng& rng);

}  // namespace berth::test
