// Real jobs for people: the answers of a scheduler as tables and sentences.
#pragma once

#include <string>

#include "client.h"

namespace berth::cli {

[[nodiscard]] std::string jobs_table(const Json& jobs);
[[nodiscard]] std::string job_page(const Json& job);
[[nodiscard]] std::string why_page(const Json& why);
[[nodiscard]] std::string nodes_table(const Json& nodes);
[[nodiscard]] std::string status_line(const Json& status);

}  // namespace berth::cli
