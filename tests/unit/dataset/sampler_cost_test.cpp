#include <dataflux/dataset/sampler_cost.hpp>
#include <dataflux/transfer/detail/coalesce.hpp>

#include <support/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sampler_cost_test {

using dataflux::cost_of;
using dataflux::epoch_reads;
using dataflux::equalize_kind;
using dataflux::sampler;
using dataflux::sampler_cost;
using dataflux::sampler_options;
using dataflux::shuffle_kind;
using row_list = std::vector<std::uint64_t>;

/// What a whole epoch costs when each process reads its windows in the order of rows.
class counted_epoch {
 public:
  counted_epoch(const sampler_options& how, const epoch_reads& reads) : how_(how), reads_(reads) {
    for (how_.rank = 0; how_.rank < how_.world_size; ++how_.rank) {
      const auto order = sampler::create(how_).value();
      row_list rows(order.size());
      order.rows(0, rows);
      mixing(rows);
      for (std::uint32_t worker = 0; worker < reads_.workers; ++worker) read(order, rows, worker);
    }
    const auto asked = static_cast<double>(samples_);
    told.requests = static_cast<double>(requests_) / asked;
    told.bytes_read = static_cast<double>(bytes_) / (asked * reads_.sample_bytes);
    told.same_shard = static_cast<double>(same_) / static_cast<double>(pairs_);
    const auto count = static_cast<double>(how_.count);
    told.lag_correlation = 1 - apart_ / static_cast<double>(lags_) * 6 / (count * count - 1);
  }

  sampler_cost told{};

 private:
  void mixing(const row_list& rows) {
    const auto shard = static_cast<std::uint64_t>(reads_.shard_samples);
    for (std::size_t p = 0; p + 1 < rows.size(); ++p) {
      const double d = static_cast<double>(rows[p]) - static_cast<double>(rows[p + 1]);
      apart_ += d * d;
      ++lags_;
    }
    for (std::size_t first = 0; first + reads_.batch <= rows.size(); first += reads_.batch) {
      for (std::size_t a = first; a < first + reads_.batch; ++a) {
        for (std::size_t b = a + 1; b < first + reads_.batch; ++b) {
          same_ += rows[a] / shard == rows[b] / shard ? 1U : 0U;
          ++pairs_;
        }
      }
    }
  }

  void read(const sampler& order, const row_list& rows, std::uint32_t worker) {
    const auto most =
        static_cast<std::size_t>(static_cast<double>(reads_.memory) / reads_.sample_bytes);
    const bool windows =
        how_.shuffle == shuffle_kind::window || how_.shuffle == shuffle_kind::blocks;
    row_list plan;
    std::uint64_t end = 0;
    for (std::uint64_t p = 0; p < rows.size(); ++p) {
      if (p / reads_.batch % reads_.workers != worker) continue;
      if (windows && (p >= end || plan.size() >= most)) ask(plan);
      if (windows && p >= end) end = order.window_end(p);
      plan.push_back(rows[p]);
    }
    if (windows) std::sort(plan.begin(), plan.end());
    ask(plan, windows);
  }

  void ask(row_list& plan, bool sort = true) {
    if (sort) std::sort(plan.begin(), plan.end());
    samples_ += plan.size();
    const auto bytes = static_cast<std::uint64_t>(reads_.sample_bytes);
    const auto shard = static_cast<std::uint64_t>(reads_.shard_samples);
    const auto slice = std::min<std::uint64_t>(8U << 20U, reads_.memory / 8);
    for (std::size_t at = 0; at < plan.size();) {
      std::vector<dataflux::detail::object_piece> pieces;
      const auto of = plan[at] / shard;
      while (at < plan.size() && plan[at] / shard == of && pieces.size() < 256 &&
             (pieces.size() + 1) * bytes <= slice) {
        pieces.push_back({.offset = plan[at++] % shard * bytes, .length = bytes});
      }
      const auto found =
          dataflux::detail::coalesce(pieces, {.gap = reads_.gap, .slice = slice}).value();
      requests_ += found.requests.size();
      for (const auto& request : found.requests) bytes_ += request.length;
    }
    plan.clear();
  }

  sampler_options how_;
  epoch_reads reads_;
  std::uint64_t samples_{0}, requests_{0}, bytes_{0}, same_{0}, pairs_{0}, lags_{0};
  double apart_{0};
};

inline bool near(double told, double counted, double share, double least) {
  return std::abs(told - counted) <= std::max(share * counted, least);
}

