// Opening: who may, what is refused, and that what is refused stays as it is.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "store/sqlite_store.h"
#include "support/stores.h"
#include "support/temp_folder.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string refusal(const std::string& path) {
  auto store = Store::open(path);
  return store ? "" : store.error().text();
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A closed store of so many jobs.
void make_store(const std::string& path, int jobs) {
  auto store = Store::open(path).value();
  for (int i = 0; i < jobs; ++i) {
    JobRecord job;
    job.spec_json = std::string(200, 'x');
    ASSERT_TRUE(store->add_job(job));
  }
  ASSERT_TRUE(store->commit(Durability::kPower));
}

TEST(OpenStore, IsItsOwnersAlone) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  auto store = Store::open(path).value();
  ASSERT_TRUE(store->add_job({}));
  ASSERT_TRUE(store->commit(Durability::kProcess));
  for (const char* end : {"", "-wal", "-shm", ".lock"}) {
    struct stat info {};
    ASSERT_EQ(::stat((path + end).c_str(), &info), 0) << end;
    EXPECT_EQ(info.st_mode & 0777U, 0600U) << end;
  }
}

TEST(OpenStore, ASecondDaemonIsRefusedByName) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  auto store = Store::open(path).value();
  const std::string mine = "in use by process " + std::to_string(::getpid());
  EXPECT_TRUE(has(refusal(path), mine)) << refusal(path);
  EXPECT_EQ(testing::in_child([&] {
              const std::string why = refusal(path);
              // The list of what is open was copied with the process; the lock was not.
              return has(why, "in use by process") ? 0 : 1;
            }),
            0);
  store.reset();
  EXPECT_EQ(refusal(path), "");
}

TEST(OpenStore, TheLockNamesWhoHasIt) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto store = Store::open(path);
    const char ready = store ? 'y' : 'n';
    (void)!::write(pipes[1], &ready, 1);
    ::pause();
    ::_exit(0);
  }
  char ready = 0;
  ASSERT_EQ(::read(pipes[0], &ready, 1), 1);
  EXPECT_EQ(ready, 'y');
  const std::string why = refusal(path);
  EXPECT_TRUE(has(why, "in use by process " + std::to_string(child))) << why;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(pipes[0]);
  ::close(pipes[1]);
  EXPECT_EQ(refusal(path), "");  // nothing is left of a lock whose process died
}

TEST(OpenStore, WhatIsNoStoreIsLeftAlone) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  write(path, std::string(5000, 'q'));
  EXPECT_TRUE(has(refusal(path), "is not a store of Berth")) << refusal(path);
  EXPECT_EQ(contents(path), std::string(5000, 'q'));
  fs::remove(path);
  {
    SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE t(x)");
  }
  const std::string before = contents(path);
  EXPECT_TRUE(has(refusal(path), "not a store of Berth")) << refusal(path);
  EXPECT_EQ(contents(path), before);
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_TRUE(has(refusal(path), "not a regular file")) << refusal(path);
}

TEST(OpenStore, ACutFileIsRefused) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  make_store(path, 200);
  const std::string whole = contents(path);
  ASSERT_GT(whole.size(), 40'000U);
  for (const std::size_t size : {std::size_t{50}, std::size_t{4096}, whole.size() / 2 + 7,
                                 whole.size() - 4096, whole.size() - 1}) {
    write(path, std::string_view(whole).substr(0, size));
    const std::string why = refusal(path);
    EXPECT_TRUE(has(why, "damaged") || has(why, "not a store of Berth")) << size << ": " << why;
  }
  write(path, whole);
  EXPECT_EQ(refusal(path), "");
}

TEST(OpenStore, DamageIsAnErrorAndNeverACrash) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  make_store(path, 300);
  const std::string whole = contents(path);
  Rng rng(11);
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 20; ++k) {
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    }
    write(path, bytes);
    auto store = Store::open(path);
    if (!store) {
      ++refused;
      EXPECT_FALSE(store.error().text().empty());
      continue;
    }
    (void)(*store)->each_active([](const JobRecord&) {});
    (void)(*store)->jobs({});
    (void)(*store)->prune(10);
    (void)(*store)->commit(Durability::kProcess);
    (*store)->roll_back();
  }
  EXPECT_GT(refused, 20);
}

TEST(OpenStore, AMissingFolderIsSaid) {
  testing::TempFolder folder;
  EXPECT_TRUE(has(refusal(folder.file("none/berth.db")), "cannot be opened"));
}

TEST(OpenStore, AReadOnlyFolderIsSaid) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  make_store(path, 1);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  const int status = testing::in_child([&] {
    // Modes do not bind root.
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 77;
    const std::string why = refusal(path);
    return has(why, "denied") ? 0 : 1;
  });
  ::chmod(folder.path().c_str(), 0755);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "cannot become somebody else";
  EXPECT_EQ(status, 0);
}

