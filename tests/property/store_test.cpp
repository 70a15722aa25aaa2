// The store against a map in memory, and against kill -9.
#include "store/store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>

#include "support/stores.h"
#include "support/temp_folder.h"

namespace berth {
namespace {

using testing::as_text;

// What a store is, without a file.
struct Twin {
  std::map<JobNumber, JobRecord> jobs;
  std::map<std::pair<JobNumber, std::uint32_t>, AttemptRecord> attempts;
  std::map<std::string, std::string> facts;
  JobNumber last = 0;

  JobNumber add(JobRecord job) {
    for (const auto& [number, known] : jobs) {
      if (!job.token.empty() && known.uid == job.uid && known.token == job.token) return number;
    }
    job.number = ++last;
    jobs[job.number] = job;
    return job.number;
  }
  void update(JobRecord job) {
    JobRecord& known = jobs.at(job.number);
    job.uid = known.uid;
    job.spec_json = known.spec_json;
    job.token = known.token;
    job.submit_unix_us = known.submit_unix_us;
    job.submit_us = known.submit_us;
    known = job;
  }
  [[nodiscard]] std::vector<JobNumber> ended() const {  // newest first
    std::vector<std::pair<std::int64_t, JobNumber>> order;
    for (const auto& [number, job] : jobs) {
      if (job.state.ended()) order.emplace_back(job.end_unix_us, number);
    }
    std::sort(order.rbegin(), order.rend());
    std::vector<JobNumber> numbers;
    for (const auto& [end, number] : order) numbers.push_back(number);
    return numbers;
  }
  [[nodiscard]] bool open(JobNumber job) const {
    return std::any_of(attempts.begin(), attempts.end(), [&](const auto& entry) {
      return entry.first.first == job && entry.second.phase != AttemptPhase::kEnded;
    });
  }
  std::int64_t prune(std::size_t keep) {
    std::int64_t removed = 0;
    const std::vector<JobNumber> all = ended();
    for (std::size_t i = keep; i < all.size(); ++i) {
      if (open(all[i])) continue;
      jobs.erase(all[i]);
      std::erase_if(attempts, [&](const auto& entry) { return entry.first.first == all[i]; });
      ++removed;
    }
    return removed;
  }
};

void expect_same(const Store& store, const Twin& twin) {
  std::vector<std::string> stored;
  std::vector<std::string> expected;
  const auto all = store.jobs({.limit = 100'000});
  ASSERT_TRUE(all) << all.error().text();
  for (const JobRecord& job : *all) stored.push_back(as_text(job));
  for (auto it = twin.jobs.rbegin(); it != twin.jobs.rend(); ++it) {
    expected.push_back(as_text(it->second));
  }
  EXPECT_TRUE(stored == expected);
  stored.clear();
  expected.clear();
  std::vector<std::int64_t> counts(5, 0);
  ASSERT_TRUE(store.each_active([&](const JobRecord& job) { stored.push_back(as_text(job)); }));
  for (const auto& [number, job] : twin.jobs) {
    if (!job.state.ended()) expected.push_back(as_text(job));
    ++counts[static_cast<std::size_t>(job.state.status)];
    std::vector<std::string> attempts;
    const auto stored_attempts = store.attempts(number).value();
    for (const auto& attempt : stored_attempts) attempts.push_back(as_text(attempt));
    std::vector<std::string> known;
    for (const auto& [key, attempt] : twin.attempts) {
      if (key.first == number) known.push_back(as_text(attempt));
    }
    EXPECT_EQ(attempts, known);
  }
  EXPECT_TRUE(stored == expected);
  EXPECT_EQ(store.count_by_status().value(), counts);
  std::vector<JobNumber> ended;
  const auto last = store.recently_ended(7).value();
  for (const JobRecord& job : last) ended.push_back(job.number);
  std::vector<JobNumber> known = twin.ended();
  known.resize(std::min<std::size_t>(known.size(), 7));
  std::reverse(known.begin(), known.end());
  EXPECT_EQ(ended, known);
  for (const auto& [name, value] : twin.facts) EXPECT_EQ(store.fact(name).value(), value);
  const auto open = store.open_attempts().value();
  EXPECT_EQ(open.size(), std::count_if(twin.attempts.begin(), twin.attempts.end(), [](auto& entry) {
              return entry.second.phase != AttemptPhase::kEnded;
            }));
}

JobNumber any_job(Rng& rng, const Twin& twin) {
  return std::next(twin.jobs.begin(), static_cast<std::ptrdiff_t>(rng.below(twin.jobs.size())))
      ->first;
}

// One write, to both.
void write_something(Rng& rng, Store& store, Twin& twin) {
  const std::uint64_t kind = rng.below(100);
  if (kind < 35 || twin.jobs.empty()) {
    const JobRecord job = testing::random_job(rng);
    EXPECT_EQ(store.add_job(job).value(), twin.add(job));
  } else if (kind < 65) {
    JobRecord job = testing::random_job(rng);
    job.number = any_job(rng, twin);
    EXPECT_TRUE(store.update_job(job));
    twin.update(job);
  } else if (kind < 90) {
    const auto attempt = testing::random_attempt(rng, any_job(rng, twin),
                                                 static_cast<std::uint32_t>(1 + rng.below(3)));
    EXPECT_TRUE(store.put_attempt(attempt));
    twin.attempts[{attempt.job, attempt.attempt}] = attempt;
  } else if (kind < 97) {
    const std::string name = "f" + std::to_string(rng.below(4));
    const std::string value = std::to_string(rng.next_u64());
    EXPECT_TRUE(store.set_fact(name, value));
    twin.facts[name] = value;
  } else {
    const auto keep = static_cast<std::int64_t>(rng.below(20));
    EXPECT_EQ(store.prune(keep).value(), twin.prune(static_cast<std::size_t>(keep)));
  }
}

class StoreTwin : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(StoreTwin, DoesTheSame) {
  testing::TempFolder folder;
  Rng rng(GetParam());
  auto store = Store::open(folder.file("berth.db")).value();
  Twin twin;
  Twin committed;
  for (int step = 0; step < 600 && !HasFailure(); ++step) {
    const std::uint64_t kind = rng.below(100);
    if (kind < 85) {
      write_something(rng, *store, twin);
    } else if (kind < 92) {
      ASSERT_TRUE(store->commit(kind < 90 ? Durability::kProcess : Durability::kPower));
      committed = twin;
    } else if (kind < 96) {
      store->roll_back();
      twin = committed;
    } else if (kind < 97) {
      store.reset();
      store = Store::open(folder.file("berth.db")).value();
      twin = committed;
    } else {
      expect_same(*store, twin);
    }
  }
  expect_same(*store, twin);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StoreTwin, ::testing::Range<std::uint64_t>(1, 13));

constexpr int kJobsPerBatch = 7;

// Batch after batch, each of some jobs, an attempt, and its own number; tells the number once it is
// committed. Until it is killed.
[[noreturn]] void write_until_killed(const std::string& path, int out) {
  auto store = Store::open(path);
  if (!store) ::_exit(1);
  std::int64_t batch = 0;
  if (const auto last = (*store)->fact("batch").value()) batch = std::stoll(*last);
  for (;;) {
    ++batch;
    JobNumber job = 0;
    for (int i = 0; i < kJobsPerBatch; ++i) {
      JobRecord record;
      record.spec_json = std::string(static_cast<std::size_t>(batch % 50) * 100, 's');
      const auto added = (*store)->add_job(record);
      if (!added) ::_exit(2);
      job = *added;
    }
    const bool written =
        (*store)->put_attempt({.job = job, .attempt = 1}) &&
        (*store)->set_fact("batch", std::to_string(batch)) &&
        (*store)->commit(batch % 3 == 0 ? Durability::kPower : Durability::kProcess);
    if (!written) ::_exit(3);
    if (::write(out, &batch, sizeof batch) != sizeof batch) ::_exit(4);
  }
}

TEST(KilledStore, WhatWasCommittedIsThereAndWholeBatchesOnly) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  Rng rng(99);
  for (int round = 0; round < 20; ++round) {
    int pipes[2];
    ASSERT_EQ(::pipe(pipes), 0);
    const pid_t child = ::fork();
    if (child == 0) write_until_killed(path, pipes[1]);
    ::close(pipes[1]);
    std::int64_t told = 0;
    for (auto left = rng.below(60); left > 0; --left) {
      ASSERT_EQ(::read(pipes[0], &told, sizeof told), static_cast<ssize_t>(sizeof told));
    }
    // Somewhere inside what the child does next.
    for (auto spin = rng.below(300'000); spin > 0; --spin) (void)rng.next_u64();
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    while (::read(pipes[0], &told, sizeof told) == static_cast<ssize_t>(sizeof told)) {
    }
    ::close(pipes[0]);

    auto store = Store::open(path);
    ASSERT_TRUE(store) << store.error().text();
    const std::int64_t batches = std::stoll((*store)->fact("batch").value().value_or("0"));
    EXPECT_GE(batches, told);
    EXPECT_EQ((*store)->count_by_status().value()[0], batches * kJobsPerBatch);
    EXPECT_EQ((*store)->open_attempts().value().size(), batches);
  }
}

}  // namespace
}  // namespace berth
