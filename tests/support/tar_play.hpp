#pragma once

#include <dataflux/shard/detail/tar_reader.hpp>

#include <fuzz/require.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Plays a tar_reader over bytes that come in pieces, and notes what it gives.
namespace dataflux::test {

struct played_member {
  std::string name{};
  detail::shard::tar_type type{};
  std::uint64_t begin{0};
  std::uint64_t data{0};
  std::uint64_t size{0};
  std::string content{};
  bool complete{false};
  bool operator==(const played_member&) const = default;
};

struct tar_outcome {
  std::vector<played_member> members{};
  errc code{errc::ok};
  std::string failure{};
  shard_counts counts{};
  std::size_t most_memory{0};
  std::uint64_t given{0};  ///< bytes that were not skipped
};

/// How the bytes come.
struct tar_cuts {
  std::uint32_t seed{0};   ///< of the sizes of pieces; 0: all in one piece
  std::size_t most{1024};  ///< bytes of a piece
  bool skip{false};        ///< whatever may be skipped
};

/// Each piece lies in memory of exactly its size, so that the address sanitizer sees a step too
/// far.
class tar_player {
 public:
  tar_player(std::string_view bytes, const shard_rules& rules, tar_cuts cuts,
             std::uint64_t begin = 0)
      : bytes_(bytes), cuts_(cuts), random_(cuts.seed), begin_(begin), reader_(rules, begin) {}

  tar_outcome run() {
    bool good = true;
    while (good && at_ < bytes_.size()) {
      if (cuts_.skip && skip()) continue;
      good = give(bytes_.substr(at_, piece()));
    }
    if (good && give({})) end();
    out_.counts = reader_.counts();
    return std::move(out_);
  }

 private:
  std::size_t piece() {
    const std::size_t left = bytes_.size() - at_;
    if (cuts_.seed == 0) return left;
    random_ = random_ * 1664525U + 1013904223U;
    return std::min<std::size_t>(left, 1 + (random_ >> 8U) % cuts_.most);
  }

  bool skip() {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(reader_.skippable(), bytes_.size() - at_));
    reader_.skip(count);
    at_ += count;
    return count != 0;
  }

  /// Gives a piece until it is consumed, or until something else may be skipped.
  bool give(std::string_view text) {
    const std::vector<std::byte> piece(as_bytes(text).begin(), as_bytes(text).end());
    for (bytes_view input{piece};;) {
      const auto step = reader_.next(input);
      out_.most_memory = std::max(out_.most_memory, reader_.memory());
      if (!step) return fail(step.error());
      require(step->consumed <= input.size());
      require(step->consumed != 0 || input.empty() || step->event == event::file_end);
      take(*step, input);
      at_ += step->consumed;
      out_.given += step->consumed;
      require(reader_.offset() == begin_ + at_);
      input = input.subspan(step->consumed);
      if (step->event == event::more) {
        require(input.empty());
        return true;
      }
      if (cuts_.skip && reader_.skippable() != 0) return true;
    }
  }

  void take(const detail::shard::tar_step& step, bytes_view input) {
    require((step.event == event::data) == !step.data.empty());
    if (step.event == event::file || step.event == event::left_out) {
      const auto& m = reader_.member();
      out_.members.push_back({std::string{m.name}, m.type, m.begin, m.data, m.size, {}, false});
    } else if (step.event == event::data) {
      require(step.data.data() >= input.data());
      require(step.data.data() + step.data.size() == input.data() + step.consumed);
      out_.members.back().content += as_text(step.data);
    } else if (step.event == event::file_end) {
      out_.members.back().complete = true;
      require(reader_.member().name == out_.members.back().name);
    }
  }

  void end() {
    const auto ended = reader_.closed();
    if (!ended) fail(ended.error());
  }

  bool fail(const error& why) {
    out_.code = why.code();
    out_.failure = why.message();
    require(reader_.next({}).error().message() == why.message());
    require(reader_.closed().error().message() == why.message());
    return false;
  }

  using event = detail::shard::tar_event;
  std::string_view bytes_;
  tar_cuts cuts_;
  std::uint32_t random_;
  std::size_t at_{0};
  std::uint64_t begin_;
  detail::shard::tar_reader reader_;
  tar_outcome out_{};
};

inline tar_outcome play_tar(std::string_view bytes, const shard_rules& rules = {},
                            tar_cuts cuts = {}) {
  return tar_player{bytes, rules, cuts}.run();
}

/// All that most readers do in silence.
inline constexpr shard_rules lenient_rules{concatenated_rule::read, trailing_rule::ignore,
                                           damaged_rule::end};

}  // namespace dataflux::test
