#include "store/sqlite_store.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/file_identity.h"
#include "store/lock.h"
#include "store/records.h"
#include "store/sql.h"

namespace berth {
namespace {

using sql::Use;

std::string question_marks(int count) {
  std::string marks = "?";
  for (int i = 1; i < count; ++i) marks += ",?";
  return marks;
}

std::string select_jobs(std::string_view rest) {
  return fmt::format("SELECT number, {}, {}, json FROM job JOIN spec ON spec.job = job.number {}",
                     sql::kFixedColumns, sql::kChangingColumns, rest);
}

std::string select_attempts(std::string_view rest) {
  return fmt::format("SELECT {} FROM attempt {}", sql::kAttemptColumns, rest);
}

std::string insert_job() {
  return fmt::format("INSERT INTO job({}, {}) VALUES({})", sql::kFixedColumns,
                     sql::kChangingColumns,
                     question_marks(sql::kFixedColumnCount + sql::kChangingColumnCount));
}

std::string update_job_text() {
  return fmt::format("UPDATE job SET ({}) = ({}) WHERE number = ?", sql::kChangingColumns,
                     question_marks(sql::kChangingColumnCount));
}

std::string put_attempt_text() {
  return fmt::format("INSERT OR REPLACE INTO attempt({}) VALUES({})", sql::kAttemptColumns,
                     question_marks(sql::kAttemptColumnCount));
}

// Compiled once, kept.
struct Statements {
  explicit Statements(SQLite::Database& db)
      : begin(db, "BEGIN IMMEDIATE"),
        commit(db, "COMMIT"),
        add_job(db, insert_job()),
        add_spec(db, "INSERT INTO spec(job, json) VALUES(?, ?)"),
        job_of_token(db, "SELECT number FROM job WHERE uid = ? AND token = ? AND token <> ''"),
        update_job(db, update_job_text()),
        put_attempt(db, put_attempt_text()),
        job(db, select_jobs("WHERE number = ?")),
        active(db, select_jobs("WHERE status < 2 ORDER BY number")),
        attempts(db, select_attempts("WHERE job = ? ORDER BY attempt")),
        open_attempts(db, select_attempts("WHERE phase < 3 ORDER BY job, attempt")),
        ended(db, select_jobs("WHERE status >= 2 ORDER BY end_unix_us DESC, number DESC LIMIT ?")),
        count(db, "SELECT status, count(*) FROM job GROUP BY status"),
        fact(db, "SELECT value FROM fact WHERE name = ?"),
        set_fact(db, "INSERT OR REPLACE INTO fact(name, value) VALUES(?, ?)"),
        prune(db,
              "DELETE FROM job WHERE number IN (SELECT number FROM job WHERE status >= 2 "
              "ORDER BY end_unix_us DESC, number DESC LIMIT -1 OFFSET ?) AND NOT EXISTS "
              "(SELECT 1 FROM attempt WHERE attempt.job = job.number AND phase < 3)") {}

  SQLite::Statement begin, commit;
  SQLite::Statement add_job, add_spec, job_of_token, update_job, put_attempt;
  SQLite::Statement job, active, attempts, open_attempts, ended, count, fact, set_fact, prune;
};

std::string filtered_text(const JobFilter& filter) {
  std::string where = "WHERE number < ?";
  if (filter.uid) where += " AND uid = ?";
  if (filter.status) where += " AND status = ?";
  if (filter.active_only) where += " AND status < 2";
  return select_jobs(where + " ORDER BY number DESC LIMIT ?");
}

std::int64_t as_limit(std::size_t limit) {
  constexpr std::size_t kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(limit, kMost));
}

std::vector<JobRecord> read_jobs(Use& use) {
  std::vector<JobRecord> jobs;
  while (use.next()) jobs.push_back(sql::read_job(use));
  return jobs;
}

std::vector<AttemptRecord> read_attempts(Use& use) {
  std::vector<AttemptRecord> attempts;
  while (use.next()) attempts.push_back(sql::read_attempt(use));
  return attempts;
}

FileIdentity file_at(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? identity_of(info) : FileIdentity{};
}

class SqliteStore final : public Store {
 public:
  SqliteStore(std::string path, StoreLock lock, std::unique_ptr<SQLite::Database> database)
      : path_(std::move(path)),
        lock_(std::move(lock)),
        database_(std::move(database)),
        opened_(file_at(path_)),
        statements_(std::make_unique<Statements>(*database_)) {}
  ~SqliteStore() override { roll_back(); }

