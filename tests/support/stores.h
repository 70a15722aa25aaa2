// Records for tests of the store, and children that are killed while they write.
#pragma once

#include <functional>

#include "base/random.h"
#include "store/store.h"

namespace berth::testing {

// Every field drawn, text with NUL bytes and bytes that are not UTF-8 among them.
[[nodiscard]] JobRecord random_job(Rng& rng);
[[nodiscard]] AttemptRecord random_attempt(Rng& rng, JobNumber job, std::uint32_t attempt);
// All fields as text: equal records are equal text.
[[nodiscard]] std::string as_text(const JobRecord& job);
[[nodiscard]] std::string as_text(const AttemptRecord& attempt);

// Runs `work` in a child process, which ends with what it returns. The status as of waitpid().
[[nodiscard]] int in_child(const std::function<int()>& work);

}  // namespace berth::testing
