#include "interference/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "base/number.h"
#include "base/text.h"
#include "interference/cell.h"
#include "trace/table.h"

namespace berth::interference {
namespace {

using trace::Fault;
using trace::RowNote;

constexpr std::size_t kDevice = 0;
constexpr std::size_t kSubject = 1;
constexpr std::size_t kCorunners = 2;
constexpr std::size_t kAlone = 3;
constexpr std::size_t kShared = 4;
constexpr std::size_t kRate = 5;
constexpr std::size_t kFixed = 6;  // parameters follow
constexpr std::array<std::string_view, kFixed> kFixedNames{
    "device", "subject", "corunners", "alone", "shared", "interference_rate"};

constexpr std::size_t kMostCorunners = 15;
constexpr double kLargestRate = 1e4;
// A written rate is rounded; beyond this, relative to the slow-down, it contradicts the times.
constexpr double kRateTolerance = 0.01;

constexpr Fault kNoName{"a job or device has no name", "a name"};
constexpr Fault kNotNumber{"not a number", "a number"};
constexpr Fault kOtherUnit{"another unit than in the rows before", "one unit in a column"};
constexpr Fault kNoRate{"no rate", "interference_rate, or alone and shared"};
constexpr Fault kNotPositive{"a time is not positive", "seconds an iteration, above 0"};
constexpr Fault kConflict{"the rate contradicts alone and shared", "(shared - alone) / alone"};
constexpr Fault kRateRange{"impossible rate", "above -1, at most 10000"};
constexpr Fault kCount{"another number of values than co-runners", "one value for each co-runner"};
constexpr Fault kTooMany{"too many co-runners", "at most 15"};
constexpr Fault kInfinite{"infinite value taken as missing", "a finite number"};
constexpr Fault kBareRate{"rate without % in a column that has it: kept as a factor, 1 = 100 %",
                          "%"};

enum class Part : std::uint8_t { kOfSubject, kOfPartners, kOfCorun };

struct Parameter {
  Part part;
  std::size_t slot;  // in Dataset::solo, co or shared
};

class Reader {
 public:
  Reader(trace::Input& input, RateColumn rate) : input_(input), rate_column_(rate) {}

  Result<DatasetResult> read() {
    BERTH_CHECK_OK(read_header());
    BERTH_TRY(trace::Table table, trace::Table::with_header(input_, out_.report, spec_, header_));
    while (table.next()) read_row(table);
    BERTH_CHECK_OK(input_.status());
    out_.data.file_rows = table.rows();
    note_repeats();
    if (out_.data.rows.empty()) return fail(no_rows());
    return std::move(out_);
  }

 private:
  [[nodiscard]] Status read_header();
  [[nodiscard]] Status find_columns();
  void name_parameter(const std::string& name);
  [[nodiscard]] Error no_rows() const;

  void read_row(trace::Table& table);
  [[nodiscard]] bool read_names(trace::Table& table, Row& row);
  [[nodiscard]] bool read_parameters(trace::Table& table, Row& row);
  [[nodiscard]] bool read_joined(trace::Table& table, std::size_t column, Row& row,
                                 std::size_t slot);
  [[nodiscard]] bool read_rate(trace::Table& table, Row& row);
  [[nodiscard]] bool read_time(trace::Table& table, std::size_t column, double& out);
  [[nodiscard]] bool number(trace::Table& table, std::size_t column, std::string_view text,
                            double& out);
  void sort_corunners(Row& row);
  void note_repeats();

