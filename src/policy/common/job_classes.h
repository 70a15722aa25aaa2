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
    const auto key = std::tuple(job.gpu_milli_per_task, job.gpu_memory_mib_per_task, job.workers(),
                                job.gpu_types);
    // The one-GPU job that accepts any type is most of every trace.
    if (key == last_key_ && !classes_.empty()) return last_;
    const auto [it, fresh] = index_.emplace(key, static_cast<std::uint32_t>(classes_.size()));
    if (fresh) classes_.push_back({job, {}});
    last_key_ = key;
    last_ = it->second;
    return last_;
  }
  [[nodiscard]] std::vector<Entry>& all() { return classes_; }
  [[nodiscard]] Entry& operator[](std::uint32_t index) { return classes_[index]; }
  void clear() {
    classes_.clear();
    index_.clear();
  }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, GpuTypeMask>;
  std::vector<Entry> classes_;
  std::map<Key, std::uint32_t> index_;
  Key last_key_;
  std::uint32_t last_ = 0;
};

}  // namespace berth
