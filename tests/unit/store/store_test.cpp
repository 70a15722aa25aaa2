// What is written is read back, by every question that can be asked.
#include "store/store.h"

#include <gtest/gtest.h>

#include "support/stores.h"
#include "support/temp_folder.h"

namespace berth {
namespace {

using testing::as_text;
using testing::random_attempt;
using testing::random_job;

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override { reopen(); }
  void reopen() {
    store_.reset();
    auto opened = Store::open(folder_.file("berth.db"));
    ASSERT_TRUE(opened) << opened.error().text();
    store_ = std::move(*opened);
  }
  void commit() {
    const Status status = store_->commit(Durability::kProcess);
    ASSERT_TRUE(status) << status.error().text();
  }
  JobRecord add(JobStatus status, std::uint32_t uid = 1, std::int64_t end_unix_us = -1) {
    JobRecord job;
    job.uid = uid;
    job.state.status = status;
    job.end_unix_us = end_unix_us;
    job.number = store_->add_job(job).value();
    return job;
  }
  [[nodiscard]] std::vector<JobNumber> numbers(const JobFilter& filter) const {
    std::vector<JobNumber> found;
    const auto jobs = store_->jobs(filter).value();
    for (const JobRecord& job : jobs) found.push_back(job.number);
    return found;
  }

