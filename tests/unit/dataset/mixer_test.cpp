#include <dataflux/dataset/mixer.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace mixer_test {

using dataflux::mix_draw;
using dataflux::mix_stage;
using dataflux::mixer;
using dataflux::mixer_options;
using dataflux::source_end;
using count_list = std::vector<std::uint64_t>;

inline std::vector<mix_draw> draws_of(const mixer& mix, std::uint64_t first, std::size_t most) {
  std::vector<mix_draw> found(most);
  found.resize(mix.draws(first, 1, found));
  return found;
}

inline std::vector<std::uint32_t> sources_of(const mixer& mix, std::size_t most) {
  std::vector<std::uint32_t> found;
  for (const auto& draw : draws_of(mix, 0, most)) found.push_back(draw.source);
  return found;
}

// Promised from version to version: a job that was saved goes on in the same mix.
TEST_CASE("mixer: draws are what they have always been", "[dataset]") {
  const auto mix = [](std::vector<std::uint32_t> parts) {
    const count_list sizes(parts.size(), 1000);
    return mixer::create({.sizes = sizes, .stages = {{.parts = std::move(parts)}}}).value();
  };
  using list = std::vector<std::uint32_t>;
  CHECK(sources_of(mix({7, 2, 1}), 10) == list{0, 0, 0, 1, 0, 0, 1, 0, 0, 2});
  CHECK(sources_of(mix({1, 1, 1}), 6) == list{0, 1, 2, 0, 1, 2});
  CHECK(sources_of(mix({3, 5}), 8) == list{1, 0, 1, 1, 0, 1, 0, 1});
  CHECK(sources_of(mix({0, 4}), 3) == list{1, 1, 1});
}

struct dice {
  std::mt19937_64 random;
  std::uint64_t below(std::uint64_t limit) { return random() % limit; }
};

inline std::vector<std::uint32_t> some_parts(dice& d, std::size_t sources) {
  std::vector<std::uint32_t> parts(sources);
  const auto most = std::uint64_t{1} << d.below(9);
  for (auto& part : parts) part = static_cast<std::uint32_t>(d.below(most + 1));
  parts[d.below(sources)] += 1;
  return parts;
}

TEST_CASE("mixer: counts are within 1 of the weights after every draw", "[dataset]") {
  dice d{std::mt19937_64{1}};
  for (int round = 0; round < 200; ++round) {
    const std::size_t sources = 1 + d.below(9);
    const auto parts = some_parts(d, sources);
    const auto all = std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
    const auto mix = mixer::create({.sizes = count_list(sources, 1U << 30U),
                                    .stages = {{.parts = parts}},
                                    .ended = source_end::restart})
                         .value();
    count_list counts(sources);
    std::uint64_t n = 0;
    for (const auto& draw : draws_of(mix, 0, 2000)) {
      REQUIRE(draw.number == counts[draw.source]);
      ++counts[draw.source];
      ++n;
      for (std::size_t i = 0; i < sources; ++i) {
        REQUIRE(counts[i] * all < n * parts[i] + all);
        REQUIRE(counts[i] * all + all > n * parts[i]);
      }
      if (n % 97 == 0) REQUIRE(mix.counts(n) == counts);
    }
  }
}

/// A mix whose sources end, and whose weights change.
inline mixer_options some_options(dice& d, source_end ended) {
  mixer_options options{.ended = ended};
  const std::size_t sources = 1 + d.below(6);
  for (std::size_t i = 0; i < sources; ++i) options.sizes.push_back(1 + d.below(200));
  std::uint64_t from = 0;
  for (auto stages = 1 + d.below(3); stages > 0; --stages) {
    options.stages.push_back({.from = from, .parts = some_parts(d, sources)});
    from += 1 + d.below(150);
  }
  return options;
}

TEST_CASE("mixer: every draw is the next sample of its source, to the end", "[dataset]") {
  dice d{std::mt19937_64{2}};
  for (const auto ended : {source_end::stop, source_end::drop, source_end::restart}) {
    for (int round = 0; round < 400; ++round) {
      const auto options = some_options(d, ended);
      const auto mix = mixer::create(options).value();
      count_list counts(options.sizes.size());
      std::uint64_t n = 0;
      for (const auto& draw : draws_of(mix, 0, 3000)) {
        REQUIRE(draw.number == counts[draw.source]++);
        if (ended != source_end::restart) REQUIRE(draw.number < options.sizes[draw.source]);
        ++n;
        if (n % 53 == 0) REQUIRE(mix.counts(n) == counts);
      }
      if (ended == source_end::restart) {
        CHECK(mix.end() == UINT64_MAX);
        CHECK(n == 3000);
        continue;
      }
      REQUIRE(n == mix.end());
      CHECK(mix.counts(n) == counts);
      CHECK(mix.counts(UINT64_MAX) == counts);
      CHECK(draws_of(mix, n, 5).empty());
      if (ended == source_end::drop && options.stages.size() == 1) {
        for (std::size_t i = 0; i < counts.size(); ++i) {
          CHECK(counts[i] == (options.stages[0].parts[i] == 0 ? 0 : options.sizes[i]));
        }
      }
    }
  }
}

