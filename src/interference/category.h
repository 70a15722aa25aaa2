// What kind of device parameter a feature is, by its name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace berth::interference {

// The paper's three categories of parameters, what fits none of them, and all together.
enum class Category : std::uint8_t { kPower, kCompute, kBandwidth, kOther, kAll };

inline constexpr std::array kCategories{Category::kPower, Category::kCompute, Category::kBandwidth,
                                        Category::kOther, Category::kAll};

// "power-temperature", "sm-memory", "bandwidth", "other", "all".
[[nodiscard]] std::string_view category_name(Category category);

// Of a parameter's name without its prefix ("dram_read_throughput"), by the words in it; never
// kAll.
[[nodiscard]] Category category_of(std::string_view parameter);

}  // namespace berth::interference
