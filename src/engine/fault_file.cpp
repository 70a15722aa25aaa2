// Faults from a file (parse_faults). A file of faults is written for a run, not logged by somebody:
// one row that cannot be meant refuses it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "base/number.h"
#include "engine/faults.h"
#include "trace/table.h"

namespace berth {
namespace {

using trace::Fault;

constexpr std::size_t kTime = 0;
constexpr std::size_t kEvent = 1;
constexpr std::size_t kServer = 2;
constexpr std::size_t kDevice = 3;
constexpr std::size_t kSpeed = 4;
constexpr std::array<trace::ColumnSpec, 5> kColumns{
    {{"time_s", true}, {"event", true}, {"server", true}, {"device"}, {"speed"}}};
constexpr trace::TableSpec kSpec{
    .format = "faults", .columns = kColumns, .no_header_hint = "time_s,event,server,device,speed"};

constexpr std::size_t kMostRows = 1'000'000;
constexpr double kLargestSpeed = 10.0;

constexpr Fault kNoEvent{"not an event", "down, up or speed"};
constexpr Fault kNoServer{"no such server", "a server's name, or its number from 0"};
constexpr Fault kNoDevice{"no such device", "a number from 0 within the server"};
constexpr Fault kSpeedOfServer{"a speed is of a device", "the number of a device"};
constexpr Fault kNoSpeed{"not a speed", "above 0, at most 10; 1 is a healthy device"};
constexpr Fault kSpeedWithout{"a speed with another event", "nothing, or the event speed"};

struct Row {
  FaultEvent event;
  std::uint64_t line = 0;
};

class FaultReader {
 public:
  FaultReader(trace::Input& input, const Cluster& cluster) : input_(input), cluster_(cluster) {
    for (std::uint32_t s = 0; s < cluster.servers.size(); ++s) {
      by_name_.emplace(cluster.servers[s].name, s);
    }
  }

  Result<std::vector<FaultEvent>> read() {
    BERTH_TRY(trace::Table table, trace::Table::open(input_, report_, kSpec));
    while (table.next() && report_.rejected() == 0) {
      if (rows_.size() == kMostRows) {
        return fail(input_.error(table.line(), {}, "too many rows", "one more",
                                 fmt::format("at most {}", kMostRows)));
      }
      read_row(table);
    }
    BERTH_CHECK_OK(input_.status());
    if (report_.rejected() > 0) {
      const trace::RowNote& first = report_.rejected_notes().front();
      return fail(input_.error(first.line, first.field, first.reason, first.found, first.expected));
    }
    std::ranges::sort(rows_, {}, [](const Row& row) {
      return std::tuple(row.event.at_us, row.event.kind, row.event.id, row.line);
    });
    BERTH_CHECK_OK(check_states());
    std::vector<FaultEvent> events;
    events.reserve(rows_.size());
    for (const Row& row : rows_) events.push_back(row.event);
    return events;
  }

 private:
  void read_row(trace::Table& table);
  [[nodiscard]] bool read_place(trace::Table& table, FaultEvent& event, bool& of_device) const;
  [[nodiscard]] static bool read_kind(trace::Table& table, FaultEvent& event, bool of_device);
  [[nodiscard]] Status check_states() const;
  [[nodiscard]] std::string name_of(const FaultEvent& event) const;