TEST_CASE("cost_of: what is told is what real orders cost", "[dataset]") {
  for (const auto kind :
       {shuffle_kind::full, shuffle_kind::window, shuffle_kind::none, shuffle_kind::blocks}) {
    for (const std::uint32_t ranks : {1U, 4U}) {
      for (const std::uint32_t workers : {1U, 2U, 8U}) {
        for (const std::uint64_t window : {16U, 128U}) {
          sampler_options how{.count = 60'000, .seed = 5, .shuffle = kind, .world_size = ranks};
          if (kind == shuffle_kind::window || kind == shuffle_kind::blocks) {
            how.block = 40;
            how.window = window;
          }
          const epoch_reads reads{.workers = workers,
                                  .batch = 16,
                                  .sample_bytes = 100'000,
                                  .shard_samples = 1000,
                                  .memory = 1ULL << 31U,
                                  .gap = 1U << 20U};
          const auto told = cost_of(sampler::create(how).value(), reads).value();
          const auto counted = counted_epoch(how, reads).told;
          INFO("kind " << static_cast<int>(kind) << " ranks " << ranks << " workers " << workers
                       << " window " << window << ": requests " << told.requests << " of "
                       << counted.requests << ", bytes " << told.bytes_read << " of "
                       << counted.bytes_read << ", same shard " << told.same_shard << " of "
                       << counted.same_shard << ", lag " << told.lag_correlation << " of "
                       << counted.lag_correlation);
          CHECK(near(told.requests, counted.requests, 0.2, 0.02));
          CHECK(near(told.bytes_read, counted.bytes_read, 0.25, 0));
          CHECK(counted.bytes_read <= std::min(2.0, 1.1 * told.bytes_read));
          CHECK(near(told.same_shard, counted.same_shard, 0.1, 0.005));
          CHECK(near(told.lag_correlation, counted.lag_correlation, 0.05, 0.08));
        }
      }
    }
  }
}

TEST_CASE("cost_of: little memory, large samples and objects", "[dataset]") {
  const auto order =
      sampler::create(
          {.count = 100'000, .shuffle = shuffle_kind::blocks, .block = 40, .window = 128})
          .value();
  const auto told = [&](const epoch_reads& reads) { return cost_of(order, reads).value(); };
  const epoch_reads roomy{.sample_bytes = 1e5, .shard_samples = 1e3, .memory = 1U << 30U};
  CHECK(told(roomy).requests < 0.05);
  CHECK(told(roomy).bytes_read == 1);
  CHECK(told(roomy).readers == 1);
  auto narrow = roomy;
  narrow.memory = 64U << 20U;
  CHECK(told(narrow).requests > 2 * told(roomy).requests);
  CHECK(told(narrow).held == 64U << 20U);
  auto large = roomy;
  large.sample_bytes = 20e6;
  CHECK(told(large).requests == 3);
  CHECK(told({.sample_bytes = 1e5}).requests == 1);
  CHECK(told({.sample_bytes = 1e5}).same_shard == 0);
}

TEST_CASE("cost_of: no rows, no numbers, and very many", "[dataset]") {
  for (const auto kind :
       {shuffle_kind::full, shuffle_kind::window, shuffle_kind::none, shuffle_kind::blocks}) {
    for (const std::uint64_t count :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 62U}) {
      const auto order =
          sampler::create({.count = count, .shuffle = kind, .world_size = UINT32_MAX}).value();
      for (const std::uint64_t batch : {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX}) {
        const auto told = cost_of(order, {.workers = UINT32_MAX,
                                          .batch = batch,
                                          .sample_bytes = 10,
                                          .shard_samples = 1e12,
                                          .memory = 1,
                                          .gap = UINT64_MAX})
                              .value();
        for (const double number : {told.requests, told.bytes_read, told.readers, told.held,
                                    told.lag_correlation, told.same_shard}) {
          CHECK(std::isfinite(number));
        }
        CHECK(told.bytes_read <= 2);
      }
    }
  }
  const auto order = sampler::create({.count = 1}).value();
  CHECK_FALSE(cost_of(order, {.sample_bytes = -1}));
  CHECK_FALSE(cost_of(order, {.shard_samples = std::numeric_limits<double>::infinity()}));
  CHECK_FALSE(cost_of(order, {.shard_samples = std::numeric_limits<double>::quiet_NaN()}));
}

}  // namespace sampler_cost_test
