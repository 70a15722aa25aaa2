// What is free but not for everybody.
#pragma once

#include "base/ids.h"
#include "model/cluster.h"

namespace berth {

// What is free of some GPU types is kept for this job.
struct KeptRoom {
  JobId job;
  GpuTypeMask types = 0;
};

}  // namespace berth
