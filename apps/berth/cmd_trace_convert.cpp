// berth trace convert: any known trace to Berth's own format.
#include <fmt/format.h>

#include "base/text.h"
#include "commands.h"
#include "trace/writer.h"
#include "trace_options.h"

namespace berth::cli {
namespace {

Status convert(const Args& args) {
  const std::string out = args.text("--out");
  BERTH_TRY(const trace::ReadResult result, read_trace_from(args));
  BERTH_CHECK_OK(trace::write_trace(result.trace, out));
  tell_report(result.report);
  fmt::print(out == "-" ? stderr : stdout, "{} from {} ({}) to {}\n",
             counted(result.trace.jobs.size(), "job"), printable(result.trace.source, 400),
             result.trace.format, printable(out, 400));
  return {};
}

int run(const Args& args) {
  const Status status = convert(args);
  return status ? kDone : report_error(status.error());
}

}  // namespace

Command trace_convert_command_info() {
  Command command{.path = "trace convert",
                  .summary = "write a trace of any known format in Berth's own",
                  .example = "berth trace convert --trace philly_trace.csv.xz --out philly.csv.zst",
                  .options = trace_options(),
                  .run = run};
  command.options.push_back(
      {.name = "--out",
       .metavar = "F",
       .help = "new file, compressed if it ends in .gz, .xz or .zst; -: standard output",
       .required = true});
  return command;
}

}  // namespace berth::cli