TEST_CASE("mixer: it goes on from one count of each source, with the same weights or others",
          "[dataset]") {
  dice d{std::mt19937_64{3}};
  for (const auto ended : {source_end::stop, source_end::drop, source_end::restart}) {
    for (int round = 0; round < 300; ++round) {
      const auto options = some_options(d, ended);
      const auto whole = mixer::create(options).value();
      const auto at = d.below(400);
      if (at >= whole.end()) continue;
      const auto parts = some_parts(d, options.sizes.size());
      // As a schedule that was known before ...
      auto known = options;
      while (!known.stages.empty() && known.stages.back().from >= at) known.stages.pop_back();
      known.stages.push_back({.from = at, .parts = parts});
      // ... and by counts alone.
      const auto resumed = mixer::create({.sizes = options.sizes,
                                          .stages = {{.from = at, .parts = parts}},
                                          .ended = ended,
                                          .counts = whole.counts(at)})
                               .value();
      const auto planned = mixer::create(known).value();
      CHECK(resumed.end() == planned.end());
      CHECK(draws_of(resumed, at, 500) == draws_of(planned, at, 500));
    }
  }
}

TEST_CASE("mixer: ranks take turns, at any draw", "[dataset]") {
  dice d{std::mt19937_64{4}};
  for (int round = 0; round < 200; ++round) {
    const auto mix = mixer::create(some_options(d, source_end::drop)).value();
    const auto all = draws_of(mix, 0, 4000);
    const auto step = 1 + d.below(9);
    const auto first = d.below(300);
    std::vector<mix_draw> some(100);
    some.resize(mix.draws(first, step, some));
    for (std::size_t k = 0; k < some.size(); ++k) REQUIRE(some[k] == all[first + k * step]);
    CHECK((some.size() == 100 || first + some.size() * step >= all.size()));
  }
}

TEST_CASE("mixer: numbers as large as there are", "[dataset]") {
  const auto most = std::uint64_t{1} << 62U;
  for (const auto ended : {source_end::stop, source_end::drop, source_end::restart}) {
    const auto mix =
        mixer::create(
            {.sizes = {most, most, 5}, .stages = {{.parts = {65'534, 1, 1}}}, .ended = ended})
            .value();
    const auto far = draws_of(mix, std::uint64_t{1} << 50U, 3);
    CHECK(far.size() == (ended == source_end::stop ? 0 : 3));
    CHECK(mix.counts(UINT64_MAX).size() == 3);
    std::vector<mix_draw> two(2);
    CHECK(mix.draws(UINT64_MAX, UINT64_MAX, two) == 0);
  }
}

TEST_CASE("mixer: what it cannot do is refused by name", "[dataset]") {
  const auto refused = [](mixer_options options, const std::string& word) {
    const auto made = mixer::create(std::move(options));
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == dataflux::errc::invalid_argument);
    INFO(made.error().to_string());
    CHECK(made.error().to_string().find(word) != std::string::npos);
  };
  refused({}, "sources");
  refused({.sizes = count_list(257, 1), .stages = {{}}}, "sources");
  refused({.sizes = {1}}, "weights");
  refused({.sizes = {1}, .stages = {{.parts = {1, 1}}}}, "stage 0");
  refused({.sizes = {1}, .stages = {{.parts = {0}}}}, "stage 0");
  refused({.sizes = {1}, .stages = {{.parts = {65'537}}}}, "65,536");
  refused({.sizes = {1}, .stages = {{.parts = {1}}, {.parts = {1}}}}, "stage 1");
  refused({.sizes = {1}, .stages = {{.parts = {1}}}, .counts = {1, 1}}, "counts");
  refused({.sizes = {1}, .stages = {{.parts = {1}}}, .counts = {UINT64_MAX}}, "counts");
  refused({.sizes = {UINT64_MAX}, .stages = {{.parts = {1}}}}, "sizes");
  refused({.sizes = {0}, .stages = {{.parts = {1}}}, .ended = source_end::restart}, "sizes");
  refused({.sizes = {1}, .stages = {{.parts = {1}}}, .ended = static_cast<source_end>(3)}, "ended");
}

TEST_CASE("mixer: sources without a sample", "[dataset]") {
  const auto stops = mixer::create({.sizes = {5, 0}, .stages = {{.parts = {2, 1}}}}).value();
  CHECK(stops.end() == 2);
  const auto drops =
      mixer::create({.sizes = {5, 0}, .stages = {{.parts = {2, 1}}}, .ended = source_end::drop})
          .value();
  CHECK(drops.end() == 5);
  const auto none =
      mixer::create({.sizes = {0, 0}, .stages = {{.parts = {2, 1}}}, .ended = source_end::drop})
          .value();
  CHECK(none.end() == 0);
}

}  // namespace mixer_test
