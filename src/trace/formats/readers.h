// Every reader: one line here, one in registry.cpp, one file in this folder.
#pragma once

#include "trace/registry.h"

namespace berth::trace {

extern const Reader kBerthReader;
extern const Reader kPhillyCsvReader;

}  // namespace berth::trace
