#include "base/random.h"

#include <cassert>
#include <cmath>
#include <utility>

namespace berth {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;

constexpr std::uint64_t rotl(std::uint64_t x, int k) {
  return (x << k) | (x >> (64 - k));
}

}  // namespace

Rng::Rng(std::uint64_t seed) {
  for (auto& word : state_) {
    seed += kGolden;
    word = mix64(seed);
  }
}

Rng Rng::fork(std::string_view purpose) const {
  std::uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const char c : purpose) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return fork(hash);
}

Rng Rng::fork(std::uint64_t index) const {
  return Rng(mix64(state_[0] + kGolden * (index + 1)) ^ state_[2]);
}

std::uint64_t Rng::next_u64() {
  const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = rotl(state_[3], 45);
  return result;
}

double Rng::uniform() {
  return static_cast<double>(next_u64() >> 11) * 0x1.0p-53;
}

double Rng::uniform(double low, double high) {
  return low + (high - low) * uniform();
}

std::uint64_t Rng::below(std::uint64_t bound) {
  assert(bound > 0);
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t reject_below = (0 - bound) % bound;
  while (true) {
    const Wide product = static_cast<Wide>(next_u64()) * bound;
    if (static_cast<std::uint64_t>(product) >= reject_below) {
      return static_cast<std::uint64_t>(product >> 64);
    }
  }
}

std::int64_t Rng::uniform_int(std::int64_t low, std::int64_t high) {
  assert(low <= high);
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = span == 0 ? next_u64() : below(span);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

bool Rng::chance(double probability) {
  return uniform() < probability;
}

double Rng::normal() {
  while (true) {
    const double u = 2.0 * uniform() - 1.0;
    const double v = 2.0 * uniform() - 1.0;
    const double s = u * u + v * v;
    if (s > 0.0 && s < 1.0) return u * std::sqrt(-2.0 * std::log(s) / s);
  }
}

double Rng::normal(double mean, double sd) {
  return mean + sd * normal();
}

double Rng::log_normal(double mu, double sigma) {
  return std::exp(normal(mu, sigma));
}

double Rng::exponential(double rate) {
  return -std::log1p(-uniform()) / rate;
}

double Rng::gamma(double shape, double scale) {
  if (shape < 1.0) {
    const double boost = std::pow(1.0 - uniform(), 1.0 / shape);
    return boost * gamma(shape + 1.0, scale);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = normal();
    const double t = 1.0 + c * x;
    if (t <= 0.0) continue;
    const double v = t * t * t;
    const double u = 1.0 - uniform();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * scale;
  }
}

double Rng::beta(double a, double b) {
  const double x = gamma(a, 1.0);
  const double y = gamma(b, 1.0);
  return x / (x + y);
}

std::uint64_t Rng::poisson(double mean) {
  std::uint64_t total = 0;
  while (mean > 0.0) {
    const double part = mean > 30.0 ? 30.0 : mean;
    mean -= part;
    const double limit = std::exp(-part);
    double product = uniform();
    while (product > limit) {
      ++total;
      product *= uniform();
    }
  }
  return total;
}

std::size_t Rng::categorical(std::span<const double> weights) {
  double sum = 0.0;
  for (const double w : weights) sum += w;
  assert(sum > 0.0);
  double left = uniform() * sum;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    last = i;
    left -= weights[i];
    if (left < 0.0) return i;
  }
  return last;  // rounding left a sliver
}

}  // namespace berth
