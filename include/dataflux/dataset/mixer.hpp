#pragma once

#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Several sources of samples as one, by weights: which source each draw is from.
///
///     auto mix = mixer::create({.sizes = {1'000'000, 20'000}, .stages = {{.parts = {9, 1}}},
///                               .ended = source_end::restart}).value();
///     std::vector<mix_draw> some(256);
///     mix.draws(0, 1, some);  // 230 or 231 of them are of source 0
namespace dataflux::inline DATAFLUX_ABI {

/// What happens when a source has given all of its samples. The numbers are part of the C
/// interface.
enum class source_end : std::uint8_t {
  /// The mix ends before the first draw that has no sample.
  stop = 0,
  /// The source begins again, in its own next epoch, and the mix has no end.
  restart = 1,
  /// The others go on without it, by their weights, until none is left.
  drop = 2,
};

/// Weights from a draw on.
struct mix_stage {
  std::uint64_t from{0};
  /// One of each source, as whole parts of their sum, which is at most 65,536. 0: it rests.
  std::vector<std::uint32_t> parts{};

  bool operator==(const mix_stage&) const = default;
};

struct mixer_options {
  /// Samples of each source: of one epoch, where it begins again. At most 256 sources.
  std::vector<std::uint64_t> sizes{};
  /// By ascending `from`.
  std::vector<mix_stage> stages{};
  source_end ended{source_end::stop};
  /// What each source had given before the first stage, for a job that goes on with other weights.
  /// Empty = nothing.
  std::vector<std::uint64_t> counts{};

  bool operator==(const mixer_options&) const = default;
};

/// One draw.
struct mix_draw {
  /// Which sample of the source, from 0 and through all of its epochs.
  std::uint64_t number{0};
  std::uint32_t source{0};

  bool operator==(const mix_draw&) const = default;
};

/// A mix as a pure function of its options: any draw is found at once. Ranks take turns in it, as
/// in the order of a sampler.
///
/// Counts: of a stretch, which is a stage, or what is left of one once a source was dropped. After
/// n draws of it a source of p among P parts has given n * p / P samples, rounded down or up. So
/// the error is below 1 after any n, and each stretch adds less than 1 to it. The method is
/// Balinski and Young's quota method, which has that property: of the sources that may have one
/// more by their quota, the one with the largest p / (count + 1) is next.
///
/// State: the draw and one count of each source. mixer_options::counts and mix_stage::from begin
/// there.
///
/// Errors: only create() fails. Threads: const, from any thread.
///
/// Cost: under 5 ns a draw. create() takes P steps a source for each stretch. Memory: 4 bytes a
/// part for each stretch.
class mixer {
 public:
  /// Errors (invalid_argument): no source, or over 256; stages that are missing, not ascending, of
  /// another number of sources, or without a part; over 65,536 parts; counts of another number of
  /// sources; sizes over 2^62; with source_end::restart an empty source.
  static result<mixer> create(mixer_options options);

  const mixer_options& options() const noexcept { return options_; }
  /// The draw that ends the mix; UINT64_MAX: none.
  std::uint64_t end() const noexcept { return end_; }
  /// Fills in the draws first, first + step, ..., up to the end, and returns their number. `first`
  /// is not before the first stage.
  std::size_t draws(std::uint64_t first, std::uint64_t step,
                    std::span<mix_draw> into) const noexcept;
  /// What each source has given once the draws before `draw` are over.
  std::vector<std::uint64_t> counts(std::uint64_t draw) const;

 private:
  /// One of the sources' turns in a period.
  struct turn {
    std::uint16_t source{0};
    std::uint16_t number{0};
  };
  struct stretch {
    std::uint64_t from{0};
    std::vector<std::uint32_t> parts{};
    std::vector<turn> turns{};
    std::vector<std::uint64_t> counts{};  // before it
  };

  explicit mixer(mixer_options options) : options_(std::move(options)) {}
  void begin_stretch(std::uint64_t from, std::vector<std::uint32_t> parts,
                     std::vector<std::uint64_t> counts);
  std::uint64_t give_up_to(std::uint64_t limit);
  std::uint64_t draw_of(const stretch& in, std::size_t source, std::uint64_t number) const noexcept;
  const stretch& stretch_of(std::uint64_t draw) const noexcept;

  mixer_options options_;
  std::vector<stretch> stretches_{};
  std::uint64_t end_{UINT64_MAX};
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/dataset/impl/mixer.ipp>
#endif
