// berth up: the scheduler of real jobs on this machine.
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "backend/local/local_backend.h"
#include "base/atomic_file.h"
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "client.h"
#include "commands.h"
#include "console.h"
#include "controller/controller.h"
#include "jobspec/units.h"
#include "run_setup.h"
#include "server/api.h"
#include "store/store.h"
#include "trace/cluster_file.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kServeBudgetUs = 20'000;
constexpr TimeUs kMostIdleUs = kUsPerS;
constexpr TimeUs kStreamsEveryUs = kUsPerS / 10;  // logs may have grown without an event
constexpr TimeUs kPruneEveryUs = kUsPerHour;

struct UpSettings {
  std::string data;
  std::string socket;
  ControllerOptions controller;
  LocalOptions backend;
  HttpOptions http;
  ApiOptions api;
  std::int64_t keep_jobs = 0;
  bool quiet = false;
};

// Private: the store holds what users gave their jobs. Jobs of other users must pass through it to
// their own folders, so that it may be entered but not read where the scheduler is root.
Status make_folder(const std::string& path, mode_t mode) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const mode_t mask = umask(0);
  const int made = mkdir(path.c_str(), mode);
  const int why = errno;
  umask(mask);
  if (made != 0 && why != EEXIST) {
    return fail(io_error(path, fmt::format("cannot be made: {}", std::strerror(errno))));
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return fail(io_error(path, "is not a folder"));
  }
  return {};
}

Result<std::string> token_of(const std::string& path) {
  std::string token;
  if (std::ifstream file(path); file && std::getline(file, token) && token.size() >= 32) {
    return token;
  }
  std::array<unsigned char, 32> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return fail(io_error("getrandom", "gave no random bytes"));
  }
  token.clear();
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  BERTH_TRY(AtomicFile file, AtomicFile::create(path));
  BERTH_CHECK_OK(file.write(token + "\n"));
  BERTH_CHECK_OK(file.commit());
  return token;
}

Status read_listen(const Args& args, HttpOptions& out) {
  if (args.text("--listen") == "none") return {};
  BERTH_TRY(const HttpEndpoint endpoint,
            address_option(args, "--listen", 0, "ADDRESS:PORT, as 127.0.0.1:7117, or none"));
  out.tcp_address = endpoint.address;
  out.tcp_port = endpoint.port;
  return {};
}

Result<TimeUs> span_option(const Args& args, std::string_view name) {
  const std::string text = args.text(name);
  const auto span_us = parse_span_us(text);
  if (span_us) return *span_us;
  Error error = usage_error("not a length of time", std::string(name));
  error.found = fmt::format("'{}'", printable(text));
  error.expected = kSpanExample;
  return fail(std::move(error));
}

