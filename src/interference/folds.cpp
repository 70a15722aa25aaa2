#include "interference/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/number.h"
#include "base/text.h"
#include "trace/table.h"

namespace berth::interference {
namespace {

constexpr std::size_t kFewestPairs = 3;  // one to test, two to select and train with
constexpr std::size_t kFewestJobs = 3;
constexpr std::int64_t kMostFolds = 100'000;

bool names_job(const Row& row, JobIndex job) {
  return row.subject == job || std::binary_search(row.corunners.begin(), row.corunners.end(), job);
}

// A fold for each part; `part` of each row.
Folding by_part(const std::vector<std::size_t>& rows, const std::vector<std::uint32_t>& part,
                std::size_t parts) {
  Folding out;
  out.folds.resize(parts);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t f = 0; f < parts; ++f) {
      (part[i] == f ? out.folds[f].test : out.folds[f].train).push_back(rows[i]);
    }
  }
  return out;
}

// Tests the jobs of a part, trains on rows that name none of them.
Folding by_jobs(const Dataset& data, const std::vector<std::size_t>& rows,
                const std::vector<std::vector<JobIndex>>& parts) {
  Folding out;
  for (const auto& jobs : parts) {
    Fold fold;
    for (const std::size_t i : rows) {
      const Row& row = data.rows[i];
      const auto is_of = [&](JobIndex job) { return names_job(row, job); };
      if (std::none_of(jobs.begin(), jobs.end(), is_of)) fold.train.push_back(i);
      if (std::find(jobs.begin(), jobs.end(), row.subject) != jobs.end()) fold.test.push_back(i);
    }
    if (!fold.train.empty() && !fold.test.empty()) out.folds.push_back(std::move(fold));
  }
  return out;
}

std::vector<std::size_t> all_rows(const Dataset& data) {
  std::vector<std::size_t> rows(data.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

// 0 .. count-1 dealt evenly over `size` places, in random order.
std::vector<std::uint32_t> deal(std::size_t size, std::size_t count, Rng& rng) {
  std::vector<std::uint32_t> out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint32_t>(i % count);
  rng.shuffle(std::span(out));
  return out;
}

Error too_few(std::size_t found, std::string_view what, std::size_t needed, std::string_view how) {
  return bad_input({}, 0, {},
                   fmt::format("{} {}{}, at least {} needed for folds {}", found, what,
                               found == 1 ? "" : "s", needed, how));
}

Result<FoldPlan> pair_folds(const Dataset& data, std::size_t count, std::string_view how, Rng rng) {
  const auto group = group_by_pair(data);
  const std::size_t pairs = *std::max_element(group.begin(), group.end()) + std::size_t{1};
  const std::size_t needed = std::max(kFewestPairs, count);
  if (pairs < needed) return fail(too_few(pairs, "pair", needed, how));
  std::vector<std::uint32_t> part = group;
  if (count > 0) {
    const auto of_pair = deal(pairs, count, rng);
    for (auto& value : part) value = of_pair[value];
  }
  FoldPlan plan;
  plan.foldings.push_back(by_part(all_rows(data), part, count > 0 ? count : pairs));
  return plan;
}

Result<FoldPlan> job_folds(const Dataset& data) {
  std::vector<std::vector<JobIndex>> jobs;
  for (JobIndex job = 0; job < data.jobs.size(); ++job) jobs.push_back({job});
  FoldPlan plan;
  plan.kind = FoldKind::kJob;
  plan.foldings.push_back(by_jobs(data, all_rows(data), jobs));
  if (jobs.size() < kFewestJobs || plan.foldings[0].folds.empty()) {
    return fail(too_few(jobs.size(), "job", kFewestJobs, "job"));
  }
  return plan;
}

// The number of a fold in each row of the file, for each folding.
Result<std::vector<std::vector<std::int64_t>>> read_fold_file(const std::string& path,
                                                              std::uint64_t rows) {
  BERTH_TRY(trace::Input input, trace::Input::open(path));
  std::string_view line;
  std::vector<std::size_t> columns;
  std::vector<std::vector<std::int64_t>> out;
  std::size_t width = 0;
  while (input.next_line(line)) {
    if (trim(line).empty()) continue;
    const auto fields = split(line, ',');
    if (columns.empty()) {
      for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto name = trim(fields[i]);
        if (name.starts_with("repeat") || name.starts_with("fold")) columns.push_back(i);
      }
      if (columns.empty()) {
        return fail(input.error(1, "header", "no column of folds",
                                fmt::format("'{}'", printable(line)), "repeat0, repeat1, ..."));
      }
      width = fields.size();
      out.resize(columns.size());
      continue;
    }
    if (fields.size() != width) {
      return fail(input.error(input.line_number(), {}, "wrong number of fields",
                              fmt::format("{}", fields.size()), fmt::format("{}", width)));
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto fold = parse_int(trim(fields[columns[c]]));
      if (!fold || *fold < 0 || *fold > kMostFolds) {
        return fail(input.error(input.line_number(), fmt::format("column {}", columns[c] + 1),
                                "not a fold", fmt::format("'{}'", printable(fields[columns[c]])),
                                "0, 1, ..."));
      }
      out[c].push_back(*fold);
    }
  }
  BERTH_CHECK_OK(input.status());
  if (out.empty() || out[0].size() != rows) {
    return fail(input.error(0, {}, "another number of rows than in the data",
                            fmt::format("{}", out.empty() ? 0 : out[0].size()),
                            fmt::format("{}", rows)));
  }
  return out;
}

Result<FoldPlan> file_folds(const Dataset& data, const std::string& path) {
  BERTH_TRY(const auto foldings, read_fold_file(path, data.file_rows));
  const auto group = group_by_pair(data);
  FoldPlan plan;
  for (std::size_t c = 0; c < foldings.size(); ++c) {
    std::map<std::int64_t, std::uint32_t> dense;
    std::map<std::uint32_t, std::uint32_t> of_pair;
    std::vector<std::uint32_t> part;
    for (std::size_t i = 0; i < data.rows.size(); ++i) {
      const std::int64_t fold = foldings[c][data.rows[i].index];
      const auto next = static_cast<std::uint32_t>(dense.size());
      part.push_back(dense.try_emplace(fold, next).first->second);
      if (of_pair.try_emplace(group[i], part.back()).first->second == part.back()) continue;
      return fail(bad_input(path, data.rows[i].index + 2, fmt::format("folding {}", c),
                            "the rows of a pair are in two folds",
                            printable(data.jobs.name(data.rows[i].subject)), "one fold a pair"));
    }
    if (dense.size() < 2) {
      return fail(bad_input(path, 0, fmt::format("folding {}", c), "needs two folds or more"));
    }
    plan.foldings.push_back(by_part(all_rows(data), part, dense.size()));
  }
  return plan;
}

}  // namespace