  trace::Input& input_;
  const Cluster& cluster_;
  trace::RejectReport report_;
  std::map<std::string_view, std::uint32_t> by_name_;  // the first server of a name
  std::vector<Row> rows_;
};

void FaultReader::read_row(trace::Table& table) {
  Row row{.event = {}, .line = table.line()};
  MaybeInt at_us;
  bool of_device = false;
  if (!table.read_required(kTime, trace::parse_arrival_s, at_us)) return;
  if (!read_place(table, row.event, of_device) || !read_kind(table, row.event, of_device)) return;
  row.event.at_us = at_us.value();
  rows_.push_back(row);
}

bool FaultReader::read_place(trace::Table& table, FaultEvent& event, bool& of_device) const {
  const std::string_view server = table[kServer];
  const auto named = by_name_.find(server);
  const auto number = parse_int(server);
  if (server.empty() ||
      (named == by_name_.end() &&
       (!number || *number < 0 || *number >= static_cast<std::int64_t>(cluster_.servers.size())))) {
    table.reject(kNoServer, kServer);
    return false;
  }
  event.id = named != by_name_.end() ? named->second : static_cast<std::uint32_t>(*number);
  of_device = !table.text(kDevice).empty();
  if (!of_device) return true;
  const auto device = parse_int(table[kDevice]);
  const Server& on = cluster_.servers[event.id];
  if (!device || *device < 0 || *device >= static_cast<std::int64_t>(on.gpus)) {
    table.reject(kNoDevice, kDevice);
    return false;
  }
  event.id = on.first_device.value + static_cast<std::uint32_t>(*device);
  return true;
}

bool FaultReader::read_kind(trace::Table& table, FaultEvent& event, bool of_device) {
  const std::string_view word = table[kEvent];
  const std::string_view speed_text = table.text(kSpeed);
  if (word == "down") {
    event.kind = of_device ? FaultKind::kDeviceDown : FaultKind::kServerDown;
  } else if (word == "up") {
    event.kind = of_device ? FaultKind::kDeviceUp : FaultKind::kServerUp;
  } else if (word == "speed") {
    event.kind = FaultKind::kDeviceSpeed;
  } else {
    table.reject(kNoEvent, kEvent);
    return false;
  }
  if (event.kind != FaultKind::kDeviceSpeed) {
    if (!speed_text.empty()) table.reject(kSpeedWithout, kSpeed);
    return speed_text.empty();
  }
  if (!of_device) {
    table.reject(kSpeedOfServer, kDevice);
    return false;
  }
  const auto speed = parse_number(speed_text);
  const bool possible = speed && *speed * 1e6 >= 0.5 && *speed <= kLargestSpeed;
  if (possible) event.speed_ppm = static_cast<std::int32_t>(std::lround(*speed * 1e6));
  if (!possible) table.reject(kNoSpeed, kSpeed);
  return possible;
}

std::string FaultReader::name_of(const FaultEvent& event) const {
  if (event.kind == FaultKind::kServerDown || event.kind == FaultKind::kServerUp) {
    return fmt::format("server {}", printable(cluster_.servers[event.id].name));
  }
  const Server& server = cluster_.servers[cluster_.devices[event.id].server.index()];
  return fmt::format("device {} of server {}", event.id - server.first_device.value,
                     printable(server.name));
}

// What the server, the device or the device's speed is before the first row about it.
FaultEvent healthy(const FaultEvent& event) {
  FaultEvent before{.id = event.id};
  before.kind = event.kind == FaultKind::kServerDown   ? FaultKind::kServerUp
                : event.kind == FaultKind::kDeviceDown ? FaultKind::kDeviceUp
                                                       : event.kind;
  return before;
}

// What a row says must be news.
Status FaultReader::check_states() const {
  std::map<std::pair<FaultKind, std::uint32_t>, Row> last;  // by what is healthy
  for (const Row& row : rows_) {
    const FaultEvent& event = row.event;
    const FaultEvent first = healthy(event);
    const auto [found, is_first] = last.try_emplace({first.kind, first.id}, Row{first, 0});
    Row& before = found->second;
    if (event.kind == before.event.kind && event.speed_ppm == before.event.speed_ppm) {
      return fail(input_.error(
          row.line, "event", fmt::format("{} is so already", name_of(event)),
          is_first ? "from the start" : fmt::format("since line {}", before.line), "a change"));
    }
    if (!is_first && event.at_us == before.event.at_us) {
      return fail(input_.error(row.line, "time_s",
                               fmt::format("{} changes twice at one time", name_of(event)),
                               fmt::format("the time of line {}", before.line), "another time"));
    }
    before = row;
  }
  return {};
}

}  // namespace

Result<std::vector<FaultEvent>> parse_faults(std::string_view text, std::string_view file,
                                             const Cluster& cluster) {
  BERTH_TRY(trace::Input input, trace::Input::from_memory(std::string(file), text));
  return FaultReader(input, cluster).read();
}

}  // namespace berth
