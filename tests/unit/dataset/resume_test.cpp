#include <dataflux/dataset/mixer.hpp>
#include <dataflux/dataset/sampler.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

/// Jobs that stop anywhere and go on with other ranks: what they have read is the beginning of the
/// epoch's order, without a repeat and without a gap.
namespace resume_test {

using dataflux::equalize_kind;
using dataflux::mix_draw;
using dataflux::mixer;
using dataflux::sampler;
using dataflux::sampler_options;
using dataflux::shuffle_kind;
using dataflux::source_end;
using row_list = std::vector<std::uint64_t>;

struct dice {
  std::mt19937_64 random;
  std::uint64_t below(std::uint64_t limit) { return random() % limit; }
};

inline sampler_options some_order(dice& d, std::uint64_t most) {
  sampler_options how{.count = 1 + d.below(most),
                      .seed = d.random(),
                      .epoch = d.below(1000),
                      .shuffle = static_cast<shuffle_kind>(d.below(4))};
  if (how.shuffle == shuffle_kind::window || how.shuffle == shuffle_kind::blocks) {
    how.block = 1 + d.below(40);
    how.window = 1 + d.below(70);
  }
  return how;
}

/// What a rank reads from place `begin` of the epoch on: it takes another one's turns from 0 on.
inline row_list rows_of_rank(sampler_options how, std::uint64_t begin, std::uint32_t rank,
                             std::uint32_t ranks, std::uint64_t count) {
  how.rank = static_cast<std::uint32_t>((begin + rank) % ranks);
  how.world_size = ranks;
  how.equalize = equalize_kind::pad;
  row_list rows(count);
  rows.resize(sampler::create(how).value().rows((begin + rank) / ranks, rows));
  return rows;
}

TEST_CASE("resume: a chain of jobs of any ranks reads the epoch's order", "[dataset]") {
  dice d{std::mt19937_64{11}};
  for (int round = 0; round < 300; ++round) {
    const auto how = some_order(d, 3000);
    row_list whole(how.count);
    sampler::create(how).value().rows(0, whole);
    row_list served;
    while (served.size() < how.count) {
      const auto begin = served.size();
      const auto ranks = static_cast<std::uint32_t>(1 + d.below(9));
      const auto batch = 1 + d.below(20);
      // Steps of all ranks, and none where it has just begun.
      const auto steps = std::min(d.below(20), (how.count - begin) / (ranks * batch));
      if (how.count - begin < ranks * batch) {
        served.insert(served.end(), whole.begin() + static_cast<std::ptrdiff_t>(begin),
                      whole.end());
        break;
      }
      std::vector<row_list> of_ranks;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        of_ranks.push_back(rows_of_rank(how, begin, rank, ranks, steps * batch));
        REQUIRE(of_ranks.back().size() == steps * batch);
      }
      for (std::uint64_t p = 0; p < steps * batch; ++p) {
        for (const auto& rows : of_ranks) served.push_back(rows[p]);
      }
    }
    REQUIRE(served == whole);
    std::sort(served.begin(), served.end());
    for (std::size_t i = 0; i < served.size(); ++i) REQUIRE(served[i] == i);
  }
}

/// So many jobs that stop at any place of any order, and go on with any ranks.
inline void stop_at(std::uint64_t stops, std::uint64_t seed) {
  dice d{std::mt19937_64{seed}};
  std::uint64_t done = 0;
  while (done < stops) {
    const auto how = some_order(d, std::uint64_t{1} << (1 + d.below(40)));
    const auto order = sampler::create(how).value();
    for (int k = 0; k < 50; ++k, ++done) {
      const auto begin = d.below(how.count);
      const auto ranks = static_cast<std::uint32_t>(1 + d.below(64));
      const auto rank = static_cast<std::uint32_t>(d.below(ranks));
      const auto rows = rows_of_rank(how, begin, rank, ranks, 3);
      for (std::size_t p = 0; p < rows.size(); ++p) {
        const auto place = begin + p * ranks + rank;
        REQUIRE(rows[p] == order.row(place % how.count));
      }
    }
  }
}

TEST_CASE("resume: at any place of any order, with any ranks", "[dataset]") { stop_at(20'000, 12); }

TEST_CASE("resume: at a million places", "[dataset][.full]") { stop_at(1'000'000, 13); }

/// A mix of orders, each with epochs of its own.
struct mixed_orders {
  std::vector<sampler_options> sources;
  mixer mix;

  std::uint64_t row_at(const mix_draw& draw) const {
    auto how = sources[draw.source];
    how.epoch += draw.number / how.count;
    return sampler::create(how).value().row(draw.number % how.count);
  }
};

inline mixed_orders some_mix(dice& d, source_end ended) {
  std::vector<sampler_options> sources;
  dataflux::mixer_options options{.stages = {{}}, .ended = ended};
  for (auto n = 1 + d.below(5); n > 0; --n) {
    sources.push_back(some_order(d, 400));
    options.sizes.push_back(sources.back().count);
    options.stages[0].parts.push_back(1 + static_cast<std::uint32_t>(d.below(30)));
  }
  return {std::move(sources), mixer::create(std::move(options)).value()};
}

TEST_CASE("resume: a mix reads each source in its order, whatever the ranks", "[dataset]") {
  dice d{std::mt19937_64{14}};
  for (int round = 0; round < 60; ++round) {
    const auto mixed = some_mix(d, static_cast<source_end>(d.below(3)));
    const auto most = std::min<std::uint64_t>(mixed.mix.end(), 1500);
    std::vector<row_list> of_sources(mixed.sources.size());
    for (std::uint64_t begin = 0; begin < most;) {
      const auto ranks = 1 + d.below(7);
      const auto steps = d.below(60);
      std::vector<std::vector<mix_draw>> of_ranks(ranks, std::vector<mix_draw>(steps));
      for (std::uint64_t r = 0; r < ranks; ++r) {
        of_ranks[r].resize(mixed.mix.draws(begin + r, ranks, of_ranks[r]));
      }
      for (std::uint64_t p = 0; p < steps; ++p) {
        for (const auto& draws : of_ranks) {
          if (p >= draws.size()) continue;
          auto& rows = of_sources[draws[p].source];
          REQUIRE(rows.size() == draws[p].number);
          rows.push_back(mixed.row_at(draws[p]));
        }
      }
      begin += steps * ranks;
    }
    for (std::size_t s = 0; s < of_sources.size(); ++s) {
      auto how = mixed.sources[s];
      for (std::size_t first = 0; first < of_sources[s].size(); first += how.count, ++how.epoch) {
        row_list epoch(std::min<std::size_t>(how.count, of_sources[s].size() - first));
        sampler::create(how).value().rows(0, epoch);
        REQUIRE(std::equal(epoch.begin(), epoch.end(),
                           of_sources[s].begin() + static_cast<std::ptrdiff_t>(first)));
      }
    }
  }
}

}  // namespace resume_test
