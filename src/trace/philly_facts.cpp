#include "trace/philly_facts.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace berth::trace::philly {

namespace {

// A value k of whole seconds stands at k + 0.5, so that rounding a point between two of them gives
// each its share.
constexpr CdfPoint kGaps[] = {
    {0, -0.5},        {0.08722, 0.5},   {0.18576, 1.5},   {0.25503, 2.5},   {0.31825, 3.5},
    {0.37492, 4.5},   {0.41696, 5.5},   {0.45274, 6.5},   {0.48264, 7.5},   {0.50693, 8.5},
    {0.52811, 9.5},   {0.54602, 10.5},  {0.56221, 11.5},  {0.5767, 12.5},   {0.59067, 13.5},
    {0.60283, 14.5},  {0.61379, 15.5},  {0.6238, 16.5},   {0.63378, 17.5},  {0.64267, 18.5},
    {0.65079, 19.5},  {0.65791, 20.5},  {0.68692, 25.5},  {0.70905, 30.5},  {0.73819, 40.5},
    {0.75673, 50.5},  {0.77366, 60.5},  {0.79397, 75.5},  {0.82209, 100.5}, {0.86291, 150.5},
    {0.89192, 200.5}, {0.91363, 250.5}, {0.92924, 300.5}, {0.94184, 350.5}, {0.95187, 400.5},
    {0.95971, 450.5}, {0.9659, 500.5},  {0.97129, 550.5}, {0.97489, 590.5}, {0.98033, 599.5},
    {0.99418, 600.5}, {0.99807, 601.5}, {0.99852, 602.5}, {0.99899, 620.5}, {0.9993, 926},
    {0.9995, 1259},   {0.9997, 2687},   {0.9998, 4460},   {0.9999, 8635},   {0.99995, 11427},
    {1, 14400}};

constexpr double kShares[] = {0,    0.001,  0.005, 0.01,   0.025, 0.05,  0.1,  0.15,
                              0.2,  0.25,   0.3,   0.4,    0.5,   0.6,   0.7,  0.75,
                              0.8,  0.85,   0.9,   0.925,  0.95,  0.97,  0.98, 0.985,
                              0.99, 0.9925, 0.995, 0.9965, 0.998, 0.999, 1};

constexpr std::size_t kPoints = std::size(kShares);
using Quantiles = std::array<double, kPoints>;

// 96,662 jobs.
constexpr Quantiles k1Gpu = {0,      3,      9,       15,      25,      42,      58,     66,
                             75,     128,    235,     639,     1198,    1948,    2734,   3955,
                             5671,   9008,   15586,   24251,   48120,   106802,  209313, 323014,
                             535403, 687982, 1089313, 1561936, 2059964, 2851012, 5196151};
// 2,522 jobs.
constexpr Quantiles k2Gpu = {2,       2,       4,       5,       8,       10,      13,     15,
                             16,      18,      19,      22,      30,      109,     993,    6000,
                             31391,   75427,   189494,  270574,  416411,  563654,  636945, 759099,
                             1099879, 1172138, 1479317, 1721720, 1945826, 2351027, 5150146};
// 5,487 jobs.
constexpr Quantiles k4Gpu = {1,       2,       10,      15,      27,      40,      95,     182,
                             411,     688,     937,     1961,    8387,    21463,   59853,  84094,
                             112285,  166919,  225143,  280949,  439916,  720111,  968139, 1117246,
                             1739001, 1974140, 2050573, 2077038, 2646050, 4212051, 5186933};
// 5,719 jobs.
constexpr Quantiles k8Gpu = {1,       2,       6,       13,      25,      40,      86,      235,
                             494,     878,     1276,    4035,    12567,   27464,   76666,   112844,
                             173415,  236097,  365263,  462378,  655309,  954460,  1233700, 1442772,
                             1932430, 2076879, 2568358, 2829811, 3743414, 4457408, 5187472};
// 864 jobs.
constexpr Quantiles k16Gpu = {2,       4,       15,      23,      33,      40,      52,     99,
                              286,     698,     1115,    3206,    11902,   22374,   49320,  65077,
                              101154,  159240,  228417,  339372,  498890,  639465,  734299, 849683,
                              1288934, 1416768, 1655326, 3014573, 3207804, 3302463, 3412913};
// 254 jobs.
constexpr Quantiles k32Gpu = {2,      3,       5,       11,      16,      25,      50,     79,
                              221,    348,     818,     1638,    5274,    14403,   34548,  47769,
                              53617,  62034,   85020,   112676,  152865,  216712,  242052, 373232,
                              922971, 1433062, 1448519, 1643130, 2266686, 2682391, 3098095};
// 41 jobs.
constexpr Quantiles kMoreGpu = {1,     1,     2,     2,     4,     4,     53,    68,
                                149,   538,   618,   968,   1673,  3071,  5170,  7673,
                                8437,  14411, 15381, 17249, 24399, 27957, 43359, 57870,
                                72382, 79638, 86893, 91247, 95600, 98503, 101405};

constexpr SizeCount kSizes[] = {{1, 96662}, {2, 2522}, {4, 5487}, {6, 1},   {7, 2},
                                {8, 5716},  {12, 12},  {16, 852}, {20, 1},  {24, 40},
                                {28, 1},    {32, 212}, {48, 2},   {64, 28}, {128, 11}};

constexpr VcCount kVcs[] = {
    {"6214e9", 41157}, {"11cb48", 16069}, {"6c71a0", 9854}, {"b436b2", 7405}, {"103959", 1920},
    {"ee9e8c", 1511},  {"0e4a51", 1435},  {"ed69ec", 1137}, {"7f04ca", 723},  {"2869ce", 422},
    {"e13805", 374},   {"23dbec", 8},     {"51b7ef", 4},    {"795a4c", 3},    {"925e2b", 3}};

constexpr std::array<CdfPoint, kPoints> as_cdf(const Quantiles& quantiles) {
  std::array<CdfPoint, kPoints> points{};
  for (std::size_t i = 0; i < kPoints; ++i) {
    points[i] = {kShares[i], std::max(1.0, quantiles[i])};  // ten jobs of 0 s count as 1 s
  }
  return points;
}

struct DurationClass {
  std::int64_t most_gpus;
  std::array<CdfPoint, kPoints> cdf;
};

constexpr DurationClass kDurations[] = {
    {1, as_cdf(k1Gpu)},
    {2, as_cdf(k2Gpu)},
    {4, as_cdf(k4Gpu)},
    {8, as_cdf(k8Gpu)},
    {16, as_cdf(k16Gpu)},
    {32, as_cdf(k32Gpu)},
    {std::numeric_limits<std::int64_t>::max(), as_cdf(kMoreGpu)}};

}  // namespace

std::span<const CdfPoint> gap_cdf() {
  return kGaps;
}

std::span<const SizeCount> size_counts() {
  return kSizes;
}

std::span<const VcCount> vc_counts() {
  return kVcs;
}

std::span<const CdfPoint> duration_cdf(std::int64_t gpus) {
  const auto* entry = std::ranges::find_if(
      kDurations, [gpus](const DurationClass& c) { return gpus <= c.most_gpus; });
  return entry->cdf;
}

}  // namespace berth::trace::philly
