// Words of a job file that stand for values, shared by its reader and its writer.
#pragma once

#include <array>
#include <string_view>

#include "model/job.h"

namespace berth {

// By StopOption.
inline constexpr std::array<std::string_view, 3> kStopWords = {"iterations", "opt-stop",
                                                               "accuracy"};
inline constexpr std::array<std::string_view, 6> kSignalWords = {"USR1", "USR2", "INT",
                                                                 "TERM", "HUP",  "none"};

}  // namespace berth