  [[nodiscard]] Status still_there() const override {
    if (file_at(path_) == opened_) return {};
    return fail(
        io_error(path_,
                 "is no longer the file that was opened: it was moved, removed or replaced; "
                 "nothing is taken on until it is back"));
  }

  [[nodiscard]] Status commit(Durability durability) override {
    if (batch_ == Batch::kBroken) return fail(broken());
    if (Status there = still_there(); !there) {
      if (batch_ == Batch::kOpen) batch_ = Batch::kBroken;
      return there;
    }
    if (batch_ == Batch::kOpen) {
      Status status = change([&]() -> Status {
        Use(statements_->commit).run();
        return {};
      });
      if (!status) return status;
      batch_ = Batch::kNone;
      unsynced_ = true;
    }
    return durability == Durability::kPower && unsynced_ ? sync_log() : Status{};
  }

  void roll_back() override {
    // SQLite itself rolls back after some errors.
    if (sqlite3_get_autocommit(database_->getHandle()) == 0) (void)database_->tryExec("ROLLBACK");
    batch_ = Batch::kNone;
  }

  [[nodiscard]] Result<JobNumber> add_job(const JobRecord& job) override {
    return write([&]() -> Result<JobNumber> {
      if (!job.token.empty()) {
        Use known(statements_->job_of_token);
        if (known.bind(job.uid).bind(job.token).next()) return known.integer<JobNumber>();
      }
      Use add(statements_->add_job);
      sql::bind_fixed(add, job);
      sql::bind_changing(add, job);
      add.run();
      const JobNumber number = database_->getLastInsertRowid();
      Use(statements_->add_spec).bind(number).bind(job.spec_json).run();
      return number;
    });
  }

  [[nodiscard]] Status update_job(const JobRecord& job) override {
    return write([&]() -> Status {
      Use update(statements_->update_job);
      sql::bind_changing(update, job);
      if (update.bind(job.number).run() == 1) return {};
      return fail(internal_error(fmt::format("{}: has no job {}", path_, job.number)));
    });
  }

  [[nodiscard]] Status put_attempt(const AttemptRecord& attempt) override {
    return write([&]() -> Status {
      Use put(statements_->put_attempt);
      sql::bind_attempt(put, attempt);
      put.run();
      return {};
    });
  }

  [[nodiscard]] Result<std::optional<JobRecord>> job(JobNumber number) const override {
    return sql::guarded(path_, [&]() -> Result<std::optional<JobRecord>> {
      Use use(statements_->job);
      if (!use.bind(number).next()) return std::optional<JobRecord>();
      return std::optional(sql::read_job(use));
    });
  }

  [[nodiscard]] Result<std::vector<JobRecord>> jobs(const JobFilter& filter) const override {
    return sql::guarded(path_, [&]() -> Result<std::vector<JobRecord>> {
      Use use(filtered(filter));
      use.bind(filter.before > 0 ? filter.before : std::numeric_limits<JobNumber>::max());
      if (filter.uid) use.bind(*filter.uid);
      if (filter.status) use.bind(*filter.status);
      use.bind(as_limit(filter.limit));
      return read_jobs(use);
    });
  }

  [[nodiscard]] Status each_active(
      const std::function<void(const JobRecord&)>& visit) const override {
    return sql::guarded(path_, [&]() -> Status {
      Use use(statements_->active);
      while (use.next()) visit(sql::read_job(use));
      return {};
    });
  }

  [[nodiscard]] Result<std::vector<AttemptRecord>> attempts(JobNumber job) const override {
    return sql::guarded(path_, [&]() -> Result<std::vector<AttemptRecord>> {
      Use use(statements_->attempts);
      return read_attempts(use.bind(job));
    });
  }

  [[nodiscard]] Result<std::vector<AttemptRecord>> open_attempts() const override {
    return sql::guarded(path_, [&]() -> Result<std::vector<AttemptRecord>> {
      Use use(statements_->open_attempts);
      return read_attempts(use);
    });
  }

  [[nodiscard]] Result<std::vector<JobRecord>> recently_ended(std::size_t limit) const override {
    return sql::guarded(path_, [&]() -> Result<std::vector<JobRecord>> {
      Use use(statements_->ended);
      std::vector<JobRecord> jobs = read_jobs(use.bind(as_limit(limit)));
      std::reverse(jobs.begin(), jobs.end());
      return jobs;
    });
  }

