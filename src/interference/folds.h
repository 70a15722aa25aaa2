// Which rows are trained on and which are tested. Rows of one set of jobs always stay together:
// whoever saw (a beside b) nearly knows (b beside a).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "interference/dataset.h"

namespace berth::interference {

enum class FoldKind : std::uint8_t {
  kPair,  // a fold is a set of job sets; all rows of a set are in training or in the test
  kJob,   // no row that names the job is in training; the rows with it as subject are the test
};

struct Fold {
  std::vector<std::size_t> train;  // positions in Dataset::rows, ascending
  std::vector<std::size_t> test;
};

// One way to divide the rows; a row is tested once, or never (kJob: never a job that is subject
// nowhere).
struct Folding {
  std::vector<Fold> folds;
};

struct FoldPlan {
  FoldKind kind = FoldKind::kPair;
  std::vector<Folding> foldings;  // results are averaged over them
};

// The number of the set of jobs {subject, co-runners...} of each row, on whatever device; 0, 1, ...
// in order of first appearance.
[[nodiscard]] std::vector<std::uint32_t> group_by_pair(const Dataset& data);

// "pair": leave one set of jobs out; "job": leave one job out; a number K: K-fold by pair;
// otherwise a file with a row for each data row and a column for each folding. Errors: too few
// pairs or jobs, a file that does not fit or that divides a pair.
[[nodiscard]] Result<FoldPlan> make_folds(const Dataset& data, const std::string& how, Rng rng);

// The folds of a selection inside training rows: `count` parts by pair, or by job (rows that name
// any job of the part are out of training; rows with one as subject are tested). Fewer parts when
// there are fewer groups; empty if there is nothing to divide.
[[nodiscard]] Folding inner_folds(const Dataset& data, const std::vector<std::size_t>& rows,
                                  FoldKind kind, std::size_t count, Rng rng);

}  // namespace berth::interference
