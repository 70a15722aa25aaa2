#include "client.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "output.h"

namespace berth::cli {
namespace {

constexpr std::string_view kRunSocket = "/run/berth/berth.sock";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_socket(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

Result<std::string> read_token(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  if (!file || !std::getline(file, token)) return fail(open_error(path, errno));
  return token;
}

Error server_error(const HttpReply& reply) {
  const Json json = Json::parse(reply.body, nullptr, false);
  std::string message = fmt::format("the scheduler answered {}", reply.status);
  Error error;
  if (json.is_object() && json.contains("error") && json["error"].is_object()) {
    const Json& told = json["error"];
    if (told.contains("message") && told["message"].is_string()) {
      message = told["message"].get<std::string>();
    }
  }
  error.kind = reply.status >= 500 ? ErrorKind::kIo : ErrorKind::kUsage;
  error.message = std::move(message);
  return error;
}

}  // namespace

std::string default_data_folder() {
  if (geteuid() == 0) return "/var/lib/berth";
  std::string base = environment("XDG_STATE_HOME");
  if (base.empty()) base = environment("HOME") + "/.local/state";
  return base + "/berth";
}

std::string socket_path(const Args& args) {
  if (args.has("--socket")) return args.text("--socket");
  if (args.has("--data")) return args.text("--data") + "/berth.sock";
  if (geteuid() == 0) return std::string(kRunSocket);
  return default_data_folder() + "/berth.sock";
}

std::vector<Option> server_options() {
  return {
      {.name = "--data",
       .metavar = "DIR",
       .help = "folder of the scheduler, as `berth up --data` has it"},
      {.name = "--socket", .metavar = "F", .help = "its Unix socket; or $BERTH_SOCKET"},
      {.name = "--server", .metavar = "ADDRESS:PORT", .help = "over TCP, with a token"},
      {.name = "--token-file", .metavar = "F", .help = "token for --server; or $BERTH_TOKEN_FILE"}};
}

std::vector<Option> with_server_options(std::vector<Option> options) {
  for (Option& option : server_options()) options.push_back(option);
  options.push_back(
      {.name = "--json", .metavar = "F", .help = "the answer as JSON; -: to standard output"});
  return options;
}

Result<HttpEndpoint> address_option(const Args& args, std::string_view name,
                                    std::int64_t lowest_port, std::string_view expected) {
  const std::string text = args.text(name);
  const std::size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : parse_int(text.substr(colon + 1));
  if (!port || *port < lowest_port || *port > 65'535 || colon == 0) {
    Error error = usage_error("not an address", std::string(name));
    error.found = printable(text);
    error.expected = expected;
    return fail(std::move(error));
  }
  return HttpEndpoint{.address = text.substr(0, colon), .port = static_cast<std::uint16_t>(*port)};
}

Result<HttpEndpoint> endpoint_of(const Args& args) {
  if (args.has("--server")) {
    BERTH_TRY(HttpEndpoint endpoint,
              address_option(args, "--server", 1, "ADDRESS:PORT, as 127.0.0.1:7117"));
    const std::string file =
        args.has("--token-file") ? args.text("--token-file") : environment("BERTH_TOKEN_FILE");
    if (file.empty()) {
      return fail(usage_error("is needed with --server; the scheduler keeps it in DATA/token",
                              "--token-file"));
    }
    BERTH_TRY(endpoint.token, read_token(file));
    return endpoint;
  }
  if (args.has("--socket") || args.has("--data"))
    return HttpEndpoint{.unix_path = socket_path(args)};
  if (const std::string named = environment("BERTH_SOCKET"); !named.empty()) {
    return HttpEndpoint{.unix_path = named};
  }
  // One's own scheduler first, then that of the machine.
  const std::string own = default_data_folder() + "/berth.sock";
  if (is_socket(own)) return HttpEndpoint{.unix_path = own};
  if (is_socket(std::string(kRunSocket))) return HttpEndpoint{.unix_path = std::string(kRunSocket)};
  Error error{.kind = ErrorKind::kIo, .message = "no scheduler runs here"};
  error.expected =
      "one started by `berth up`, or named by --data, --socket, --server or $BERTH_SOCKET";
  return fail(std::move(error));
}

Result<Json> ask(const Args& args, std::string_view method, std::string_view target,
                 std::string_view body) {
  BERTH_TRY(const HttpEndpoint endpoint, endpoint_of(args));
  BERTH_TRY(const HttpReply reply, http_request(endpoint, method, target, body));
  if (reply.status < 200 || reply.status > 299) return fail(server_error(reply));
  Json json = Json::parse(reply.body, nullptr, false);
  if (json.is_discarded())
    return fail(Error{.kind = ErrorKind::kIo, .message = "what answered is not a scheduler"});
  return json;
}

Status follow(const Args& args, std::string_view target,
              const std::function<bool(std::string_view)>& piece) {
  BERTH_TRY(const HttpEndpoint endpoint, endpoint_of(args));
  BERTH_TRY(const HttpReply reply, http_follow(endpoint, target, piece));
  if (reply.status < 200 || reply.status > 299) return fail(server_error(reply));
  return {};
}

Result<std::vector<std::int64_t>> job_numbers(const Args& args) {
  std::vector<std::int64_t> out;
  for (const std::string& text : args.list("JOB")) {
    const auto number = parse_int(text);
    if (!number || *number <= 0) {
      Error error = usage_error("not the number of a job", "JOB");
      error.found = fmt::format("'{}'", printable(text));
      error.expected = "as `berth jobs` shows them";
      return fail(std::move(error));
    }
    out.push_back(*number);
  }
  if (out.empty()) return fail(usage_error("the number of a job is needed", "JOB"));
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '_' || c == '.';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

Status print_json(const Args& args, const Json& json) {
  return write_output(args.text("--json"),
                      json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace berth::cli
