// Independent tasks on a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace berth::interference {

// task(0), ..., task(count - 1), each once, in any order and on any thread. Tasks must not throw.
template <class Task>
void parallel_for(std::size_t count, unsigned threads, const Task& task) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) task(i);
  };
  std::vector<std::thread> others;
  const std::size_t wanted = std::min<std::size_t>(std::max(threads, 1U), count);
  for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(work);
  work();
  for (auto& thread : others) thread.join();
}

}  // namespace berth::interference
