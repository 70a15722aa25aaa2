// `scontrol show node`, several lines a node or one (-o).
#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"
#include "trace/cluster_builder.h"
#include "trace/node_lists.h"
#include "trace/slurm_values.h"

namespace berth::trace {
namespace {

constexpr std::string_view kFirstKey = "NodeName=";

struct NodeText {
  std::string_view name;
  std::string_view gres;
  std::string_view tres;  // CfgTRES
  std::string_view cpus;
  std::string_view memory;
  std::uint64_t line = 0;
};

// Values with blanks in them (OS, Reason) only spoil words that are not looked at; the first value
// of a key counts, as Reason is free text and comes last.
void take_word(std::string_view word, NodeText& node) {
  const auto value = [word](std::string_view key, std::string_view& out) {
    if (out.empty() && word.starts_with(key)) out = word.substr(key.size());
  };
  value("Gres=", node.gres);
  value("CfgTRES=", node.tres);
  value("CPUTot=", node.cpus);
  value("RealMemory=", node.memory);
}

class Reader {
 public:
  explicit Reader(std::string_view file) : builder_(file) {}

  Result<Cluster> read(std::string_view text) {
    std::uint64_t number = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++number;
      BERTH_CHECK_OK(read_line(text.substr(0, end), number));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    BERTH_CHECK_OK(end_node());
    return builder_.finish();
  }

 private:
  Status read_line(std::string_view line, std::uint64_t number) {
    line = trim(line);
    if (line.starts_with(kFirstKey)) {
      BERTH_CHECK_OK(end_node());
      node_ = {};
      node_.line = number;
      node_.name = line.substr(kFirstKey.size());
      node_.name = node_.name.substr(0, node_.name.find_first_of(" \t"));
      in_node_ = true;
    } else if (!in_node_ && !line.empty()) {
      return fail(builder_.error(number, {}, "not the output of scontrol show node",
                                 fmt::format("'{}'", printable(line)), "NodeName=..."));
    }
    // Reason may say anything, also "Gres=...".
    line = line.substr(0, line.find("Reason="));
    while (!line.empty()) {
      const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
      take_word(line.substr(0, end), node_);
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    return {};
  }

  Status wrong(std::string_view field, std::string_view found, const Fault& fault) {
    return fail(builder_.error(node_.line, std::string(field), std::string(fault.reason),
                               fmt::format("'{}'", printable(found)), std::string(fault.expected)));
  }

  Status end_node() {
    if (!in_node_) return {};
    in_node_ = false;
    static constexpr Fault kNoName{"no name", "NodeName=..."};
    if (node_.name.empty()) return wrong("NodeName", node_.name, kNoName);
    MaybeInt cpus;
    MaybeInt memory;
    if (const Fault* fault = parse_count(node_.cpus, cpus))
      return wrong("CPUTot", node_.cpus, *fault);
    if (const Fault* fault = parse_count(node_.memory, memory)) {
      return wrong("RealMemory", node_.memory, *fault);
    }
    // Gres says the types; CfgTRES is all there is where it is cut or filtered.
    SlurmResources gres;
    if (const Fault* fault = parse_slurm_gres(node_.gres, gres)) {
      return wrong("Gres", node_.gres, *fault);
    }
    if (gres.gpus() == 0) {
      if (const Fault* fault = parse_slurm_tres(node_.tres, gres)) {
        return wrong("CfgTRES", node_.tres, *fault);
      }
    }
    return add(gres, std::min(cpus.value_or(0), kMaxCount),
               std::min(memory.value_or(0), kMaxCount));
  }

  Status add(const SlurmResources& gres, std::int64_t cpus, std::int64_t memory_mib) {
    const std::int64_t all = gres.gpus();
    if (gres.typed.size() <= 1) {
      const std::string_view type = gres.typed.empty() ? std::string_view{} : gres.typed[0].type;
      return builder_.add({.name = std::string(node_.name),
                           .gpu_type = std::string(type),
                           .gpus = all,
                           .cpu_milli = cpus * 1000,
                           .memory_mib = memory_mib},
                          node_.line);
    }
    for (const auto& [type, count] : gres.typed) {
      if (count == 0) continue;
      const double share = static_cast<double>(count) / static_cast<double>(all);
      BERTH_CHECK_OK(builder_.add(
          {.name = fmt::format("{}:{}", node_.name, type),
           .gpu_type = std::string(type),
           .gpus = count,
           .cpu_milli = static_cast<std::int64_t>(static_cast<double>(cpus) * 1000 * share),
           .memory_mib = static_cast<std::int64_t>(static_cast<double>(memory_mib) * share)},
          node_.line));
    }
    return {};
  }

  ClusterBuilder builder_;
  NodeText node_;
  bool in_node_ = false;
};

}  // namespace

bool is_scontrol_nodes(std::string_view text) {
  return trim(text.substr(0, 4096)).starts_with(kFirstKey);
}

Result<Cluster> parse_scontrol_nodes(std::string_view text, std::string_view file) {
  return Reader(file).read(text);
}

}  // namespace berth::trace