  trace::Input& input_;
  RateColumn rate_column_;
  DatasetResult out_;
  std::string header_;
  std::vector<std::string> names_;  // of all columns; specs_ point into it
  std::vector<trace::ColumnSpec> columns_;
  std::vector<Parameter> parameters_;  // column kFixed + i
  trace::TableSpec spec_;
  std::vector<std::optional<std::string>> unit_;  // by column
};

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

Status Reader::read_header() {
  std::string_view line;
  do {
    if (!input_.next_line(line)) {
      BERTH_CHECK_OK(input_.status());
      return fail(input_.error(1, {}, "there is no header line", "only blank lines",
                               "device,subject,corunners,..."));
    }
  } while (trim(line).empty());
  header_ = line;
  // The separator that gives the most columns; spreadsheets save with ; or tabs.
  std::size_t most = 0;
  for (const char separator : {',', ';', '\t'}) {
    const auto count =
        static_cast<std::size_t>(std::count(header_.begin(), header_.end(), separator));
    if (count <= most) continue;
    most = count;
    spec_.separator = separator;
  }
  return find_columns();
}

Status Reader::find_columns() {
  for (const auto name : kFixedNames) names_.emplace_back(name);
  std::array<bool, kFixed> present{};
  std::string_view header = trim(header_);
  if (header.starts_with('#')) header.remove_prefix(1);
  std::set<std::string, std::less<>> seen;
  for (std::string_view field : split(header, spec_.separator)) {
    field = trim(field);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
      field = trim(field.substr(1, field.size() - 2));
    }
    const auto fixed = std::find_if(kFixedNames.begin(), kFixedNames.end(),
                                    [&](std::string_view name) { return same_name(field, name); });
    if (fixed != kFixedNames.end()) {
      present.at(static_cast<std::size_t>(fixed - kFixedNames.begin())) = true;
    } else if (!field.empty() && seen.emplace(field).second) {
      name_parameter(std::string(field));
    }
  }
  const bool rates = present[kRate] || (present[kAlone] && present[kShared]);
  out_.data.has_rates = rates;
  for (const std::size_t needed : {kDevice, kSubject, kCorunners}) {
    if (present.at(needed)) continue;
    return fail(input_.error(input_.line_number(), names_[needed], "a column is missing",
                             fmt::format("'{}'", printable(header_, 200)),
                             "the columns 'device', 'subject', 'corunners'"));
  }
  if (!rates && rate_column_ == RateColumn::kRequired) {
    return fail(input_.error(input_.line_number(), "interference_rate", "a column is missing",
                             fmt::format("'{}'", printable(header_, 200)),
                             "'interference_rate', or 'alone' and 'shared'"));
  }
  for (const std::string& name : names_) columns_.push_back({name, false, {}});
  spec_.format = "interference";
  spec_.columns = columns_;
  unit_.resize(names_.size());
  return {};
}

void Reader::name_parameter(const std::string& name) {
  Dataset& data = out_.data;
  const auto add = [&](Part part, std::vector<std::string>& list, std::size_t prefix) {
    parameters_.push_back({part, list.size()});
    list.push_back(name.substr(prefix));
  };
  if (name.starts_with("solo.")) {
    add(Part::kOfSubject, data.solo, 5);
  } else if (name.starts_with("co.")) {
    add(Part::kOfPartners, data.co, 3);
  } else {
    add(Part::kOfCorun, data.shared, name.starts_with("shared.") ? 7 : 0);
  }
  names_.push_back(name);
}

Error Reader::no_rows() const {
  const auto& notes = out_.report.rejected_notes();
  if (notes.empty()) {
    return input_.error(0, {}, "there are no rows", "a header only", "at least one row");
  }
  const RowNote& first = notes.front();
  return input_.error(
      first.line, first.field,
      fmt::format("no usable row; the first of {}: {}", out_.report.rejected(), first.reason),
      first.found, first.expected);
}

void Reader::read_row(trace::Table& table) {
  Row row;
  row.line = table.line();
  row.index = table.rows() - 1;
  if (!read_names(table, row) || !read_parameters(table, row) || !read_rate(table, row)) return;
  sort_corunners(row);
  out_.data.rows.push_back(std::move(row));
}

bool Reader::read_names(trace::Table& table, Row& row) {
  for (const std::size_t column : {kDevice, kSubject, kCorunners}) {
    if (!table[column].empty()) continue;
    table.reject(kNoName, column);
    return false;
  }
  const auto partners = split(table[kCorunners], '+');
  if (partners.size() > kMostCorunners) {
    table.reject(kTooMany, kCorunners);
    return false;
  }
  if (std::any_of(partners.begin(), partners.end(),
                  [](std::string_view name) { return trim(name).empty(); })) {
    table.reject(kNoName, kCorunners);
    return false;
  }
  row.device = out_.data.devices.index_of(table[kDevice]);
  row.subject = out_.data.jobs.index_of(table[kSubject]);
  for (const auto name : partners) row.corunners.push_back(out_.data.jobs.index_of(trim(name)));
  return true;
}

bool Reader::number(trace::Table& table, std::size_t column, std::string_view text, double& out) {
  out = kMissingValue;
  const Cell cell = parse_cell(text, spec_.separator == ';');
  switch (cell.kind) {
    case CellKind::kMissing:
      return true;
    case CellKind::kInfinite:
      table.warn(kInfinite, column);
      return true;
    case CellKind::kText:
      table.reject(kNotNumber, column);
      return false;
    case CellKind::kNumber:
      break;
  }
  auto& unit = unit_[column];
  if (!unit) unit = cell.unit;
  if (*unit != cell.unit) {
    table.reject(kOtherUnit, column);
    return false;
  }
  out = cell.value;
  return true;
}

bool Reader::read_parameters(trace::Table& table, Row& row) {
  const Dataset& data = out_.data;
  row.solo.assign(data.solo.size(), kMissingValue);
  row.shared.assign(data.shared.size(), kMissingValue);
  row.co.assign(row.corunners.size(), std::vector<double>(data.co.size(), kMissingValue));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto [part, slot] = parameters_[i];
    const std::size_t column = kFixed + i;
    if (part == Part::kOfPartners) {
      if (!read_joined(table, column, row, slot)) return false;
      continue;
    }
    double& out = part == Part::kOfSubject ? row.solo[slot] : row.shared[slot];
    if (!number(table, column, table[column], out)) return false;
  }
  return true;
}

