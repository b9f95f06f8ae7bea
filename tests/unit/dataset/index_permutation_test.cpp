#include <dataflux/dataset/detail/index_permutation.hpp>

#include <support/catch.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

namespace index_permutation_test {

using dataflux::detail::index_permutation;

inline std::vector<std::uint64_t> images(const index_permutation& permutation,
                                         std::uint64_t tweak = 0) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = 0; i < permutation.count(); ++i) found.push_back(permutation(i, tweak));
  return found;
}

TEST_CASE("index_permutation: each index comes once, and inverse leads back", "[dataset]") {
  for (std::uint64_t count = 0; count <= 300; ++count) {
    for (const std::uint64_t tweak : {0U, 1U, 77U}) {
      const index_permutation permutation(count, count * 31 + tweak);
      std::vector<bool> seen(count);
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto image = permutation(i, tweak);
        REQUIRE(image < count);
        REQUIRE_FALSE(seen[image]);
        seen[image] = true;
        REQUIRE(permutation.inverse(image, tweak) == i);
      }
    }
  }
}

TEST_CASE("index_permutation: large counts, primes and powers lose nothing", "[dataset]") {
  for (const std::uint64_t count :
       {std::uint64_t{1025}, std::uint64_t{65'537}, std::uint64_t{1} << 32,
        (std::uint64_t{1} << 32) - 1, (std::uint64_t{1} << 32) + 1, std::uint64_t{1'000'000'007},
        (std::uint64_t{1} << 62) - 1, std::uint64_t{1} << 62}) {
    const index_permutation permutation(count, 5);
    std::unordered_set<std::uint64_t> seen;
    const auto look = [&](std::uint64_t i) {
      const auto image = permutation(i);
      REQUIRE(image < count);
      REQUIRE(seen.insert(image).second);
      REQUIRE(permutation.inverse(image) == i);
    };
    for (std::uint64_t i = 0; i < 1000; ++i) look(i);
    for (std::uint64_t i = 0; i < 20; ++i) look(count - 1 - i);
  }
}

// Chi-square with n - 1 degrees of freedom stays below n + 5 * sqrt(2 n) but once in a million.
inline double most(double cells) { return cells + 5 * std::sqrt(2 * cells); }

TEST_CASE("index_permutation: all orders of few are equally likely", "[dataset]") {
  for (const std::uint64_t count : {2U, 3U, 4U, 5U, 6U}) {
    const std::size_t orders = std::array{0U, 0U, 2U, 6U, 24U, 120U, 720U}[count];
    const auto tries = orders * 100;
    std::map<std::vector<std::uint64_t>, int> times;
    for (std::size_t key = 0; key < tries; ++key) {
      ++times[images({count, dataflux::detail::mix_bits(key)})];
    }
    CAPTURE(count);
    CHECK(times.size() == orders);
    double chi = 0;
    for (const auto& [order, n] : times) chi += (n - 100.) * (n - 100.) / 100;
    CHECK(chi < most(static_cast<double>(orders)));
  }
}

TEST_CASE("index_permutation: every index goes anywhere, and so do neighbours", "[dataset]") {
  for (const std::uint64_t count : {17U, 100U, 1000U, 1500U}) {
    const std::uint64_t cells = 10;
    std::vector<int> alone(count * cells);
    std::vector<int> pair(cells * cells);
    const int keys = 2000;
    for (int key = 0; key < keys; ++key) {
      const index_permutation permutation(count, static_cast<std::uint64_t>(key));
      for (std::uint64_t i = 0; i < count; ++i) ++alone[i * cells + permutation(i) * cells / count];
      const auto at = static_cast<std::uint64_t>(key) % (count - 1);
      ++pair[permutation(at) * cells / count * cells + permutation(at + 1) * cells / count];
    }
    std::vector<double> width(cells);
    for (std::uint64_t i = 0; i < count; ++i)
      width[i * cells / count] += 1. / static_cast<double>(count);
    double chi = 0;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const double expected = keys * width[i % cells];
      chi += (alone[i] - expected) * (alone[i] - expected) / expected;
    }
    CAPTURE(count);
    CHECK(chi < most(static_cast<double>(alone.size())));
    double together = 0;
    for (std::size_t i = 0; i < pair.size(); ++i) {
      const double expected = keys * width[i / cells] * width[i % cells];
      together += (pair[i] - expected) * (pair[i] - expected) / expected;
    }
    // Two indexes never have one image, which a tenth of few cells shows.
    CHECK(together < most(static_cast<double>(pair.size())) + (count < 50 ? 40 : 0));
  }
}

TEST_CASE("index_permutation: a tweak makes another permutation", "[dataset]") {
  const index_permutation permutation(1000, 3);
  CHECK(images(permutation, 1) != images(permutation, 2));
  CHECK(images(permutation, 1) == images(permutation, 1));
}

}  // namespace index_permutation_test
