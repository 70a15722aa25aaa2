// Jobs that wait, by class of what they ask for and in order of a key in each.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ordered_blocks.h"
#include "policy/common/job_classes.h"

namespace berth {

class WaitingJobs {
 public:
  using Key = std::int64_t;

  // The job must not be in it.
  void insert(JobId id, const Job& job, Key key) {
    if (filed_.size() <= id.index()) filed_.resize(id.index() + 1);
    Filed& filed = filed_[id.index()];
    filed = {true, classes_.class_of(job), key};
    classes_[filed.job_class].jobs.insert({key, id.value, 0});
    ++size_;
  }
  // If it is in it.
  void erase(JobId id) {
    if (!contains(id)) return;
    Filed& filed = filed_[id.index()];
    OrderedBlocks& jobs = classes_[filed.job_class].jobs;
    jobs.erase(filed.key, id.value);
    if (jobs.empty()) classes_.release(filed.job_class);
    filed.waits = false;
    --size_;
  }
  // As if it were erased and inserted. The job must be in it.
  void set_key(JobId id, const Job& job, Key key) {
    Filed& filed = filed_[id.index()];
    auto& [shape, jobs] = classes_[filed.job_class];
    if (jobs.size() == 1) shape = job;
    jobs.set_key(filed.key, id.value, key);
    filed.key = key;
  }
  void clear() {
    classes_.clear();
    filed_.clear();
    size_ = 0;
  }

  [[nodiscard]] bool contains(JobId id) const {
    return id.index() < filed_.size() && filed_[id.index()].waits;
  }
  [[nodiscard]] Key key(JobId id) const { return filed_[id.index()].key; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // Some may be empty.
  [[nodiscard]] const std::vector<JobClasses<OrderedBlocks>::Entry>& classes() const {
    return classes_.all();
  }

 private:
  struct Filed {
    bool waits = false;
    std::uint32_t job_class = 0;
    Key key = 0;
  };

  JobClasses<OrderedBlocks> classes_;
  std::vector<Filed> filed_;  // by JobId
  std::size_t size_ = 0;
};

}  // namespace berth
