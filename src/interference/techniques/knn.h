// k nearest neighbours by Euclidean distance, each weighted by the inverse of its distance; rows at
// distance zero decide alone. Neighbours are found by looking at every row: exact, and for the
// thousands of rows that there are, faster than walking an index.
#pragma once

#include "interference/technique.h"

namespace berth::interference {

[[nodiscard]] TechniqueInfo knn_technique();

}  // namespace berth::interference