  [[nodiscard]] Result<std::vector<std::int64_t>> count_by_status() const override {
    return sql::guarded(path_, [&]() -> Result<std::vector<std::int64_t>> {
      std::vector<std::int64_t> counts(static_cast<std::size_t>(JobStatus::kFailed) + 1, 0);
      Use use(statements_->count);
      while (use.next()) {
        const auto status = static_cast<std::size_t>(use.one_of(JobStatus::kFailed));
        counts[status] = use.integer<std::int64_t>();
      }
      return counts;
    });
  }

  [[nodiscard]] Result<std::optional<std::string>> fact(std::string_view name) const override {
    return sql::guarded(path_, [&]() -> Result<std::optional<std::string>> {
      const std::string key(name);
      Use use(statements_->fact);
      if (!use.bind(key).next()) return std::optional<std::string>();
      return std::optional(use.text());
    });
  }

  [[nodiscard]] Status set_fact(std::string_view name, std::string_view value) override {
    return write([&]() -> Status {
      const std::string key(name);
      const std::string text(value);
      Use(statements_->set_fact).bind(key).bind(text).run();
      return {};
    });
  }

  [[nodiscard]] Result<std::int64_t> prune(std::int64_t keep) override {
    return write([&]() -> Result<std::int64_t> {
      return Use(statements_->prune).bind(std::max<std::int64_t>(0, keep)).run();
    });
  }

 private:
  enum class Batch : std::uint8_t {
    kNone,
    kOpen,
    kBroken,  // a write of it failed: what is left of it must not be committed
  };

  [[nodiscard]] Error broken() const {
    return internal_error(path_ + ": a write of this batch failed; it must be rolled back");
  }

  // A failure breaks the batch.
  template <class Work>
  [[nodiscard]] std::invoke_result_t<Work> change(Work work) {
    auto result = sql::guarded(path_, work);
    if (!result) batch_ = Batch::kBroken;
    return result;
  }

  // In the open batch, or a new one.
  template <class Work>
  [[nodiscard]] std::invoke_result_t<Work> write(Work work) {
    if (batch_ == Batch::kBroken) return fail(broken());
    return change([&]() -> std::invoke_result_t<Work> {
      if (batch_ == Batch::kNone) Use(statements_->begin).run();
      batch_ = Batch::kOpen;
      return work();
    });
  }

  // What `PRAGMA synchronous = FULL` does at each commit; that cannot be changed inside a batch,
  // and who opens a batch does not know yet how it will be committed.
  [[nodiscard]] Status sync_log() {
    sqlite3_file* log = nullptr;
    int code = sqlite3_file_control(database_->getHandle(), "main", SQLITE_FCNTL_JOURNAL_POINTER,
                                    static_cast<void*>(&log));
    if (code == SQLITE_OK && log != nullptr && log->pMethods != nullptr) {
      code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    }
    if (code != SQLITE_OK) {
      return fail(io_error(path_, "a batch is written, but it may not survive a loss of power"));
    }
    unsynced_ = false;
    return {};
  }

  // There are few combinations of what a filter names; each is compiled when it is first used.
  [[nodiscard]] SQLite::Statement& filtered(const JobFilter& filter) const {
    const std::size_t kind =
        (filter.uid ? 1U : 0U) + (filter.status ? 2U : 0U) + (filter.active_only ? 4U : 0U);
    auto& statement = filtered_[kind];
    if (!statement) {
      statement = std::make_unique<SQLite::Statement>(*database_, filtered_text(filter));
    }
    return *statement;
  }

  std::string path_;
  StoreLock lock_;  // given up last
  std::unique_ptr<SQLite::Database> database_;
  FileIdentity opened_;
  std::unique_ptr<Statements> statements_;
  mutable std::array<std::unique_ptr<SQLite::Statement>, 8> filtered_;
  Batch batch_ = Batch::kNone;
  bool unsynced_ = false;
};

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path,
                                                 const sql::OpenSettings& settings) {
  BERTH_TRY(StoreLock lock, StoreLock::take(path));
  BERTH_TRY(auto database, sql::open_database(path, settings));
  return sql::guarded(path, [&]() -> Result<std::unique_ptr<Store>> {
    return std::unique_ptr<Store>(
        std::make_unique<SqliteStore>(path, std::move(lock), std::move(database)));
  });
}

Result<std::unique_ptr<Store>> Store::open(const std::string& path) {
  return open_sqlite_store(path, {});
}

}  // namespace berth