std::vector<std::uint32_t> group_by_pair(const Dataset& data) {
  std::map<std::vector<JobIndex>, std::uint32_t> known;
  std::vector<std::uint32_t> out;
  for (const Row& row : data.rows) {
    std::vector<JobIndex> jobs = row.corunners;
    jobs.push_back(row.subject);
    std::sort(jobs.begin(), jobs.end());
    const auto next = static_cast<std::uint32_t>(known.size());
    out.push_back(known.try_emplace(std::move(jobs), next).first->second);
  }
  return out;
}

Result<FoldPlan> make_folds(const Dataset& data, const std::string& how, Rng rng) {
  if (how == "pair") return pair_folds(data, 0, how, rng);
  if (how == "job") return job_folds(data);
  const auto count = parse_int(how);
  if (!count) return file_folds(data, how);
  if (*count < 2 || *count > kMostFolds) {
    Error error = usage_error("not valid", "--folds");
    error.found = fmt::format("'{}'", how);
    error.expected = "pair, job, a number of folds from 2, or a file";
    return fail(std::move(error));
  }
  return pair_folds(data, static_cast<std::size_t>(*count), how, rng);
}

Folding inner_folds(const Dataset& data, const std::vector<std::size_t>& rows, FoldKind kind,
                    std::size_t count, Rng rng) {
  if (kind == FoldKind::kJob) {
    std::vector<JobIndex> subjects;
    for (const std::size_t i : rows) subjects.push_back(data.rows[i].subject);
    std::sort(subjects.begin(), subjects.end());
    subjects.erase(std::unique(subjects.begin(), subjects.end()), subjects.end());
    const std::size_t parts = std::min(count, subjects.size());
    if (parts < 2) return {};
    const auto part = deal(subjects.size(), parts, rng);
    std::vector<std::vector<JobIndex>> jobs(parts);
    for (std::size_t i = 0; i < subjects.size(); ++i) jobs[part[i]].push_back(subjects[i]);
    return by_jobs(data, rows, jobs);
  }
  const auto group = group_by_pair(data);
  std::map<std::uint32_t, std::uint32_t> dense;
  for (const std::size_t i : rows) {
    const auto next = static_cast<std::uint32_t>(dense.size());
    dense.try_emplace(group[i], next);
  }
  const std::size_t parts = std::min(count, dense.size());
  if (parts < 2) return {};
  const auto of_pair = deal(dense.size(), parts, rng);
  std::vector<std::uint32_t> part;
  for (const std::size_t i : rows) part.push_back(of_pair[dense[group[i]]]);
  return by_part(rows, part, parts);
}

}  // namespace berth::interference