  testing::TempFolder folder_;
  std::unique_ptr<Store> store_;
};

using Numbers = std::vector<JobNumber>;

TEST_F(StoreTest, EveryFieldComesBack) {
  Rng rng(1);
  std::vector<JobRecord> jobs;
  for (int i = 0; i < 200; ++i) {
    JobRecord job = random_job(rng);
    job.token.clear();
    job.number = store_->add_job(job).value();
    jobs.push_back(job);
  }
  commit();
  reopen();
  for (const JobRecord& job : jobs) {
    EXPECT_EQ(as_text(store_->job(job.number).value().value()), as_text(job));
  }
}

TEST_F(StoreTest, AnUpdateLeavesWhatWasSubmitted) {
  Rng rng(2);
  JobRecord first = random_job(rng);
  first.number = store_->add_job(first).value();
  JobRecord changed = random_job(rng);
  changed.number = first.number;
  ASSERT_TRUE(store_->update_job(changed));
  changed.uid = first.uid;
  changed.spec_json = first.spec_json;
  changed.token = first.token;
  changed.submit_unix_us = first.submit_unix_us;
  changed.submit_us = first.submit_us;
  EXPECT_EQ(as_text(store_->job(first.number).value().value()), as_text(changed));
}

TEST_F(StoreTest, AttemptsAreAddedAndReplaced) {
  Rng rng(3);
  const JobNumber job = add(JobStatus::kRunning).number;
  AttemptRecord first = random_attempt(rng, job, 1);
  AttemptRecord second = random_attempt(rng, job, 2);
  second.phase = AttemptPhase::kEnded;
  ASSERT_TRUE(store_->put_attempt(second));
  ASSERT_TRUE(store_->put_attempt(first));
  first = random_attempt(rng, job, 1);
  first.phase = AttemptPhase::kStopping;
  ASSERT_TRUE(store_->put_attempt(first));
  const auto attempts = store_->attempts(job).value();
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(as_text(attempts[0]), as_text(first));
  EXPECT_EQ(as_text(attempts[1]), as_text(second));
  const auto open = store_->open_attempts().value();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(as_text(open[0]), as_text(first));
}

TEST_F(StoreTest, TheSameTokenOfTheSameUserIsTheSameJob) {
  JobRecord job;
  job.uid = 5;
  job.token = "once";
  const JobNumber first = store_->add_job(job).value();
  EXPECT_EQ(store_->add_job(job).value(), first);
  commit();
  EXPECT_EQ(store_->add_job(job).value(), first);
  job.uid = 6;
  EXPECT_NE(store_->add_job(job).value(), first);
  job.token.clear();
  const JobNumber without = store_->add_job(job).value();
  EXPECT_NE(store_->add_job(job).value(), without);
}

TEST_F(StoreTest, NumbersAreNeverUsedAgain) {
  EXPECT_EQ(add(JobStatus::kFinished, 1, 10).number, 1);
  EXPECT_EQ(add(JobStatus::kFinished, 1, 20).number, 2);
  EXPECT_EQ(store_->prune(0).value(), 2);
  commit();
  reopen();
  EXPECT_EQ(add(JobStatus::kPending).number, 3);
}

TEST_F(StoreTest, JobsAreFiltered) {
  add(JobStatus::kFinished, 1);
  add(JobStatus::kPending, 2);
  add(JobStatus::kRunning, 1);
  add(JobStatus::kFailed, 2);
  add(JobStatus::kPending, 1);
  EXPECT_EQ(numbers({}), (Numbers{5, 4, 3, 2, 1}));
  EXPECT_EQ(numbers({.uid = 1U}), (Numbers{5, 3, 1}));
  EXPECT_EQ(numbers({.status = JobStatus::kPending}), (Numbers{5, 2}));
  EXPECT_EQ(numbers({.active_only = true}), (Numbers{5, 3, 2}));
  EXPECT_EQ(numbers({.uid = 1U, .active_only = true}), (Numbers{5, 3}));
  EXPECT_EQ(numbers({.uid = 2U, .status = JobStatus::kFailed, .active_only = true}), Numbers{});
  EXPECT_EQ(numbers({.before = 3}), (Numbers{2, 1}));
  EXPECT_EQ(numbers({.before = 5, .limit = 2}), (Numbers{4, 3}));
  EXPECT_EQ(numbers({.limit = 0}), Numbers{});
}

TEST_F(StoreTest, ActiveOnesComeOldestFirstAndCountsAddUp) {
  add(JobStatus::kPending);
  add(JobStatus::kStopped);
  add(JobStatus::kRunning);
  Numbers seen;
  ASSERT_TRUE(store_->each_active([&](const JobRecord& job) { seen.push_back(job.number); }));
  EXPECT_EQ(seen, (Numbers{1, 3}));
  EXPECT_EQ(store_->count_by_status().value(), (std::vector<std::int64_t>{1, 1, 0, 1, 0}));
}

TEST_F(StoreTest, EndedOnesAreKeptByWhenTheyEnded) {
  add(JobStatus::kFinished, 1, 300);
  add(JobStatus::kFailed, 1, 100);
  add(JobStatus::kPending);
  add(JobStatus::kStopped, 1, 200);
  Numbers seen;
  const auto ended = store_->recently_ended(2).value();
  for (const JobRecord& job : ended) seen.push_back(job.number);
  EXPECT_EQ(seen, (Numbers{4, 1}));
  EXPECT_EQ(store_->prune(1).value(), 2);
  EXPECT_EQ(numbers({}), (Numbers{3, 1}));
}

TEST_F(StoreTest, PruningTakesTheAttemptsAndSparesOpenOnes) {
  Rng rng(4);
  const JobNumber settled = add(JobStatus::kFailed, 1, 1).number;
  const JobNumber unsettled = add(JobStatus::kFailed, 1, 2).number;
  AttemptRecord attempt = random_attempt(rng, settled, 1);
  attempt.phase = AttemptPhase::kEnded;
  ASSERT_TRUE(store_->put_attempt(attempt));
  attempt.job = unsettled;
  attempt.phase = AttemptPhase::kIntended;
  ASSERT_TRUE(store_->put_attempt(attempt));
  EXPECT_EQ(store_->prune(-7).value(), 1);
  EXPECT_EQ(numbers({}), Numbers{unsettled});
  EXPECT_TRUE(store_->attempts(settled).value().empty());
}

TEST_F(StoreTest, FactsAreSetAndReplaced) {
  EXPECT_EQ(store_->fact("origin").value(), std::nullopt);
  ASSERT_TRUE(store_->set_fact("origin", "1"));
  ASSERT_TRUE(store_->set_fact("origin", std::string_view("2\0x", 3)));
  EXPECT_EQ(store_->fact("origin").value(), std::string("2\0x", 3));
}

TEST_F(StoreTest, WhatIsNotCommittedIsGone) {
  add(JobStatus::kPending);
  commit();
  add(JobStatus::kPending);
  store_->roll_back();
  EXPECT_EQ(numbers({}), Numbers{1});
  add(JobStatus::kPending);
  reopen();
  EXPECT_EQ(numbers({}), Numbers{1});
}

TEST_F(StoreTest, AFailedWriteBreaksItsBatchAndNoMore) {
  add(JobStatus::kPending);
  commit();
  add(JobStatus::kPending);
  JobRecord nobody;
  nobody.number = 99;
  EXPECT_FALSE(store_->update_job(nobody));
  EXPECT_FALSE(store_->add_job({}));
  EXPECT_FALSE(store_->commit(Durability::kProcess));
  store_->roll_back();
  EXPECT_EQ(numbers({}), Numbers{1});
  add(JobStatus::kPending);
  commit();
  EXPECT_EQ(numbers({}).size(), 2U);
}

TEST_F(StoreTest, AnAttemptNeedsItsJob) {
  EXPECT_FALSE(store_->put_attempt({.job = 7, .attempt = 1}));
  store_->roll_back();
  EXPECT_TRUE(store_->open_attempts().value().empty());
}

TEST_F(StoreTest, ManyCommitsOfEitherKind) {
  ASSERT_TRUE(store_->commit(Durability::kPower));  // of nothing
  for (int i = 0; i < 5; ++i) {
    add(JobStatus::kPending);
    ASSERT_TRUE(store_->commit(i % 2 == 0 ? Durability::kProcess : Durability::kPower));
  }
  ASSERT_TRUE(store_->commit(Durability::kPower));
  EXPECT_EQ(numbers({}).size(), 5U);
}

TEST_F(StoreTest, ReadsInsideAVisitAreAllowed) {
  add(JobStatus::kPending);
  add(JobStatus::kPending);
  std::size_t seen = 0;
  ASSERT_TRUE(store_->each_active([&](const JobRecord& job) {
    seen += store_->job(job.number).value().has_value() ? 1U : 0U;
  }));
  EXPECT_EQ(seen, 2U);
}

}  // namespace
}  // namespace berth
