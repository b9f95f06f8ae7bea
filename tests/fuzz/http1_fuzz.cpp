#include <dataflux/http/detail/http1.hpp>

#include <fuzz/http1_fuzz.hpp>
#include <fuzz/require.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

namespace http = dataflux::detail::http;
using http::body_framing;

struct outcome {
  std::string failure{};
  int status{0};
  std::vector<std::pair<std::string, std::string>> fields{};
  std::string body{};
  std::size_t consumed{0};
  body_framing framing{};
  bool complete{false};
  bool keep_alive{false};
  friend bool operator==(const outcome&, const outcome&) = default;
};

/// A connection that delivers its bytes in pieces, in memory that moves and has no byte to spare,
/// so that the address sanitizer sees every step too far.
class connection {
 public:
  connection(dataflux::bytes_view bytes, std::uint32_t seed) : bytes_(bytes), seed_(seed) {}

  outcome run(http::method m) {
    decoder_.start(m);
    while (out_.failure.empty() && !decoder_.complete()) {
      if (arrived_ == bytes_.size()) {
        if (auto end = decoder_.closed(); !end) out_.failure = end.error().to_string();
        break;
      }
      arrived_ += piece();
      if (!have_head_) head();
      while (have_head_ && out_.failure.empty() && out_.consumed < arrived_ && body()) {
      }
    }
    out_.complete = decoder_.complete();
    out_.keep_alive = decoder_.keep_alive();
    check();
    if (!out_.failure.empty()) out_.consumed = 0;  // how far a failing step came may differ
    return std::move(out_);
  }

 private:
  std::uint32_t random() { return seed_ = seed_ * 1664525U + 1013904223U; }
  std::size_t piece() {
    const std::size_t left = bytes_.size() - arrived_;
    if (seed_ == 0) return left;  // all in one
    const std::size_t most = (random() >> 30) == 0 ? 200 : 7;
    return std::min<std::size_t>(left, 1 + (random() >> 16) % most);
  }

  void head() {
    const std::vector<std::byte> received(bytes_.begin(), bytes_.begin() + offset(arrived_));
    const std::string_view text = dataflux::as_text(received);
    const auto consumed = decoder_.parse_head(text);
    if (!consumed) {
      out_.failure = consumed.error().to_string();
      return;
    }
    require(*consumed <= text.size() && *consumed <= http::max_head_size);
    if (*consumed == 0) return;
    out_.consumed = *consumed;
    out_.status = decoder_.head().status();
    out_.framing = decoder_.framing();
    have_head_ = true;
    const auto inside = [&text, &consumed](std::string_view view) {
      return view.data() >= text.data() && view.data() + view.size() <= text.data() + *consumed;
    };
    for (const auto& f : decoder_.head().fields()) {
      require(!f.name.empty() && inside(f.name) && inside(f.value));
      out_.fields.emplace_back(f.name, f.value);
    }
  }

  /// One step; false when no more may be taken.
  bool body() {
    if (decoder_.complete()) return false;
    const std::size_t here = arrived_ - out_.consumed;
    const bool in_place = decoder_.framing() != body_framing::chunked ||
                          (decoder_.remaining() != 0 && seed_ != 0 && (random() >> 31) == 0);
    if (in_place) {
      const bool bounded = decoder_.framing() != body_framing::until_close;
      const auto count =
          bounded ? static_cast<std::size_t>(std::min<std::uint64_t>(here, decoder_.remaining()))
                  : here;
      require(count != 0);
      take(bytes_.subspan(out_.consumed, count));
      decoder_.body_received(count);
      out_.consumed += count;
      return true;
    }
    const std::vector<std::byte> input(bytes_.begin() + offset(out_.consumed),
                                       bytes_.begin() + offset(arrived_));
    const auto step = decoder_.decode_chunked(input);
    if (!step) {
      out_.failure = step.error().to_string();
      return false;
    }
    require(step->consumed != 0 && step->consumed <= input.size());
    require(step->consumed == input.size() || !step->data.empty() || decoder_.complete());
    take(step->data);
    out_.consumed += step->consumed;
    return true;
  }

  void take(dataflux::bytes_view data) { out_.body += dataflux::as_text(data); }

  void check() {
    require(out_.failure.empty() || (!out_.complete && !out_.keep_alive));
    require(out_.failure.empty() == out_.complete);
    if (!have_head_) return;
    const auto length = decoder_.head().content_length();
    if (out_.framing == body_framing::none) require(out_.body.empty());
    if (out_.framing == body_framing::length) {
      require(length.has_value() && out_.body.size() <= *length);
      if (out_.complete) require(out_.body.size() == *length);
    }
    if (out_.framing == body_framing::chunked) require(!length.has_value());
    if (out_.framing == body_framing::until_close) {
      require(!out_.keep_alive && out_.consumed == bytes_.size());
    }
    if (!out_.failure.empty()) require(!decoder_.closed() && !decoder_.parse_head({}));
  }

  static std::ptrdiff_t offset(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }

  dataflux::bytes_view bytes_;
  std::uint32_t seed_;
  std::size_t arrived_{0};
  bool have_head_{false};
  http::reply_decoder decoder_{};
  outcome out_{};
};

}  // namespace

void fuzz_http1(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto flags = static_cast<std::uint32_t>(input[0]);
  const auto m = (flags & 1U) != 0 ? http::method::head : http::method::get;
  const auto bytes = input.subspan(1);
  const outcome whole = connection{bytes, 0}.run(m);
  for (std::uint32_t round = 1; round <= 3; ++round) {
    require(connection{bytes, flags * 2654435761U + round}.run(m) == whole);
  }
}