bool Reader::read_joined(trace::Table& table, std::size_t column, Row& row, std::size_t slot) {
  const std::string_view text = table[column];
  // One "missing" stands for all of them.
  if (parse_cell(text).kind == CellKind::kMissing) return true;
  const auto parts = split_joined(text);
  if (parts.size() != row.corunners.size()) {
    table.reject(kCount, column);
    return false;
  }
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (!number(table, column, parts[k], row.co[k][slot])) return false;
  }
  return true;
}

bool Reader::read_time(trace::Table& table, std::size_t column, double& out) {
  if (!number(table, column, table[column], out)) return false;
  if (out > 0 || std::isnan(out)) return true;
  table.reject(kNotPositive, column);
  return false;
}

bool Reader::read_rate(trace::Table& table, Row& row) {
  double alone = kMissingValue;
  double shared = kMissingValue;
  if (!read_time(table, kAlone, alone) || !read_time(table, kShared, shared)) return false;
  const double derived = (shared - alone) / alone;

  const Cell cell = parse_cell(table[kRate], spec_.separator == ';');
  double written = kMissingValue;
  if (cell.kind == CellKind::kNumber) {
    if (!cell.unit.empty() && cell.unit != "%") {
      table.reject(kNotNumber, kRate);
      return false;
    }
    if (!unit_[kRate]) unit_[kRate] = cell.unit;
    if (*unit_[kRate] != cell.unit) table.warn(kBareRate, kRate);
    written = cell.unit == "%" ? cell.value / 100.0 : cell.value;
  } else if (cell.kind != CellKind::kMissing) {
    table.reject(kNotNumber, kRate);
    return false;
  }

  row.rate = std::isnan(derived) ? written : derived;
  if (std::isnan(row.rate)) {
    if (rate_column_ == RateColumn::kOptional) return true;
    table.reject(kNoRate, kRate);
    return false;
  }
  if (!std::isnan(derived) && !std::isnan(written) &&
      std::abs(derived - written) > kRateTolerance * (1.0 + std::abs(derived))) {
    table.reject(kConflict, kRate);
    return false;
  }
  if (row.rate <= -1.0 || row.rate > kLargestRate) {
    table.reject(kRateRange, kRate);
    return false;
  }
  return true;
}

void Reader::sort_corunners(Row& row) {
  std::vector<std::size_t> order(row.corunners.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return row.corunners[a] < row.corunners[b];
  });
  Row sorted = row;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.corunners[i] = row.corunners[order[i]];
    sorted.co[i] = row.co[order[i]];
  }
  row = std::move(sorted);
}

// The same measurement twice is counted, and used twice: nobody can tell a copy from a repetition
// with the same result.
void Reader::note_repeats() {
  const auto less = [](const Row* a, const Row* b) {
    if (a->device != b->device) return a->device < b->device;
    if (a->subject != b->subject) return a->subject < b->subject;
    if (a->corunners != b->corunners) return a->corunners < b->corunners;
    return a->rate < b->rate;
  };
  std::set<const Row*, decltype(less)> seen(less);
  for (const Row& row : out_.data.rows) {
    if (seen.insert(&row).second) continue;
    out_.report.warn({row.line, {}, "the same jobs and rate as in another row", {}, {}, {}});
  }
}

Result<DatasetResult> read_from(Result<trace::Input> input, RateColumn rate) {
  if (!input) return fail(std::move(input).error());
  BERTH_TRY(DatasetResult out, Reader(*input, rate).read());
  out.data.source = input->name();
  return out;
}

}  // namespace

Result<DatasetResult> read_dataset(const std::string& path, RateColumn rate) {
  return read_from(trace::Input::open(path), rate);
}

Result<DatasetResult> parse_dataset(std::string name, std::string_view bytes, RateColumn rate) {
  return read_from(trace::Input::from_memory(std::move(name), bytes), rate);
}

}  // namespace berth::interference
