// Reading and writing job specifications: the YAML of people, the JSON of programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jobspec/job_spec.h"

namespace berth {

inline constexpr std::size_t kMaxJobFileBytes = 4 << 20;
// The kernel refuses a longer argument or variable, and more of all of them together.
inline constexpr std::size_t kMaxArgumentBytes = 128 * 1024 - 1;
inline constexpr std::size_t kMaxArgumentsBytes = 1536 * 1024;
inline constexpr std::uint32_t kMaxTasksPerJob = 4096;

// One job a YAML document, several documents a file. Keys are those of the JSON schema
// (job_schema()); an unknown key, a wrong type, an ambiguous number (010, 1_000) is an error that
// names file, line, field, what was found and what would be right. `directory` stands for a
// relative one, and for one that is missing.
[[nodiscard]] Result<std::vector<JobSpec>> read_job_yaml(std::string_view text,
                                                         const std::string& file,
                                                         const std::string& directory);

// The same keys as a JSON object. What is written is read back equal.
[[nodiscard]] Result<JobSpec> read_job_json(std::string_view text);
[[nodiscard]] std::string job_json(const JobSpec& spec);

// What no file format can say by itself: command there, sizes within the kernel's limits, graph
// without cycles, values in their ranges. Readers call it; so does whoever builds a JobSpec by
// hand.
[[nodiscard]] Status check_job(const JobSpec& spec);

// JSON schema (draft 2020-12) of a job file, for editors.
[[nodiscard]] std::string_view job_schema();

}  // namespace berth
