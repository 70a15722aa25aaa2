// Every quirky file in tests/cases comes out as tests/cases/cases.csv says: with its format named,
// and with the format found by content (the same outcome, or a refusal).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "trace/reader.h"

namespace berth::trace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kCases = fs::path(BERTH_SOURCE_DIR) / "tests/cases";

struct Case {
  std::map<std::string, std::string> cells;
  json values;

  const std::string& operator[](const std::string& name) const { return cells.at(name); }
};

std::vector<std::string> csv_row(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      out.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::vector<Case> read_cases() {
  std::ifstream file(kCases / "cases.csv");
  std::string line;
  std::getline(file, line);
  const auto names = csv_row(line);
  std::vector<Case> cases;
  while (std::getline(file, line)) {
    const auto cells = csv_row(line);
    Case& added = cases.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) added.cells[names[i]] = cells.at(i);
    if (!added["values_json"].empty()) added.values = json::parse(added["values_json"]);
  }
  return cases;
}

bool has_format(const std::string& name) {
  const auto formats = trace_formats();
  return std::find(formats.begin(), formats.end(), name) != formats.end();
}

// What the readers made of a case, in words that can be compared.
class Check {
 public:
  Check(const Case& expected, const std::string& format) : case_(expected), format_(format) {}

  void path(const fs::path& file) {
    ReadOptions options;
    options.format = format_;
    const auto result = read_trace(file.string(), options);
    const bool may_fail = case_["exit_code"] == "2" || case_.values.contains("alt_exit");
    if (!result) {
      EXPECT_EQ(result.error().exit_code(), 2) << result.error().text();
      EXPECT_FALSE(result.error().file.empty()) << result.error().text();
      EXPECT_TRUE(may_fail || format_ == "auto") << result.error().text();
      return;
    }
    if (case_["exit_code"] == "2") {
      ASSERT_TRUE(case_.values.contains("alt_accepted")) << "read, but must be refused";
      EXPECT_EQ(result->trace.jobs.size(), case_.values["alt_accepted"].get<std::size_t>());
      return;
    }
    counts(*result);
    values(*result);
  }

 private:
  void counts(const ReadResult& result) {
    const std::size_t jobs = result.trace.jobs.size();
    const bool alternative = case_.values.contains("alt_accepted") &&
                             jobs == case_.values["alt_accepted"].get<std::size_t>();
    if (alternative || case_["accepted"].empty()) return;
    EXPECT_EQ(std::to_string(jobs), case_["accepted"]);
    EXPECT_EQ(std::to_string(result.report.rejected()), case_["rejected"]);
  }

  void values(const ReadResult& result) {
    for (const auto& [key, value] : case_.values.items()) {
      if (key == "jobs") {
        jobs(result.trace, value);
      } else if (key == "rejected_lines") {
        std::set<std::uint64_t> lines;
        for (const RowNote& note : result.report.rejected_notes()) lines.insert(note.line);
        EXPECT_EQ(lines, value.get<std::set<std::uint64_t>>());
      } else if (key == "jobs_n") {
        EXPECT_EQ(result.trace.jobs.size(), value.get<std::size_t>());
      } else if (key == "duration_sum_s") {
        double sum = 0;
        for (const TraceJob& job : result.trace.jobs) sum += seconds(job.duration_us.value());
        EXPECT_DOUBLE_EQ(sum, value.get<double>());
      } else if (key == "steps") {
        ASSERT_TRUE(result.report.counts().contains("steps"));
        EXPECT_EQ(result.report.counts().at("steps"), value.get<std::uint64_t>());
      } else if (key != "allowed" && !key.starts_with("alt_")) {  // allowed: tested with clusters
        ADD_FAILURE() << "cases.csv has a key that this test does not know: " << key;
      }
    }
  }

  void jobs(const Trace& trace, const json& expected) {
    if (expected.is_array()) {
      ASSERT_EQ(trace.jobs.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) one(trace, trace.jobs[i], expected[i]);
      return;
    }
    for (const auto& [id, fields] : expected.items()) {
      const auto found = std::find_if(trace.jobs.begin(), trace.jobs.end(),
                                      [&id = id](const TraceJob& job) { return job.id == id; });
      if (found == trace.jobs.end() && case_.values.contains("alt_accepted")) continue;
      ASSERT_NE(found, trace.jobs.end()) << "no job " << id;
      one(trace, *found, fields);
    }
  }

  void one(const Trace& trace, const TraceJob& job, const json& fields) {
    SCOPED_TRACE(std::string(job.id));
    const bool as_written = !trace.zero_is_unix_time;
    for (const auto& [key, value] : fields.items()) {
      const auto number = value.get<double>();
      if (key == "gpus") {
        EXPECT_EQ(job.gpu_milli, MaybeInt(std::llround(number * 1000)));
      } else if (key == "duration_s" || key == "attempt_sum_s" || key == "run_s" ||
                 key == "life_s") {
        EXPECT_DOUBLE_EQ(seconds(job.duration_us.value_or(-1)), number);
      } else if (key == "arrival_s") {
        EXPECT_DOUBLE_EQ(seconds(job.arrival_us + (as_written ? trace.zero_us : 0)), number);
      } else if (key == "queue_s") {
        EXPECT_DOUBLE_EQ(seconds(job.queue_us.value_or(-1)), number);
      } else if (key == "steps") {
        EXPECT_EQ(job.iterations, MaybeInt(std::llround(number)));
      } else if (key == "weight") {
        EXPECT_EQ(job.weight_milli, std::lround(number * 1000));
      } else if (key == "slo") {
        EXPECT_EQ(job.slo_milli, MaybeInt(std::llround(number * 1000)));
      } else if (key != "span_s") {  // the span over attempts is not kept: attempts are summed
        ADD_FAILURE() << "cases.csv has a value that this test does not know: " << key;
      }
    }
  }

  const Case& case_;
  std::string format_;
};

std::string format_of(const Case& expected) {
  return expected["format"] == "compressed" ? "philly-csv" : expected["format"];
}

class TraceCases : public testing::TestWithParam<Case> {};

TEST_P(TraceCases, ComeOutAsTheTableSays) {
  const Case& expected = GetParam();
  std::vector<fs::path> paths{kCases / expected["file"]};
  if (expected["format"] == "compressed" && fs::is_directory(paths[0])) {
    const fs::path folder = paths[0];
    paths.clear();
    for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  }
  ASSERT_FALSE(paths.empty());
  for (const fs::path& path : paths) {
    for (const std::string& format : {format_of(expected), std::string("auto")}) {
      SCOPED_TRACE(path.string() + " --format " + format);
      Check(expected, format).path(path);
    }
  }
}

std::vector<Case> cases_with_a_reader() {
  std::vector<Case> cases;
  for (Case& one : read_cases()) {
    if (has_format(format_of(one)) && fs::exists(kCases / one["file"])) cases.push_back(one);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, TraceCases, testing::ValuesIn(cases_with_a_reader()),
                         [](const auto& one) { return one.param["id"]; });

}  // namespace
}  // namespace berth::trace
