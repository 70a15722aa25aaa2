// Every reader: one line here, one in registry.cpp, one file in this folder.
#pragma once

#include "trace/registry.h"

namespace berth::trace {

extern const Reader kAcmeReader;
extern const Reader kBerthReader;
extern const Reader kGavelReader;
extern const Reader kHeliosReader;
extern const Reader kOpenbReader;
extern const Reader kPaiReader;
extern const Reader kPhillyCsvReader;
extern const Reader kPhillyJsonReader;
extern const Reader kSacctReader;
extern const Reader kSwfReader;

}  // namespace berth::trace
