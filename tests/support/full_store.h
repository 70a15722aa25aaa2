// A store whose disk can be full: everything goes to a real one, but commits fail while it is.
#pragma once

#include <memory>
#include <utility>

#include "store/store.h"

namespace berth::testing {

class FullStore final : public Store {
 public:
  explicit FullStore(std::unique_ptr<Store> inner) : inner_(std::move(inner)) {}
  bool full = false;

  Status commit(Durability durability) override {
    if (full) return fail(io_error("berth.db", "no space left on device"));
    return inner_->commit(durability);
  }
  Status still_there() const override { return inner_->still_there(); }
  void roll_back() override { inner_->roll_back(); }
  Result<JobNumber> add_job(const JobRecord& job) override { return inner_->add_job(job); }
  Status update_job(const JobRecord& job) override { return inner_->update_job(job); }
  Status put_attempt(const AttemptRecord& a) override { return inner_->put_attempt(a); }
  Result<std::optional<JobRecord>> job(JobNumber number) const override {
    return inner_->job(number);
  }
  Result<std::vector<JobRecord>> jobs(const JobFilter& filter) const override {
    return inner_->jobs(filter);
  }
  Status each_active(const std::function<void(const JobRecord&)>& visit) const override {
    return inner_->each_active(visit);
  }
  Result<std::vector<AttemptRecord>> attempts(JobNumber job) const override {
    return inner_->attempts(job);
  }
  Result<std::vector<AttemptRecord>> open_attempts() const override {
    return inner_->open_attempts();
  }
  Result<std::vector<JobRecord>> recently_ended(std::size_t limit) const override {
    return inner_->recently_ended(limit);
  }
  Result<std::vector<std::int64_t>> count_by_status() const override {
    return inner_->count_by_status();
  }
  Result<std::optional<std::string>> fact(std::string_view name) const override {
    return inner_->fact(name);
  }
  Status set_fact(std::string_view name, std::string_view value) override {
    return inner_->set_fact(name, value);
  }
  Result<std::int64_t> prune(std::int64_t keep) override { return inner_->prune(keep); }

 private:
  std::unique_ptr<Store> inner_;
};

}  // namespace berth::testing
