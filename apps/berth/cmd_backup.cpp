// berth backup: a copy of what a scheduler has stored, also while it runs.
#include "client.h"
#include "commands.h"
#include "console.h"
#include "store/store.h"

namespace berth::cli {
namespace {

Status backup(const Args& args) {
  const std::string data = args.has("--data") ? args.text("--data") : default_data_folder();
  const std::string out = args.text("--out");
  BERTH_CHECK_OK(backup_store(data + "/berth.db", out));
  return print_out("jobs and attempts of " + data + " are copied to " + out +
                   "; to restore, put it in place as berth.db while no scheduler runs\n");
}

int run(const Args& args) {
  const Status status = backup(args);
  return status ? kDone : report_error(status.error());
}

}  // namespace

Command backup_command_info() {
  return {.path = "backup",
          .summary = "copy what the scheduler has stored, also while it runs",
          .example = "berth backup --data ~/berth --out berth-2026-11-30.db",
          .options = {{.name = "--data", .metavar = "DIR", .help = "the scheduler's folder"},
                      {.name = "--out", .metavar = "F", .help = "a new file", .required = true}},
          .run = run};
}

}  // namespace berth::cli
