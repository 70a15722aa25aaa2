#include "backend/local/limits.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace berth::local {
namespace {

constexpr std::size_t kMaxProcBytes = 4 << 20;

bool put(const std::string& file, std::string_view text) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write_whole(fd.get(), text);
}

bool make_group(const std::string& folder) {
  return ::mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_word(const std::string& file, std::string_view word) {
  const auto text = read_file(file, kMaxProcBytes);
  if (!text) return false;
  const std::string_view line = std::string_view(*text).substr(0, text->find('\n'));
  const auto words = split(line, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> words_of(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (const std::string_view word : split(text, separator)) {
    if (!word.empty()) out.emplace_back(word);
  }
  return out;
}

// "4:memory:/a/b" of /proc/self/cgroup; version 2 has no controllers there.
std::optional<std::string> own_path(std::string_view groups, bool unified,
                                    const std::vector<std::string>& controllers) {
  for (const std::string_view line : split(groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const auto names = words_of(line.substr(first + 1, second - first - 1), ',');
    const bool same = unified ? names.empty() : !names.empty() && contains(controllers, names[0]);
    if (same) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

// What is mounted may be a part of the hierarchy (its root): paths are told from the whole one.
std::string below(const std::string& mount, const std::string& root, const std::string& path) {
  std::string_view rest = path;
  if (root != "/" && rest.starts_with(root)) rest.remove_prefix(root.size());
  while (rest.starts_with('/')) rest.remove_prefix(1);
  return rest.empty() ? mount : fmt::format("{}/{}", mount, rest);
}

// A group of version 1 in which we can make groups with this file in them.
std::string version_1_folder(const std::vector<GroupMount>& mounts, std::string_view controller,
                             const std::string& name, const char* file) {
  for (const GroupMount& mount : mounts) {
    if (mount.unified || !contains(mount.controllers, controller)) continue;
    const std::string folder = mount.own + "/" + name;
    if (!make_group(folder)) return {};
    if (::access((folder + "/" + file).c_str(), W_OK) == 0) return folder;
    (void)::rmdir(folder.c_str());
  }
  return {};
}

}  // namespace

std::vector<std::uint32_t> allowed_cpus() {
  std::vector<std::uint32_t> out;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return out;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) out.push_back(cpu);
  }
  return out;
}

std::vector<GroupMount> group_mounts(std::string_view mounts, std::string_view groups) {
  constexpr std::size_t kRoot = 3;
  constexpr std::size_t kPlace = 4;
  std::vector<GroupMount> out;
  for (const std::string_view line : split(mounts, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto before = words_of(line.substr(0, dash), ' ');
    const auto after = words_of(line.substr(dash + 3), ' ');
    if (before.size() <= kPlace || after.size() < 3) continue;
    GroupMount mount;
    mount.unified = after[0] == "cgroup2";
    if (!mount.unified && after[0] != "cgroup") continue;
    if (!mount.unified) mount.controllers = words_of(after[2], ',');
    const auto path = own_path(groups, mount.unified, mount.controllers);
    if (!path) continue;
    mount.own = below(before[kPlace], before[kRoot], *path);
    out.push_back(std::move(mount));
  }
  return out;
}

std::vector<GroupMount> own_group_mounts() {
  const auto mounts = read_file("/proc/self/mountinfo", kMaxProcBytes);
  const auto groups = read_file("/proc/self/cgroup", kMaxProcBytes);
  if (!mounts || !groups) return {};
  return group_mounts(*mounts, *groups);
}

// A group with processes may not hand controllers on: ours go into one of their own first.
void Limits::probe_unified(const std::string& name, const std::string& own) {
  const std::string offered = own + "/cgroup.controllers";
  if (!has_word(offered, "cpu") || !has_word(offered, "memory")) {
    unified_why_ = "version 2 offers no cpu and memory here";
    return;
  }
  const std::string handed_on = own + "/cgroup.subtree_control";
  if (!has_word(handed_on, "cpu") || !has_word(handed_on, "memory")) {
    const std::string daemon = own + "/berth-daemon";
    if (!make_group(daemon) || !put(daemon + "/cgroup.procs", "0") ||
        !put(handed_on, "+cpu +memory")) {
      unified_why_ = fmt::format("version 2 is not ours to divide: {}", std::strerror(errno));
      return;
    }
  }
  const std::string folder = own + "/" + name;
  if (!make_group(folder) || !put(folder + "/cgroup.subtree_control", "+cpu +memory")) {
    unified_why_ = fmt::format("version 2 is not ours to divide: {}", std::strerror(errno));
    return;
  }
  folders_.unified = folder;
}

Limits Limits::probe(const std::string& name, bool enabled, const std::vector<GroupMount>& mounts) {
  Limits limits;
  limits.enabled_ = enabled;
  limits.cpus_ = allowed_cpus();
  limits.pinned_.assign(limits.cpus_.size(), 0);
  if (!enabled) return limits;
  for (const GroupMount& mount : mounts) {
    if (mount.unified) limits.probe_unified(name, mount.own);
  }
  if (!limits.folders_.unified.empty()) return limits;
  limits.folders_.cpu = version_1_folder(mounts, "cpu", name, "cpu.cfs_quota_us");
  limits.folders_.memory = version_1_folder(mounts, "memory", name, "memory.limit_in_bytes");
  return limits;
}

TaskLimits Limits::take(std::uint32_t cpu_milli, std::uint32_t memory_mib) {
  TaskLimits limits;
  if (!enabled_) return limits;
  limits.cpu_milli = cpu_milli;
  limits.memory_mib = memory_mib;
  const bool pin = folders_.unified.empty() && folders_.cpu.empty() && cpu_milli != 0;
  if (!pin) return limits;
  constexpr std::uint32_t kWhole = 1000;
  const std::size_t wanted = std::min<std::size_t>((cpu_milli + kWhole - 1) / kWhole, cpus_.size());
  std::vector<std::size_t> order(cpus_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return pinned_[a] < pinned_[b]; });
  for (std::size_t i = 0; i < wanted; ++i) limits.cpus.push_back(cpus_[order[i]]);
  std::sort(limits.cpus.begin(), limits.cpus.end());
  take(limits.cpus);
  return limits;
}

void Limits::take(const std::vector<std::uint32_t>& cpus) {
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    if (std::find(cpus.begin(), cpus.end(), cpus_[i]) != cpus.end()) ++pinned_[i];
  }
}

void Limits::give_back(const std::vector<std::uint32_t>& cpus) {
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    const bool held = std::find(cpus.begin(), cpus.end(), cpus_[i]) != cpus.end();
    if (held && pinned_[i] > 0) --pinned_[i];
  }
}

std::vector<std::string> Limits::describe() const {
  if (!enabled_) return {"CPUs: not limited (switched off)", "memory: not limited (switched off)"};
  if (!folders_.unified.empty()) {
    return {fmt::format("CPUs: cpu.max of control groups, version 2 ({})", folders_.unified),
            fmt::format("memory: memory.max of control groups, version 2 ({})", folders_.unified)};
  }
  const std::string why = unified_why_.empty() ? "" : "; " + unified_why_;
  std::vector<std::string> lines;
  lines.push_back(folders_.cpu.empty()
                      ? fmt::format("CPUs: pinned to whole ones, least used first, of {}; no "
                                    "control group for cpu may be made{}",
                                    counted(cpus_.size(), "CPU"), why)
                      : fmt::format("CPUs: cpu.cfs_quota_us of control groups, version 1 ({}){}",
                                    folders_.cpu, why));
  lines.push_back(folders_.memory.empty()
                      ? fmt::format("memory: NOT limited; no control group for memory may be "
                                    "made{}",
                                    why)
                      : fmt::format("memory: memory.limit_in_bytes of control groups, version 1 "
                                    "({}){}",
                                    folders_.memory, why));
  return lines;
}

}  // namespace berth::local
