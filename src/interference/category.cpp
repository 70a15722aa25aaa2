#include "interference/category.h"

#include <string>

namespace berth::interference {
namespace {

struct Word {
  std::string_view word;
  Category category;
};

// The first row whose word is in the name decides: "dram_read_throughput" and "mem_bandwidth" are
// bandwidths, "mem_util" is not. Names as nvidia-smi, dmon, DCGM and nvprof write them.
constexpr std::array kWords{
    Word{"rx", Category::kBandwidth},         Word{"rxpci", Category::kBandwidth},
    Word{"tx", Category::kBandwidth},         Word{"txpci", Category::kBandwidth},
    Word{"read", Category::kBandwidth},       Word{"write", Category::kBandwidth},
    Word{"bandwidth", Category::kBandwidth},  Word{"bw", Category::kBandwidth},
    Word{"throughput", Category::kBandwidth}, Word{"pcie", Category::kBandwidth},
    Word{"nvlink", Category::kBandwidth},     Word{"memcpy", Category::kBandwidth},
    Word{"power", Category::kPower},          Word{"pwr", Category::kPower},
    Word{"watt", Category::kPower},           Word{"watts", Category::kPower},
    Word{"energy", Category::kPower},         Word{"temp", Category::kPower},
    Word{"gtemp", Category::kPower},          Word{"mtemp", Category::kPower},
    Word{"temperature", Category::kPower},    Word{"sm", Category::kCompute},
    Word{"gpu", Category::kCompute},          Word{"util", Category::kCompute},
    Word{"utilisation", Category::kCompute},  Word{"utilization", Category::kCompute},
    Word{"mem", Category::kCompute},          Word{"fb", Category::kCompute},
    Word{"memory", Category::kCompute},       Word{"occupancy", Category::kCompute},
    Word{"ipc", Category::kCompute},          Word{"warp", Category::kCompute},
    Word{"warps", Category::kCompute},        Word{"flop", Category::kCompute},
    Word{"tensor", Category::kCompute},       Word{"dram", Category::kCompute},
};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Does `word` stand in `name` as a word of its own, in any case?
bool has_word(std::string_view name, std::string_view word) {
  for (std::size_t i = 0; i + word.size() <= name.size(); ++i) {
    if (i > 0 && is_letter(name[i - 1])) continue;
    const std::size_t end = i + word.size();
    if (end < name.size() && is_letter(name[end])) continue;
    bool same = true;
    for (std::size_t j = 0; j < word.size() && same; ++j) {
      const char c = name[i + j];
      same = (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == word[j];
    }
    if (same) return true;
  }
  return false;
}

}  // namespace

std::string_view category_name(Category category) {
  switch (category) {
    case Category::kPower:
      return "power-temperature";
    case Category::kCompute:
      return "sm-memory";
    case Category::kBandwidth:
      return "bandwidth";
    case Category::kOther:
      return "other";
    case Category::kAll:
      return "all";
  }
  return {};
}

Category category_of(std::string_view parameter) {
  for (const Word& entry : kWords) {
    if (has_word(parameter, entry.word)) return entry.category;
  }
  return Category::kOther;
}

}  // namespace berth::interference
