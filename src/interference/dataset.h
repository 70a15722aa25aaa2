// Measured co-locations: who ran beside whom on which device, and how much slower it was.
//
// A CSV with the columns `device, subject, corunners` (joined by +), numeric parameters, and
// `alone, shared` (seconds an iteration) or `interference_rate`. Parameters: `solo.<name>` of the
// subject alone; `co.<name>` of the co-runners alone, joined by + in their order; `shared.<name>`
// of the device during the co-run; a name without one of these prefixes is a figure of the co-run
// too.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/string_pool.h"
#include "interference/pair_gp.h"
#include "trace/reject.h"

namespace berth::interference {

// A value that was not measured, in every table of this folder. Never 0.
inline constexpr double kMissingValue = std::numeric_limits<double>::quiet_NaN();

struct Row {
  std::uint64_t line = 0;   // in the file
  std::uint64_t index = 0;  // 0 = first data row of the file, rejected ones counted
  std::uint32_t device = 0;
  JobIndex subject = kNoJob;
  std::vector<JobIndex> corunners;      // sorted, at least one
  std::vector<double> solo;             // by Dataset::solo
  std::vector<std::vector<double>> co;  // per co-runner, by Dataset::co
  std::vector<double> shared;           // by Dataset::shared
  double rate = 0;                      // (shared - alone) / alone, > -1
};

struct Dataset {
  std::string source;
  NameTable devices;
  NameTable jobs;
  std::vector<std::string> solo;    // names without the prefix, in the order of the file
  std::vector<std::string> co;      //
  std::vector<std::string> shared;  //
  std::vector<Row> rows;
  bool has_rates = true;        // false: read to be predicted only
  std::uint64_t file_rows = 0;  // with rejected ones
};

struct DatasetResult {
  Dataset data;
  trace::RejectReport report;
};

// Whether the rate must be there: yes to learn, no to predict.
enum class RateColumn : std::uint8_t { kRequired, kOptional };

// Errors: a file that cannot be read, an empty one, a column that is missing or there twice, a file
// without one usable row. A damaged row is rejected and reported. Reads compressed files too.
[[nodiscard]] Result<DatasetResult> read_dataset(const std::string& path,
                                                 RateColumn rate = RateColumn::kRequired);
// The same over bytes in memory; `name` stands in messages.
[[nodiscard]] Result<DatasetResult> parse_dataset(std::string name, std::string_view bytes,
                                                  RateColumn rate = RateColumn::kRequired);

}  // namespace berth::interference
