// Talking to a scheduler that runs.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli.h"
#include "server/http.h"

namespace berth::cli {

using Json = nlohmann::ordered_json;

// Where `berth up` keeps its files if it is not told: /var/lib/berth of root, else
// $XDG_STATE_HOME/berth.
[[nodiscard]] std::string default_data_folder();
// Where it listens: in the data folder if that was named, of root in /run/berth, else as before.
[[nodiscard]] std::string socket_path(const Args& args);

// --data, --socket, --server, --token-file.
[[nodiscard]] std::vector<Option> server_options();
[[nodiscard]] std::vector<Option> with_server_options(std::vector<Option> options);

// The value of an option that is ADDRESS:PORT; `expected`: what the error says would be right.
[[nodiscard]] Result<HttpEndpoint> address_option(const Args& args, std::string_view name,
                                                  std::int64_t lowest_port,
                                                  std::string_view expected);
[[nodiscard]] Result<HttpEndpoint> endpoint_of(const Args& args);

// An answer of 2xx as JSON; anything else as an error with the scheduler's own words: wrong use
// where the request was at fault.
[[nodiscard]] Result<Json> ask(const Args& args, std::string_view method, std::string_view target,
                               std::string_view body = {});
// An answer that goes on.
[[nodiscard]] Status follow(const Args& args, std::string_view target,
                            const std::function<bool(std::string_view)>& piece);

// The numbers of the positional JOB.
[[nodiscard]] Result<std::vector<std::int64_t>> job_numbers(const Args& args);
// A word of a query, with what is special escaped.
[[nodiscard]] std::string escaped(std::string_view text);

// Prints one line of JSON where --json asks for it.
[[nodiscard]] Status print_json(const Args& args, const Json& json);

}  // namespace berth::cli
