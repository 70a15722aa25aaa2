// One seeded generator and its distributions. Ours, because those of the standard library differ
// between implementations; every value here is pinned by a test. Same seed, same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace berth {

// xoshiro256** (Blackman and Vigna, ACM TOMS 2021), seeded through splitmix64.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  // An independent stream for one purpose, so that drawing more for one does not shift another.
  [[nodiscard]] Rng fork(std::string_view purpose) const;
  [[nodiscard]] Rng fork(std::uint64_t index) const;

  std::uint64_t next_u64();
  // Uniform in [0, 1): 53 bits.
  double uniform();
  double uniform(double low, double high);
  // Uniform in [0, bound), without bias (Lemire 2019). bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [low, high], both included.
  std::int64_t uniform_int(std::int64_t low, std::int64_t high);
  bool chance(double probability);
  // Standard normal (Marsaglia's polar method; the second value is discarded: no hidden state).
  double normal();
  double normal(double mean, double sd);
  // exp(N(mu, sigma)).
  double log_normal(double mu, double sigma);
  // Mean 1/rate.
  double exponential(double rate);
  // Shape k > 0, scale > 0 (Marsaglia and Tsang 2000).
  double gamma(double shape, double scale);
  double beta(double a, double b);
  // Mean >= 0. Exact at every mean: sums of draws of mean at most 30 (Knuth's multiplication).
  std::uint64_t poisson(double mean);
  // Index drawn with probability proportional to its weight; weights >= 0, their sum > 0.
  std::size_t categorical(std::span<const double> weights);

  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::array<std::uint64_t, 4> state_{};
};

// splitmix64's finaliser: a good 64-bit mixer.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

}  // namespace berth
