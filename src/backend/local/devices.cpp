#include "backend/local/devices.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "backend/local/limits.h"
#include "base/fd.h"
#include "base/number.h"
#include "base/text.h"

namespace berth::local {
namespace {

constexpr std::int64_t kMibBytes = 1 << 20;
constexpr std::int64_t kMilli = 1000;
constexpr std::size_t kMaxBytes = 4096;

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

// A file of the control group that this process is in, in words; {} where there is none.
std::vector<std::int64_t> own_limit(std::string_view controller, const char* file,
                                    const char* unified_file) {
  for (const GroupMount& mount : own_group_mounts()) {
    const bool has = std::find(mount.controllers.begin(), mount.controllers.end(), controller) !=
                     mount.controllers.end();
    if (!mount.unified && !has) continue;
    const auto text = read_file(mount.own + "/" + (mount.unified ? unified_file : file), kMaxBytes);
    if (!text) continue;
    std::vector<std::int64_t> values;
    // "max" and -1 are no limit.
    for (const std::string_view word : split(trim(*text), ' ')) {
      values.push_back(parse_int(word).value_or(-1));
    }
    return values;
  }
  return {};
}

std::int64_t cpu_milli() {
  auto milli = static_cast<std::int64_t>(allowed_cpus().size()) * kMilli;
  const auto quota = own_limit("cpu", "cpu.cfs_quota_us", "cpu.max");
  const auto period = own_limit("cpu", "cpu.cfs_period_us", "cpu.max");
  if (quota.empty() || period.empty() || quota.front() <= 0 || period.back() <= 0) return milli;
  return std::min(milli, std::max<std::int64_t>(1, quota.front() * kMilli / period.back()));
}

std::int64_t memory_mib() {
  auto bytes = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  const auto limit = own_limit("memory", "memory.limit_in_bytes", "memory.max");
  if (!limit.empty() && limit.front() > 0) bytes = std::min(bytes, limit.front());
  return bytes / kMibBytes;
}

}  // namespace

Cluster describe_machine(const std::vector<GpuDescription>& gpus) {
  Cluster cluster;
  cluster.name = host_name();
  ResourceVector all;
  all[Resource::kCpuMilli] = cpu_milli();
  all[Resource::kMemoryMib] = memory_mib();
  if (gpus.empty()) {
    cluster.gpu_types.push_back({});
    cluster.add_server(cluster.name, GpuTypeId{0U}, 0, all);
    return cluster;
  }
  // One server for each run of GPUs of one kind: DeviceId i stays gpus[i].
  for (std::size_t first = 0; first < gpus.size();) {
    std::size_t end = first;
    while (end < gpus.size() && gpus[end].name == gpus[first].name) ++end;
    GpuTypeId type = cluster.find_gpu_type(gpus[first].name);
    if (!type.valid()) {
      type = GpuTypeId{cluster.gpu_types.size()};
      cluster.gpu_types.push_back(
          {.name = gpus[first].name, .memory_mib = gpus[first].memory_bytes / kMibBytes});
    }
    const auto part = static_cast<std::int64_t>(end - first);
    const auto whole = static_cast<std::int64_t>(gpus.size());
    ResourceVector share;
    share[Resource::kCpuMilli] = all[Resource::kCpuMilli] * part / whole;
    share[Resource::kMemoryMib] = all[Resource::kMemoryMib] * part / whole;
    const std::string name =
        part == whole ? cluster.name : fmt::format("{}-{}", cluster.name, cluster.servers.size());
    cluster.add_server(name, type, static_cast<std::uint32_t>(part), share);
    first = end;
  }
  return cluster;
}

Devices::Devices(std::size_t devices, std::vector<GpuDescription> gpus, std::optional<Nvml> nvml)
    : gpus_(std::move(gpus)), nvml_(std::move(nvml)), usable_(devices, true) {}

bool Devices::look(const Ours& ours) {
  if (!nvml_) return false;
  std::vector<bool> now(usable_.size(), true);
  for (std::size_t i = 0; i < gpus_.size() && i < now.size(); ++i) {
    const auto use = nvml_->use(gpus_[i].uuid);
    now[i] = use && std::all_of(use->processes.begin(), use->processes.end(), ours);
  }
  const bool changed = now != usable_;
  usable_ = std::move(now);
  return changed;
}

std::string Devices::visible(const std::vector<DeviceId>& devices, const Cluster& cluster) const {
  std::vector<std::string> names;
  for (const DeviceId device : devices) {
    if (device.index() < gpus_.size()) {
      names.push_back(gpus_[device.index()].uuid);
    } else {
      const Server& server = cluster.servers[cluster.devices[device.index()].server.index()];
      names.push_back(fmt::format("{}", device.index() - server.first_device.index()));
    }
  }
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace berth::local
