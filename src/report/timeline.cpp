#include "report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace berth {
namespace {

constexpr std::uint64_t kClusterPid = 1;
constexpr std::uint64_t kFirstServerPid = 2;
// Threads of one GPU are numbered one after the other, so that viewers show them together.
constexpr std::uint64_t kLanesPerGpu = 1001;

std::uint64_t pid_of(ServerId server) {
  return kFirstServerPid + server.value;
}

std::string quoted(std::string_view text) {
  return nlohmann::json(printable(text)).dump();
}

template <class... Args>
void append(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

}  // namespace

Timeline::Timeline(const Cluster& cluster, const Workload& workload)
    : cluster_(cluster), workload_(workload) {
  wants_text_ = true;
  first_slice_.resize(workload.jobs.size(), kNotStarted);
  running_.resize(workload.jobs.size());
  lanes_.resize(cluster.devices.size() + cluster.servers.size());
  text_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  name_process(kClusterPid, cluster.name.empty() ? "cluster" : cluster.name);
  for (std::uint32_t s = 0; s < cluster.servers.size(); ++s) {
    const Server& server = cluster.servers[s];
    name_process(pid_of(ServerId{s}), server.name);
    for (std::uint32_t d = 0; d < server.gpus; ++d) {
      name_thread({ServerId{s}, DeviceId{server.first_device.value + d}}, 0);
    }
  }
}

void Timeline::name_process(std::uint64_t pid, std::string_view name) {
  if (pid != kClusterPid) text_ += ',';
  append(text_, "\n{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":{}}}}}",
         pid, quoted(name));
  append(text_,
         ",\n{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{0},"
         "\"args\":{{\"sort_index\":{0}}}}}",
         pid);
}

void Timeline::name_thread(Placement place, std::uint32_t lane) {
  const Server& server = cluster_.servers[place.server.index()];
  std::string name = place.device.valid()
                         ? fmt::format("GPU {}", place.device.value - server.first_device.value)
                         : "no GPU";
  if (lane > 0) name += fmt::format(" ({})", lane + 1);
  append(text_,
         ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},"
         "\"args\":{{\"name\":\"{}\"}}}}",
         pid_of(place.server), thread_of(place, lane), name);
}

std::uint64_t Timeline::thread_of(Placement place, std::uint32_t lane) const {
  const Server& server = cluster_.servers[place.server.index()];
  const std::uint64_t row =
      place.device.valid() ? place.device.value - server.first_device.value : server.gpus;
  return row * kLanesPerGpu + lane + 1;
}

Timeline::Lanes& Timeline::lanes_of(Placement place) {
  return lanes_[place.device.valid() ? place.device.index()
                                     : cluster_.devices.size() + place.server.index()];
}

// Counters hold until the next value: one value for each instant, and only where it changed.
void Timeline::settle_counters(TimeUs now_us) {
  if (pending_ != shown_pending_) {
    append(text_,
           ",\n{{\"ph\":\"C\",\"name\":\"jobs pending\",\"pid\":{},\"ts\":{},"
           "\"args\":{{\"jobs\":{}}}}}",
           kClusterPid, now_us, pending_);
    shown_pending_ = pending_;
  }
  if (busy_gpus_ != shown_busy_) {
    append(
        text_,
        ",\n{{\"ph\":\"C\",\"name\":\"GPUs busy\",\"pid\":{},\"ts\":{},\"args\":{{\"GPUs\":{}}}}}",
        kClusterPid, now_us, busy_gpus_);
    shown_busy_ = busy_gpus_;
  }
}

void Timeline::open_slice(Slice& slice, Placement place) {
  Lanes& lanes = lanes_of(place);
  const auto free = std::ranges::find(lanes, false);
  const auto lane = static_cast<std::uint32_t>(free - lanes.begin());
  if (place.device.valid() && std::ranges::find(lanes, true) == lanes.end()) ++busy_gpus_;
  if (free == lanes.end()) {
    lanes.push_back(true);
    // The first of each GPU has its name from the start.
    if (lane > 0 || !place.device.valid()) name_thread(place, lane);
  } else {
    *free = true;
  }
  slice = {.place = place, .lane = lane, .since_us = now_us_};
}

