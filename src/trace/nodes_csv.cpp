// Lists of machines as tables: Philly's and openb's.
#include <fmt/format.h>

#include <array>

#include "base/number.h"
#include "trace/cluster_builder.h"
#include "trace/input.h"
#include "trace/node_lists.h"
#include "trace/slurm_values.h"
#include "trace/table.h"

namespace berth::trace {
namespace {

constexpr int kWholeHeader = 51;  // header_score says at most 50 where a column is missing

enum PhillyColumn : std::size_t { kMachine, kPhillyGpus, kGpuMemory };
constexpr std::array<ColumnSpec, 3> kPhillyColumns{{
    {"machineId", true, ""},
    {"number of GPUs", true, ""},
    {"single GPU mem", false, ""},
}};
constexpr TableSpec kPhilly{.format = "Philly machine list", .columns = kPhillyColumns};

enum OpenbColumn : std::size_t { kSn, kCpu, kMemory, kOpenbGpus, kModel };
constexpr std::array<ColumnSpec, 5> kOpenbColumns{{
    {"sn", true, ""},
    {"cpu_milli", true, ""},
    {"memory_mib", true, ""},
    {"gpu", true, ""},
    {"model", false, ""},
}};
constexpr TableSpec kOpenb{.format = "openb node list", .columns = kOpenbColumns};

// In a list of machines there is no row to do without: the first that is wrong is an error.
Error first_rejected(std::string_view file, const RejectReport& report) {
  const RowNote& note = report.rejected_notes().front();
  return bad_input(file, note.line, note.field, note.reason, note.found, note.expected);
}

template <class Row>
Result<Cluster> parse_table(std::string_view text, std::string_view file, const TableSpec& spec,
                            const Row& row) {
  BERTH_TRY(Input input, Input::from_memory(std::string(file), text));
  RejectReport report;
  BERTH_TRY(Table table, Table::open(input, report, spec));
  ClusterBuilder builder(file);
  while (table.next()) {
    ClusterBuilder::Node node;
    if (row(table, node)) BERTH_CHECK_OK(builder.add(node, table.line()));
    if (report.rejected() > 0) break;
  }
  if (report.rejected() > 0) return fail(first_rejected(file, report));
  BERTH_CHECK_OK(input.status());
  return builder.finish();
}

bool philly_row(Table& table, ClusterBuilder::Node& node) {
  MaybeInt gpus;
  MaybeInt memory;
  if (!table.require(kMachine) || !table.read_required(kPhillyGpus, parse_count, gpus) ||
      !table.read(kGpuMemory, parse_slurm_memory, memory)) {
    return false;
  }
  node.name = table[kMachine];
  node.gpus = gpus.value();
  node.gpu_memory_mib = memory.value_or(0);
  if (memory.known()) node.gpu_type = table[kGpuMemory];
  return true;
}

bool openb_row(Table& table, ClusterBuilder::Node& node) {
  MaybeInt gpus;
  MaybeInt cpu;
  MaybeInt memory;
  if (!table.require(kSn) || !table.read_required(kOpenbGpus, parse_count, gpus) ||
      !table.read(kCpu, parse_count, cpu) || !table.read(kMemory, parse_count, memory)) {
    return false;
  }
  node.name = table[kSn];
  node.gpus = gpus.value();
  node.gpu_type = table.text(kModel);
  node.cpu_milli = cpu.value_or(0);
  node.memory_mib = memory.value_or(0);
  return true;
}

}  // namespace

bool is_philly_machines(std::string_view text) {
  // Another list of machines may share the count's name: both columns must be there.
  return header_score(text, kPhilly) >= kWholeHeader;
}

Result<Cluster> parse_philly_machines(std::string_view text, std::string_view file) {
  return parse_table(text, file, kPhilly, philly_row);
}

bool is_openb_nodes(std::string_view text) {
  return header_score(text, kOpenb) >= kWholeHeader;
}

Result<Cluster> parse_openb_nodes(std::string_view text, std::string_view file) {
  return parse_table(text, file, kOpenb, openb_row);
}

std::optional<Result<Cluster>> parse_node_list(std::string_view text, std::string_view file) {
  if (is_scontrol_nodes(text)) return parse_scontrol_nodes(text, file);
  if (is_philly_machines(text)) return parse_philly_machines(text, file);
  if (is_openb_nodes(text)) return parse_openb_nodes(text, file);
  return std::nullopt;
}

}  // namespace berth::trace
