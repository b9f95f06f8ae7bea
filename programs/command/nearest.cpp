#include "nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cli {

namespace {

/// How many letters are wrong, left out, added or swapped with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> cost((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return cost[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + wrong});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
  std::string best;
  // Of two letters one may be wrong, and of ten three.
  std::size_t least = word.size() / 4 + 2;
  for (const std::string& each : known) {
    const std::size_t cost = distance(word, each);
    if (cost >= least || cost >= std::max(word.size(), each.size())) continue;
    least = cost;
    best = each;
  }
  return best;
}

}  // namespace cli
