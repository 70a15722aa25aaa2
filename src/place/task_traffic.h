// Which tasks of a job exchange data, and how much an iteration: the edges of its graph within a
// replica, and the exchange between replicas by its communication structure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/job.h"
#include "model/task_graph.h"

namespace berth {

class TaskTraffic {
 public:
  // Of a job without a graph: nothing. Keeps what it needs; cheap to call again for another job.
  void read(const Job& job, const TaskGraph* graph);

  // Bytes an iteration, both ways, with each task that this one exchanges with. A pair may be
  // visited more than once: what counts is the sum.
  template <class Visit>
  void for_each_peer(std::uint32_t task, Visit visit) const {
    if (first_.empty()) return;
    if (task >= workers_) {
      for (std::uint32_t k = 0; k < workers_; ++k) visit(k, exchange_[k % partitions_]);
      return;
    }
    const std::uint32_t partition = task % partitions_;
    const std::uint32_t replica = task - partition;
    for (std::uint32_t p = first_[partition]; p < first_[partition + 1]; ++p) {
      visit(replica + peers_[p].partition, peers_[p].bytes);
    }
    const std::int64_t bytes = exchange_[partition];
    if (has_server_) visit(workers_, bytes);
    if (!in_ring_ || workers_ == partitions_) return;
    visit((task + partitions_) % workers_, bytes);
    visit((task + workers_ - partitions_) % workers_, bytes);
  }

 private:
  struct Peer {
    std::uint32_t partition = 0;
    std::int64_t bytes = 0;
  };

  std::uint32_t workers_ = 0;
  std::uint32_t partitions_ = 1;
  bool has_server_ = false;
  bool in_ring_ = false;
  std::vector<std::uint32_t> first_;    // by partition: of its peers in peers_; empty: no traffic
  std::vector<Peer> peers_;             // along edges, either way
  std::vector<std::int64_t> exchange_;  // by partition
  std::vector<std::uint32_t> next_;     // scratch
};

}  // namespace berth