Result<UpSettings> read_settings(const Args& args) {
  UpSettings out;
  out.data =
      std::filesystem::absolute(args.has("--data") ? args.text("--data") : default_data_folder())
          .lexically_normal();
  out.socket = socket_path(args);
  constexpr std::array<std::string_view, 1> kBackends = {"local"};
  BERTH_TRY([[maybe_unused]] const std::string backend, args.choice("--backend", kBackends));
  out.controller.policy = args.text("--policy");
  BERTH_TRY(out.controller.policy_options, set_options(args));
  BERTH_TRY(const std::int64_t seed,
            args.integer("--seed", 0, std::numeric_limits<std::int64_t>::max()));
  out.controller.seed = static_cast<std::uint64_t>(seed);
  if (args.has("--cores-beside-gpus")) {
    BERTH_TRY(out.controller.slots.cores_beside_gpus,
              args.integer("--cores-beside-gpus", 0, 100'000));
  }
  BERTH_TRY(out.controller.resize_after_us, span_option(args, "--resize-after"));
  if (args.has("--cluster")) {
    BERTH_TRY(out.backend.cluster, trace::load_cluster(args.text("--cluster")));
  }
  out.backend.data_folder = out.data;
  out.backend.allow_root = args.flag("--allow-root");
  out.backend.limits = !args.flag("--no-limits");
  out.http.unix_path = out.socket;
  BERTH_CHECK_OK(read_listen(args, out.http));
  BERTH_TRY(out.keep_jobs, args.integer("--keep", 0, 1'000'000'000));
  out.api.allow_root = out.backend.allow_root;
  out.api.server_uid = geteuid();
  out.api.version = BERTH_VERSION;
  out.quiet = args.flag("--quiet");
  return out;
}

// What happens, one line each, as a service's log has it.
class EventPrinter {
 public:
  EventPrinter(const Controller& controller, bool quiet) : controller_(controller), quiet_(quiet) {}

  void print() {
    if (quiet_) return;
    while (const LiveEvent* event = controller_.events().after(last_)) {
      last_ = event->sequence;
      std::string line = fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}",
                                     fmt::gmtime(event->unix_us / kUsPerS), event->kind);
      if (event->job > 0) line += fmt::format(" job={}", event->job);
      if (event->attempt > 0) line += fmt::format(" attempt={}", event->attempt);
      if (!event->detail.empty()) line += " " + printable(event->detail, 400);
      print_err(line + "\n");
    }
    if (controller_.trouble() != trouble_) {
      trouble_ = controller_.trouble();
      print_err(trouble_.empty() ? "the store can be written again\n"
                                 : "nothing is started: " + trouble_ + "\n");
    }
  }

 private:
  const Controller& controller_;
  bool quiet_;
  std::uint64_t last_ = 0;
  std::string trouble_;
};

void tell_where(const UpSettings& settings, const Controller& controller, const HttpServer& http) {
  std::string what;
  const Cluster& cluster = controller.slots().cluster();
  for (const Server& server : cluster.servers) {
    const std::string& type = cluster.gpu_types[server.gpu_type.index()].name;
    what += fmt::format("{}{} ({})", what.empty() ? "" : ", ", printable(server.name),
                        type == kCoreType ? counted(server.gpus, "core")
                                          : counted(server.gpus, type.empty() ? "GPU" : type));
  }
  print_err(fmt::format("berth up: policy {} on {}\n", settings.controller.policy, what));
  print_err(fmt::format("listening on {}", settings.socket));
  if (!settings.http.tcp_address.empty()) {
    print_err(fmt::format(" and http://{}:{} (token in {}/token)", settings.http.tcp_address,
                          http.tcp_port(), settings.data));
  }
  print_err("\n");
}

Status serve(const UpSettings& settings) {
  const std::atomic<bool>& interrupted = catch_interrupts();
  signal(SIGPIPE, SIG_IGN);
  umask(077);
  BERTH_CHECK_OK(make_folder(settings.data, geteuid() == 0 ? 0711 : 0700));
  BERTH_TRY(const std::unique_ptr<Store> store, Store::open(settings.data + "/berth.db"));
  BERTH_TRY(const std::unique_ptr<LocalBackend> backend, make_local_backend(settings.backend));
  BERTH_TRY(const std::unique_ptr<Controller> controller,
            Controller::open(settings.controller, *store, *backend));
  bool ending = false;
  Api api(settings.api, *controller, *store, *backend, [&] { ending = true; });
  HttpOptions http_options = settings.http;
  http_options.token_peer = {.uid = geteuid(), .gid = getegid(), .admin = true};
  if (!http_options.tcp_address.empty()) {
    BERTH_TRY(http_options.token, token_of(settings.data + "/token"));
  }
  if (const std::string folder = std::filesystem::path(settings.socket).parent_path();
      folder != settings.data && !folder.empty()) {
    BERTH_CHECK_OK(make_folder(folder, 0755));
  }
  auto opened = HttpServer::open(http_options,
                                 [&](const HttpRequest& request) { return api.handle(request); });
  if (!opened) {
    Error error = std::move(opened).error();
    if (error.expected.empty() && !http_options.tcp_address.empty()) {
      error.expected = "another --listen ADDRESS:PORT, or --listen none for the socket alone";
    }
    return fail(std::move(error));
  }
  const std::unique_ptr<HttpServer> http = std::move(*opened);
  http->watch(backend->event_fd());
  tell_where(settings, *controller, *http);
  for (const std::string& line : backend->limits()) print_err("limits: " + line + "\n");
  EventPrinter printer(*controller, settings.quiet);
  std::uint64_t told_before = 0;
  TimeUs next_streams_us = 0;
  TimeUs next_prune_us = controller->clock().now_us() + kPruneEveryUs;
  while (!interrupted && !ending) {
    http->wait(controller->idle_us(http->streams() > 0 ? kStreamsEveryUs : kMostIdleUs));
    http->poll(kServeBudgetUs);
    controller->poll();
    printer.print();
    const TimeUs now_us = controller->clock().now_us();
    const std::uint64_t told = controller->events().last();
    if (told != told_before || now_us >= next_streams_us) {
      http->wake_streams();
      told_before = told;
      next_streams_us = now_us + kStreamsEveryUs;
    }
    if (controller->clock().now_us() >= next_prune_us) {
      next_prune_us += kPruneEveryUs;
      if (const auto pruned = store->prune(settings.keep_jobs); !pruned) {
        print_err(pruned.error().text() + "\n");
      }
    }
  }
  http->poll(kServeBudgetUs);  // the answer to who asked for the end
  print_err("ending; jobs that run go on, and are found again by the next `berth up`\n");
  return controller->settle();
}

int run(const Args& args) {
  const Result<UpSettings> settings = read_settings(args);
  if (!settings) return report_error(settings.error());
  const Status status = serve(*settings);
  return status ? kDone : report_error(status.error());
}

}  // namespace

Command up_command_info() {
  return {
      .path = "up",
      .summary = "run jobs on this machine: the scheduler, until it is interrupted",
      .example = "berth up --data ~/berth --policy berth",
      .options =
          {{.name = "--data",
            .metavar = "DIR",
            .help = "its files; by default /var/lib/berth of root, else ~/.local/state/berth"},
           {.name = "--backend", .metavar = "B", .help = "local", .default_value = "local"},
           {.name = "--policy", .metavar = "P", .help = policy_help(), .default_value = "berth"},
           {.name = "--set",
            .metavar = "K=V",
            .help = "an option of the policy",
            .kind = OptionKind::kRepeated},
           {.name = "--seed",
            .metavar = "N",
            .help = "of the policy's draws",
            .default_value = "1"},
           {.name = "--cluster",
            .metavar = "F",
            .help = "what of this machine jobs may have, as a YAML file (docs/cluster.md)"},
           {.name = "--cores-beside-gpus",
            .metavar = "N",
            .help = "cores for jobs without a GPU; by default a quarter"},
           {.name = "--resize-after",
            .metavar = "T",
            .help =
                "a job that has begun is moved, or given another width, after T at the earliest",
            .default_value = "60s"},
           {.name = "--socket", .metavar = "F", .help = "Unix socket; by default DIR/berth.sock"},
           {.name = "--listen",
            .metavar = "ADDRESS:PORT",
            .help = "for HTTP with a token (DIR/token); none: only the socket",
            .default_value = "127.0.0.1:7117"},
           {.name = "--allow-root",
            .metavar = "",
            .help = "jobs that root submits run as root",
            .kind = OptionKind::kFlag},
           {.name = "--no-limits",
            .metavar = "",
            .help = "do not hold jobs within the cores and memory they asked for",
            .kind = OptionKind::kFlag},
           {.name = "--keep",
            .metavar = "N",
            .help = "ended jobs that are remembered",
            .default_value = "100000"},
           {.name = "--quiet",
            .metavar = "",
            .help = "no line for each event",
            .kind = OptionKind::kFlag}},
      .run = run};
}

}  // namespace berth::cli
