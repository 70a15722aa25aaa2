// Jobs that ask for the same devices form a class: what fits one fits all of it, so a search over a
// queue of thousands is a search over a few classes.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "model/job.h"

namespace berth {

template <class PerClass>
class JobClasses {
 public:
  struct Entry {
    Job shape;  // any job of the class: its demand counts
    PerClass jobs;
  };

  [[nodiscard]] std::uint32_t class_of(const Job& job) {
    const Key key = key_of(job);
    // The one-GPU job that accepts any type is most of every trace.
    if (key == last_key_) return last_;
    const bool used_again = !released_.empty();
    const std::uint32_t next =
        used_again ? released_.back() : static_cast<std::uint32_t>(classes_.size());
    const auto [it, fresh] = index_.emplace(key, next);
    if (fresh && used_again) {
      released_.pop_back();
      classes_[next].shape = job;
    } else if (fresh) {
      classes_.push_back({job, {}});
    }
    last_key_ = key;
    last_ = it->second;
    return last_;
  }
  [[nodiscard]] std::vector<Entry>& all() { return classes_; }
  [[nodiscard]] const std::vector<Entry>& all() const { return classes_; }
  [[nodiscard]] Entry& operator[](std::uint32_t index) { return classes_[index]; }
  // Forgets a class whose jobs are empty, so that there are never more classes than jobs: shares
  // may make each job a class of its own. Its number is given to another.
  void release(std::uint32_t index) {
    index_.erase(key_of(classes_[index].shape));
    released_.push_back(index);
    last_key_ = {};
  }
  void clear() {
    classes_.clear();
    index_.clear();
    released_.clear();
    last_key_ = {};
  }

 private:
  // No job has no tasks: the key without any stands for none.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, GpuTypeMask>;

  [[nodiscard]] static Key key_of(const Job& job) {
    return {job.gpu_milli_per_task, job.gpu_memory_mib_per_task, job.workers(), job.gpu_types};
  }

  std::vector<Entry> classes_;
  std::map<Key, std::uint32_t> index_;
  std::vector<std::uint32_t> released_;
  Key last_key_;
  std::uint32_t last_ = 0;
};

}  // namespace berth
