// Minimum of a smooth function of few variables within bounds.
#pragma once

#include <functional>

#include "interference/technique.h"

namespace berth::interference {

// The value at a point; sets the gradient, which comes with the right size. May be infinite.
using Objective = std::function<double(const Vector& point, Vector& gradient)>;

struct MinimiseOptions {
  int max_evaluations = 50;
  double gradient_tolerance = 1e-3;  // largest slope that is no reason to go on
  double relative_decrease = 1e-5;   // a step that gains less is the last one
  double max_step = 2.0;             // of any variable
};

struct Minimum {
  Vector point;
  double value = 0.0;
  int evaluations = 0;
};

// Limited-memory BFGS (Nocedal and Wright, "Numerical Optimization", algorithm 7.4) with projection
// onto the box: variables that their slope pushes against a bound stay there; steps are halved
// until the value falls enough. A local minimum, always the same one for the same start.
[[nodiscard]] Minimum minimise(const Objective& objective, Vector start, const Vector& low,
                               const Vector& high, const MinimiseOptions& options);

}  // namespace berth::interference
