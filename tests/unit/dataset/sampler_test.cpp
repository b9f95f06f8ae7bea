#include <dataflux/codec/detail/json.hpp>
#include <dataflux/dataset/sampler.hpp>

#include <support/catch.hpp>
#include <support/vector_file.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace sampler_test {

using dataflux::equalize_kind;
using dataflux::sampler;
using dataflux::sampler_options;
using dataflux::shuffle_kind;
using row_list = std::vector<std::uint64_t>;

inline row_list rows_of(const sampler_options& options) {
  const auto order = sampler::create(options).value();
  row_list rows(order.size());
  REQUIRE(order.rows(0, rows) == order.size());
  return rows;
}

inline sampler_options of_kind(shuffle_kind kind, std::uint64_t count, std::uint64_t seed = 1) {
  sampler_options options{.count = count, .seed = seed, .shuffle = kind};
  if (kind == shuffle_kind::window || kind == shuffle_kind::blocks) {
    options.block = 1 + seed % 9;
    options.window = 1 + seed % 5;
  }
  return options;
}

inline constexpr auto all_kinds = {shuffle_kind::full, shuffle_kind::window, shuffle_kind::none,
                                   shuffle_kind::blocks};

inline row_list counted(std::uint64_t n) {
  row_list rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// Promised from version to version: a job that was saved goes on in the same order.
TEST_CASE("sampler: the order is what it has always been", "[dataset]") {
  CHECK(rows_of({.count = 10, .seed = 1}) == row_list{1, 4, 7, 5, 6, 8, 2, 0, 9, 3});
  CHECK(rows_of({.count = 10, .seed = 1, .epoch = 1}) == row_list{1, 0, 8, 3, 4, 5, 7, 9, 6, 2});
  const auto large = sampler::create({.count = 1'000'000'000'000, .seed = 7, .epoch = 2}).value();
  CHECK(large.row(0) == 442'519'900'740);
  CHECK(large.row(999'999'999'999) == 799'239'479'648);
  CHECK(
      rows_of({.count = 10, .seed = 5, .shuffle = shuffle_kind::window, .block = 2, .window = 2}) ==
      row_list{2, 4, 5, 3, 8, 9, 1, 0, 6, 7});
  const auto window =
      sampler::create({.count = 1'000'000'007, .seed = 5, .shuffle = shuffle_kind::window}).value();
  CHECK(window.row(0) == 412'213'718);
  CHECK(window.row(1'000'000'006) == 658'714'430);
}

TEST_CASE("sampler: orders of tests/vectors/orders are as they were written", "[dataset]") {
  const auto text = vector_file("orders/orders.json");
  const auto document =
      dataflux::detail::codec::json_document::parse(dataflux::as_bytes(text)).value();
  std::size_t orders = 0;
  for (const auto& each : document.root().find("orders").elements()) {
    const auto number = [&](const char* name) { return each.find(name).uint64().value(); };
    const auto kind = each.find("shuffle").text().value();
    const auto order = sampler::create({.count = number("count"),
                                        .seed = number("seed"),
                                        .epoch = number("epoch"),
                                        .shuffle = kind == "full"     ? shuffle_kind::full
                                                   : kind == "window" ? shuffle_kind::window
                                                   : kind == "blocks" ? shuffle_kind::blocks
                                                                      : shuffle_kind::none,
                                        .block = number("block"),
                                        .window = number("window")})
                           .value();
    const auto first = each.find("first").elements();
    row_list rows(order.size());
    order.rows(0, rows);
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a of the numbers, 8 bytes each
    for (std::size_t p = 0; p < rows.size(); ++p) {
      if (p < first.size()) REQUIRE(rows[p] == first[p].uint64());
      for (int byte = 0; byte < 8; ++byte) {
        hash = (hash ^ (rows[p] >> (8 * byte) & 0xff)) * 0x100000001b3;
      }
    }
    INFO(each.to_string());
    CHECK(hash == number("hash"));
    ++orders;
  }
  CHECK(orders == 48);
}

TEST_CASE("sampler: three epochs at one to seven ranks read each row once an epoch", "[dataset]") {
  for (const auto kind : all_kinds) {
    for (const std::uint64_t count : {0U, 1U, 2U, 5U, 6U, 7U, 60U, 257U, 1009U}) {
      for (std::uint32_t ranks = 1; ranks <= 7; ++ranks) {
        for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
          auto options = of_kind(kind, count, count + ranks);
          options.epoch = epoch;
          options.world_size = ranks;
          row_list dropped, padded;
          for (options.rank = 0; options.rank < ranks; ++options.rank) {
            options.equalize = equalize_kind::drop;
            const auto fewer = rows_of(options);
            REQUIRE(fewer.size() == count / ranks);
            dropped.insert(dropped.end(), fewer.begin(), fewer.end());
            options.equalize = equalize_kind::pad;
            const auto more = rows_of(options);
            REQUIRE(more.size() == (count + ranks - 1) / ranks);
            padded.insert(padded.end(), more.begin(), more.end());
          }
          std::sort(dropped.begin(), dropped.end());
          REQUIRE(std::adjacent_find(dropped.begin(), dropped.end()) == dropped.end());
          REQUIRE((dropped.empty() || dropped.back() < count));
          const std::set<std::uint64_t> all(padded.begin(), padded.end());
          REQUIRE(all.size() == count);
          REQUIRE((all.empty() || *all.rbegin() < count));
        }
      }
    }
  }
}

TEST_CASE("sampler: ranks take turns in one order, whatever their number", "[dataset]") {
  for (const auto kind : all_kinds) {
    auto options = of_kind(kind, 1003, 4);
    const auto whole = rows_of(options);
    for (const std::uint32_t ranks : {2U, 3U, 8U}) {
      options.world_size = ranks;
      options.equalize = equalize_kind::pad;
      for (options.rank = 0; options.rank < ranks; ++options.rank) {
        const auto share = rows_of(options);
        for (std::size_t p = 0; p < share.size(); ++p) {
          REQUIRE(share[p] == whole[(p * ranks + options.rank) % whole.size()]);
        }
      }
      options.rank = 0;
    }
  }
}

TEST_CASE("sampler: more ranks than rows", "[dataset]") {
  sampler_options options{.count = 3, .world_size = 8};
  for (options.rank = 0; options.rank < 8; ++options.rank) {
    options.equalize = equalize_kind::drop;
    CHECK(rows_of(options).empty());
    options.equalize = equalize_kind::pad;
    const auto rows = rows_of(options);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0] < 3);
  }
  options = {.count = 0, .world_size = 8, .equalize = equalize_kind::pad};
  CHECK(rows_of(options).empty());
}

TEST_CASE("sampler: seeds and epochs make orders of their own", "[dataset]") {
  for (const auto kind : {shuffle_kind::full, shuffle_kind::window, shuffle_kind::blocks}) {
    std::set<row_list> orders;
    auto options = of_kind(kind, 200, 8);
    for (options.seed = 0; options.seed < 20; ++options.seed) {
      for (options.epoch = 0; options.epoch < 20; ++options.epoch) orders.insert(rows_of(options));
    }
    CHECK(orders.size() == 400);
  }
  CHECK(rows_of({.count = 50, .shuffle = shuffle_kind::none}) == counted(50));
}

TEST_CASE("sampler: a window mixes so many blocks and no more", "[dataset]") {
  for (const std::uint64_t count : {1U, 9U, 10U, 11U, 99U, 100U, 101U, 1000U, 1003U}) {
    for (const std::uint64_t block : {1U, 10U, 2000U}) {
      for (const std::uint64_t window : {1U, 3U, 1000U}) {
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
          const auto rows = rows_of({.count = count,
                                     .seed = seed,
                                     .shuffle = shuffle_kind::window,
                                     .block = block,
                                     .window = window});
          auto sorted = rows;
          std::sort(sorted.begin(), sorted.end());
          REQUIRE(sorted == counted(count));
          // Blocks are met window by window: none comes back once its window is over.
          std::size_t at = 0;
          std::set<std::uint64_t> over;
          while (at < rows.size()) {
            std::set<std::uint64_t> blocks;
            std::uint64_t there = 0;
            const auto from = at;
            while (at < rows.size() &&
                   (blocks.contains(rows[at] / block) || blocks.size() < window)) {
              if (blocks.insert(rows[at] / block).second) {
                const auto b = rows[at] / block;
                there += std::min(block, count - b * block);
              }
              ++at;
              if (blocks.size() == window && at - from == there) break;
            }
            REQUIRE(at - from == there);
            for (const auto b : blocks) REQUIRE(over.insert(b).second);
          }
        }
      }
    }
  }
}

/// Windows of an order, as window_end() says.
inline std::vector<row_list> windows_of(const sampler& order) {
  std::vector<row_list> found;
  for (std::uint64_t first = 0; first < order.size();) {
    const auto end = order.window_end(first);
    REQUIRE(end > first);
    for (auto p = first; p < end; ++p) REQUIRE(order.window_end(p) == end);
    row_list rows(end - first);
    REQUIRE(order.rows(first, rows) == rows.size());
    found.push_back(std::move(rows));
    first = end;
  }
  return found;
}

TEST_CASE("sampler: blocks of a window take turns", "[dataset]") {
  for (const std::uint64_t count : {1U, 9U, 10U, 11U, 99U, 100U, 101U, 1003U}) {
    for (const std::uint64_t block : {1U, 7U, 10U, 2000U}) {
      for (const std::uint64_t window : {1U, 3U, 8U, 1000U}) {
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
          const auto order = sampler::create({.count = count,
                                              .seed = seed,
                                              .shuffle = shuffle_kind::blocks,
                                              .block = block,
                                              .window = window})
                                 .value();
          std::set<std::uint64_t> over;
          for (const auto& rows : windows_of(order)) {
            std::set<std::uint64_t> blocks;
            std::uint64_t held = 0;
            for (const auto row : rows) {
              if (blocks.insert(row / block).second) {
                held += std::min(block, count - row / block * block);
              }
            }
            REQUIRE(blocks.size() <= window);
            REQUIRE(rows.size() == held);
            for (const auto b : blocks) REQUIRE(over.insert(b).second);
            // Each of them once before one comes again, and the same one next, while all are whole.
            const auto shortest =
                blocks.contains((count - 1) / block) ? count - (count - 1) / block * block : block;
            for (std::size_t p = 0; p < shortest * blocks.size(); ++p) {
              REQUIRE(rows[p] / block == rows[p % blocks.size()] / block);
            }
          }
          REQUIRE(over.size() == (count - 1) / block + 1);
        }
      }
    }
  }
}

TEST_CASE("sampler: where a window is a multiple of readers and batch each block has one reader",
          "[dataset]") {
  const std::uint64_t block = 16, ranks = 3, workers = 4, batch = 5, window = 60, count = 16 * 600;
  std::vector<std::set<std::uint64_t>> readers(count / block);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto rows = rows_of({.count = count,
                               .seed = 3,
                               .shuffle = shuffle_kind::blocks,
                               .block = block,
                               .window = window,
                               .rank = rank,
                               .world_size = ranks});
    for (std::size_t p = 0; p < rows.size(); ++p) {
      readers[rows[p] / block].insert(rank * workers + p / batch % workers);
    }
  }
  for (const auto& of_block : readers) CHECK(of_block.size() == 1);
}

TEST_CASE("sampler: a window ends at the same place for all ranks", "[dataset]") {
  for (const auto kind : {shuffle_kind::window, shuffle_kind::blocks}) {
    for (const std::uint32_t ranks : {1U, 2U, 7U, 200U}) {
      sampler_options options = of_kind(kind, 1003, 4);
      const auto whole = sampler::create(options).value();
      options.world_size = ranks;
      options.equalize = equalize_kind::pad;
      for (options.rank = 0; options.rank < ranks; ++options.rank) {
        const auto order = sampler::create(options).value();
        for (std::uint64_t p = 0; p < order.size(); ++p) {
          const auto place = p * ranks + options.rank;
          if (place >= options.count) {
            REQUIRE(order.window_end(p) == order.size());
            continue;
          }
          const auto end = order.window_end(p);
          const auto limit = whole.window_end(place);
          REQUIRE((end - 1) * ranks + options.rank < (limit == 1003 ? 1003 + ranks : limit));
          REQUIRE((end == order.size() || end * ranks + options.rank >= limit));
        }
      }
      options.rank = 0;
    }
  }
  CHECK(sampler::create({.count = 9}).value().window_end(3) == 9);
  CHECK(sampler::create({.count = 9}).value().window_end(100) == 9);
}

TEST_CASE("sampler: with a window, too, every row comes early and late", "[dataset]") {
  const auto kind = GENERATE(shuffle_kind::window, shuffle_kind::blocks);
  const std::uint64_t count = 103, seeds = 3000, cells = 4;
  std::vector<double> times(count * cells);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto rows =
        rows_of({.count = count, .seed = seed, .shuffle = kind, .block = 5, .window = 3});
    for (std::uint64_t p = 0; p < count; ++p) ++times[rows[p] * cells + p * cells / count];
  }
  std::vector<double> width(cells);
  for (std::uint64_t p = 0; p < count; ++p)
    width[p * cells / count] += 1. / static_cast<double>(count);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double expected = static_cast<double>(seeds) * width[i % cells];
    CHECK(std::abs(times[i] - expected) < 6 * std::sqrt(expected));
  }
}

