#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

/// Chance for made-up names: the same on every machine.
namespace name_dice {

using dice = std::mt19937_64;

inline std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

/// In [0, 1); the same on every machine, unlike the distributions of <random>.
inline double unit(dice& random) { return static_cast<double>(random() >> 11U) * 0x1p-53; }
inline std::uint64_t below(dice& random, std::uint64_t bound) { return random() % bound; }

inline double normal(dice& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += unit(random);
  return sum;
}

/// `total` into parts in proportion to the weights, exactly.
inline std::vector<std::uint64_t> shares(std::span<const double> weights, std::uint64_t total) {
  double sum = 0;
  for (const double w : weights) sum += w;
  std::vector<std::uint64_t> parts;
  double done = 0;
  std::uint64_t given = 0;
  for (const double w : weights) {
    done += w;
    const auto upto =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(total) * (done / sum)));
    parts.push_back(std::min(upto, total) - given);
    given = std::min(upto, total);
  }
  return parts;
}

inline std::string word(dice& random, std::size_t shortest, std::size_t longest) {
  std::string text;
  const std::size_t length = shortest + below(random, longest - shortest + 1);
  for (std::size_t i = 0; i < length; ++i) {
    text += i % 2 == 0 ? "bcdfghjklmnprstvwz"[below(random, 18)] : "aeiouy"[below(random, 6)];
  }
  return text;
}

inline std::vector<std::string> distinct_sorted(std::size_t count,
                                                const std::function<std::string()>& make) {
  std::vector<std::string> made;
  while (made.size() < count) {
    while (made.size() < count) made.push_back(make());
    std::sort(made.begin(), made.end());
    made.erase(std::unique(made.begin(), made.end()), made.end());
  }
  return made;
}

}  // namespace name_dice