void Timeline::close_slice(Slice& slice, std::uint32_t job, std::uint32_t task,
                           std::string_view why, std::string_view more) {
  Lanes& lanes = lanes_of(slice.place);
  lanes[slice.lane] = false;
  if (slice.place.device.valid() && std::ranges::find(lanes, true) == lanes.end()) --busy_gpus_;
  append(text_,
         ",\n{{\"ph\":\"X\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},"
         "\"args\":{{\"job\":{},\"task\":{},\"end\":\"{}\"{}}}}}",
         quoted(workload_.names[job]), pid_of(slice.place.server),
         thread_of(slice.place, slice.lane), slice.since_us, now_us_ - slice.since_us, job, task,
         why, more);
  slice = {};
}

void Timeline::close_copies(std::uint32_t job, std::span<const TaskCopy> staying,
                            std::string_view why) {
  std::erase_if(copies_, [&](CopySlice& open) {
    const bool stays = std::ranges::any_of(staying, [&](const TaskCopy& copy) {
      return copy.task == open.task && copy.at == open.slice.place;
    });
    if (open.job != job || stays) return false;
    close_slice(open.slice, job, open.task, why, ",\"copy\":true");
    return true;
  });
}

void Timeline::open_copies(std::span<const TaskCopy> copies) {
  for (const TaskCopy& copy : copies) {
    const bool open = std::ranges::any_of(copies_, [&](const CopySlice& other) {
      return other.job == copy.job.value && other.task == copy.task && other.slice.place == copy.at;
    });
    if (open) continue;
    copies_.push_back({copy.job.value, copy.task, {}});
    open_slice(copies_.back().slice, copy.at);
  }
}

// Closes first: a task may move to where another was.
void Timeline::place_tasks(std::uint32_t job, std::span<const Placement> places,
                           std::span<const TaskCopy> copies, std::string_view why) {
  if (first_slice_[job] == kNotStarted) {
    if (places.empty()) return;
    first_slice_[job] = slices_.size();
    slices_.resize(slices_.size() + workload_.jobs[job].tasks);
  }
  const std::span slices = std::span(slices_).subspan(first_slice_[job], workload_.jobs[job].tasks);
  const auto place_of = [&](std::uint32_t task) {
    return task < places.size() ? places[task] : Placement{};
  };
  for (std::uint32_t task = 0; task < slices.size(); ++task) {
    Slice& slice = slices[task];
    if (slice.place.server.valid() && slice.place != place_of(task)) {
      close_slice(slice, job, task, why);
    }
  }
  if (!copies_.empty()) close_copies(job, copies, why);
  for (std::uint32_t task = 0; task < slices.size(); ++task) {
    const Placement place = place_of(task);
    if (place.server.valid() && slices[task].place != place) open_slice(slices[task], place);
  }
  open_copies(copies);
}

void Timeline::add_instant(std::string_view name, ServerId server, DeviceId device) {
  const bool of_device = device.valid();
  append(text_, ",\n{{\"ph\":\"i\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"s\":\"{}\"}}",
         name, pid_of(server), of_device ? thread_of({server, device}, 0) : 1, now_us_,
         of_device ? 't' : 'p');
}

void Timeline::write(TimeUs at_us, EventKind kind, std::uint32_t id,
                     std::span<const Placement> places, std::span<const TaskCopy> copies) {
  if (at_us != now_us_) settle_counters(now_us_);
  now_us_ = at_us;
  switch (kind) {
    case EventKind::kServerDown:
    case EventKind::kServerUp:
      add_instant(event_name(kind), ServerId{id}, {});
      return;
    case EventKind::kDeviceDown:
    case EventKind::kDeviceUp:
    case EventKind::kDeviceSpeed:
      add_instant(event_name(kind), cluster_.devices[id].server, DeviceId{id});
      return;
    case EventKind::kArrive:
      ++pending_;
      return;
    case EventKind::kStart:
      --pending_;
      running_[id] = true;
      break;
    case EventKind::kPreempt:
    case EventKind::kEvict:
      ++pending_;
      running_[id] = false;
      break;
    case EventKind::kFinish:
    case EventKind::kStop:
      if (!running_[id]) --pending_;  // load control may stop a job that waits
      running_[id] = false;
      break;
    case EventKind::kGrow:
    case EventKind::kShrink:
    case EventKind::kMove:
    case EventKind::kCopy:
    case EventKind::kDropCopy:
    case EventKind::kTakeOver:
      break;
  }
  place_tasks(id, places, copies, event_name(kind));
}

std::string Timeline::finish() {
  settle_counters(now_us_);
  for (std::uint32_t job = 0; job < workload_.jobs.size(); ++job) {
    if (running_[job]) place_tasks(job, {}, {}, "still running");
  }
  text_ += "\n]}\n";
  return std::move(text_);
}

}  // namespace berth