// Adds batches of big jobs until one fails; how many were committed.
int fill(Store& store, std::string& error) {
  JobRecord job;
  job.spec_json = std::string(20'000, 'x');
  for (int batches = 0; batches < 10'000; ++batches) {
    for (int i = 0; i < 5; ++i) {
      const auto added = store.add_job(job);
      if (!added) {
        error = added.error().text();
        return batches;
      }
    }
    const Status committed = store.commit(Durability::kPower);
    if (!committed) {
      error = committed.error().text();
      return batches;
    }
  }
  return -1;
}

TEST(FullStore, OneErrorAndUsableAfterwards) {
  testing::TempFolder folder;
  auto store = open_sqlite_store(folder.file("berth.db"), {.max_pages = 200}).value();
  std::string error;
  const int batches = fill(*store, error);
  ASSERT_GT(batches, 0);
  EXPECT_TRUE(has(error, "no space left")) << error;
  store->roll_back();
  EXPECT_EQ(store->count_by_status().value()[0], batches * 5);
  // Room returns.
  JobRecord job = store->job(1).value().value();
  for (JobNumber number = 1; number <= 10; ++number) {
    job.number = number;
    job.state.status = JobStatus::kFinished;
    ASSERT_TRUE(store->update_job(job));
  }
  ASSERT_EQ(store->prune(0).value(), 10);
  ASSERT_TRUE(store->commit(Durability::kProcess));
  ASSERT_TRUE(store->add_job({}));
  ASSERT_TRUE(store->commit(Durability::kProcess));
}

TEST(FullStore, AFullDiskToo) {
  testing::TempFolder folder;
  if (::geteuid() != 0 || ::mount("berth", folder.path().c_str(), "tmpfs", 0, "size=2m") != 0) {
    GTEST_SKIP() << "only root mounts a small disk";
  }
  const std::string ballast = folder.file("ballast");
  write(ballast, std::string(400'000, 'b'));
  std::string error;
  {
    auto store = Store::open(folder.file("berth.db")).value();
    const int batches = fill(*store, error);
    EXPECT_GT(batches, 0);
    EXPECT_FALSE(error.empty());
    store->roll_back();
    EXPECT_EQ(store->count_by_status().value()[0], batches * 5);
    fs::remove(ballast);
    EXPECT_TRUE(store->add_job({}));
    const Status committed = store->commit(Durability::kPower);
    EXPECT_TRUE(committed) << committed.error().text();
    EXPECT_EQ(store->count_by_status().value()[0], batches * 5 + 1);
  }
  EXPECT_TRUE(has(error, "no space left")) << error;
  // Nor can one be made where there is no room at all.
  {
    std::ofstream filler(ballast, std::ios::binary);
    while (filler << std::string(4096, 'b') << std::flush) {
    }
  }
  EXPECT_NE(refusal(folder.file("other.db")), "");
  ::umount2(folder.path().c_str(), MNT_DETACH);
}

TEST(BackUp, IsWholeWhileTheStoreIsInUse) {
  testing::TempFolder folder;
  auto store = Store::open(folder.file("berth.db")).value();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(store->add_job({}));
  ASSERT_TRUE(store->commit(Durability::kProcess));
  ASSERT_TRUE(store->add_job({}));  // an open batch is no part of it
  const std::string copy = folder.file("copy.db");
  const Status status = backup_store(folder.file("berth.db"), copy);
  ASSERT_TRUE(status) << status.error().text();
  ASSERT_TRUE(store->commit(Durability::kProcess));
  struct stat info {};
  ASSERT_EQ(::stat(copy.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  auto restored = Store::open(copy).value();
  EXPECT_EQ(restored->count_by_status().value()[0], 50);
  EXPECT_EQ(restored->add_job({}).value(), 51);
}

TEST(BackUp, IsRefusedWhenThereIsOneOrNoStore) {
  testing::TempFolder folder;
  const std::string path = folder.file("berth.db");
  const std::string copy = folder.file("copy.db");
  EXPECT_EQ(backup_store(path, copy).error().exit_code(), 2);
  make_store(path, 1);
  write(copy, "mine");
  EXPECT_TRUE(has(backup_store(path, copy).error().text(), "is there already"));
  EXPECT_EQ(contents(copy), "mine");
  write(folder.file("text"), std::string(600, 't'));
  EXPECT_TRUE(has(backup_store(folder.file("text"), folder.file("c2")).error().text(),
                  "not a store of Berth"));
  write(folder.file("empty"), "");
  EXPECT_FALSE(backup_store(folder.file("empty"), folder.file("c2")));
  EXPECT_FALSE(backup_store(path, folder.file("none/c2")));
  EXPECT_FALSE(fs::exists(folder.file("c2")));
  EXPECT_FALSE(fs::exists(folder.file("c2.part")));
}

}  // namespace
}  // namespace berth