TEST_CASE("sampler: a stretch is what its positions are", "[dataset]") {
  const auto order = sampler::create({.count = 1000, .rank = 1, .world_size = 3}).value();
  CHECK(order.size() == 333);
  CHECK(order.total() == 999);
  row_list rows(50, 12345);
  CHECK(order.rows(300, rows) == 33);
  for (std::size_t i = 0; i < 33; ++i) CHECK(rows[i] == order.row(300 + i));
  CHECK(rows[33] == 12345);
  CHECK(order.rows(333, rows) == 0);
  CHECK(order.rows(UINT64_MAX, rows) == 0);
}

TEST_CASE("sampler: what it cannot do is refused by name", "[dataset]") {
  const auto refused = [](const sampler_options& options, const std::string& word) {
    const auto made = sampler::create(options);
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == dataflux::errc::invalid_argument);
    CHECK(made.error().to_string().find(word) != std::string::npos);
  };
  refused({.count = (std::uint64_t{1} << 62) + 1}, "count");
  refused({.count = 1, .world_size = 0}, "world_size");
  refused({.count = 1, .rank = 2, .world_size = 2}, "rank 2");
  refused({.count = 1, .block = 8}, "block");
  refused({.count = 1, .shuffle = shuffle_kind::none, .window = 8}, "window");
  refused({.count = 1, .shuffle = shuffle_kind::window, .block = UINT64_MAX}, "block");
  refused({.count = 1, .shuffle = static_cast<shuffle_kind>(4)}, "shuffle");
  refused({.count = 1, .equalize = static_cast<equalize_kind>(2)}, "equalize");
}

}  // namespace sampler_test
