// A trace as a page: load over time, its week, its distributions, what was rejected.
#pragma once

#include <string>

#include "trace/reader.h"

namespace berth::report {

[[nodiscard]] std::string trace_page(const trace::ReadResult& result);

}  // namespace berth::report
