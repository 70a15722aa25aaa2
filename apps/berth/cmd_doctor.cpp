// berth doctor: whether this machine can run jobs, tried out.
#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "backend/local/local_backend.h"
#include "base/text.h"
#include "client.h"
#include "commands.h"
#include "console.h"
#include "report/table.h"

namespace berth::cli {
namespace {

enum class Verdict : std::uint8_t { kOk, kNote, kBad };

class Findings {
 public:
  void add(Verdict verdict, std::string what, std::string found) {
    bad_ = bad_ || verdict == Verdict::kBad;
    static constexpr std::string_view kNames[] = {"ok", "note", "BAD"};
    const std::string_view name = kNames[static_cast<std::size_t>(verdict)];
    json_.push_back({{"check", what}, {"verdict", name}, {"found", found}});
    table_.add_row({std::string(name), std::move(what), std::move(found)});
  }
  [[nodiscard]] bool bad() const { return bad_; }
  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] std::string text() const { return table_.text(stdout_has_colour()); }

 private:
  Table table_{{{"", Align::kLeft}, {"what", Align::kLeft}, {"found", Align::kLeft}}};
  Json json_ = Json::array();
  bool bad_ = false;
};

void check_folder(const Args& args, Findings& out) {
  namespace fs = std::filesystem;
  const fs::path data = args.has("--data") ? args.text("--data") : default_data_folder();
  fs::path there = data;
  std::error_code error;
  while (!fs::exists(there, error) && there.has_parent_path() && there != there.parent_path()) {
    there = there.parent_path();
  }
  if (there.empty()) there = ".";
  if (access(there.c_str(), W_OK | X_OK) != 0) {
    return out.add(Verdict::kBad, "data folder", printable(data.string()) + " cannot be written");
  }
  struct statvfs info {};
  if (statvfs(there.c_str(), &info) != 0) {
    return out.add(Verdict::kBad, "data folder", printable(data.string()) + " cannot be looked at");
  }
  const auto free_mib = static_cast<std::int64_t>(info.f_bavail * info.f_frsize >> 20);
  constexpr std::int64_t kLittleMib = 1'024;
  out.add(free_mib < kLittleMib ? Verdict::kNote : Verdict::kOk, "data folder",
          fmt::format("{}: {} MiB free", printable(data.string()), with_thousands(free_mib)));
}

void describe_machine(const LocalBackend& backend, Findings& out) {
  const Cluster& cluster = backend.cluster();
  const std::vector<bool> usable = backend.usable_devices();
  for (const Server& server : cluster.servers) {
    std::string found =
        fmt::format("{}, {} MiB", counted(server.capacity[Resource::kCpuMilli] / 1000, "core"),
                    with_thousands(server.capacity[Resource::kMemoryMib]));
    std::size_t used = 0;
    for (std::uint32_t d = 0; d < server.gpus; ++d) {
      if (!usable[server.first_device.value + d]) ++used;
    }
    found += server.gpus > 0 ? fmt::format(", {} {}", server.gpus,
                                           cluster.gpu_types[server.gpu_type.index()].name)
                             : ", no GPU (libnvidia-ml.so.1 finds none)";
    if (used > 0) found += fmt::format("; {} used by others or broken, left alone", used);
    out.add(Verdict::kOk, "machine", printable(found, 300));
  }
  for (const std::string& line : backend.limits()) out.add(Verdict::kNote, "limits", line);
}

// The whole way of a job but for the scheduler.
void try_a_job(LocalBackend& backend, Findings& out) {
  constexpr int kTimeoutMs = 10'000;
  AttemptLaunch launch{.key = "1.1",
                       .user = {geteuid(), getegid()},
                       .command = {"/bin/true"},
                       .directory = "/",
                       .log_limit_bytes = 1 << 20};
  launch.tasks.push_back({.server = ServerId{std::uint32_t{0}}, .cpu_milli = 1000});
  if (const Status status = backend.start(launch); !status) {
    return out.add(Verdict::kBad, "a job", status.error().text());
  }
  std::optional<AttemptEnd> end;
  const BackendEvents events{.started = [](const std::string&, const ProcessId&) {},
                             .ended = [&](const std::string&, const AttemptEnd& e) { end = e; },
                             .devices_changed = [] {}};
  pollfd ready{.fd = backend.event_fd(), .events = POLLIN};
  while (!end && poll(&ready, 1, kTimeoutMs) > 0) backend.poll(events);
  if (end && end->success()) return out.add(Verdict::kOk, "a job", "/bin/true ran to its end");
  out.add(Verdict::kBad, "a job", "/bin/true did not run: " + (end ? end->why : "no answer"));
}

void check_backend(Findings& out) {
  std::string name = (std::filesystem::temp_directory_path() / "berth-doctor-XXXXXX").string();
  const char* folder = mkdtemp(name.data());
  if (folder == nullptr) return out.add(Verdict::kBad, "a job", "no folder for temporary files");
  {
    auto backend = make_local_backend({.data_folder = folder, .allow_root = true});
    if (!backend) {
      out.add(Verdict::kBad, "a job", backend.error().text());
    } else {
      describe_machine(**backend, out);
      try_a_job(**backend, out);
    }
  }
  std::error_code error;
  std::filesystem::remove_all(folder, error);
}

void check_scheduler(const Args& args, Findings& out) {
  const Result<Json> status = ask(args, "GET", "/v1/status");
  if (!status) return out.add(Verdict::kNote, "scheduler", status.error().text());
  const std::string trouble = status->value("trouble", "");
  out.add(trouble.empty() ? Verdict::kOk : Verdict::kBad, "scheduler",
          trouble.empty() ? fmt::format("runs, policy {}", status->value("policy", "?")) : trouble);
}

int run(const Args& args) {
  Findings findings;
  check_folder(args, findings);
  check_backend(findings);
  if (geteuid() == 0) {
    findings.add(Verdict::kNote, "user", "root: jobs of all users; root's own need --allow-root");
  } else {
    findings.add(Verdict::kNote, "user", "not root: only jobs of this user can be run");
  }
  check_scheduler(args, findings);
  const Status printed = args.has("--json") ? print_json(args, {{"checks", findings.json()}})
                                            : print_out(findings.text());
  if (!printed) return report_error(printed.error());
  return findings.bad() ? kFailed : kDone;
}

}  // namespace

Command doctor_command_info() {
  return {.path = "doctor",
          .summary = "whether this machine can run jobs",
          .example = "berth doctor",
          .options = with_server_options({}),
          .run = run};
}

}  // namespace berth::cli
