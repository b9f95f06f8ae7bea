#pragma once

#include <dataflux/byte_sink.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::auth::detail {

inline constexpr std::size_t longest_reply = std::size_t{1} << 20;

/// Private: gathers the body of a token endpoint's reply.
class reply_sink final : public byte_sink {
 public:
  result<void> expect(std::uint64_t) override { return {}; }
  bytes_span prepare(std::size_t wanted) override {
    text_.resize(used_ + std::min<std::size_t>(std::max<std::size_t>(wanted, 1), 4096));
    return std::as_writable_bytes(std::span(text_).subspan(used_));
  }
  result<void> commit(std::size_t count) override {
    used_ += count;
    if (used_ <= longest_reply) return {};
    return error{errc::internal, "the reply of the token endpoint is longer than 1 MiB"};
  }
  result<void> rewind(std::uint64_t offset) override {
    used_ = static_cast<std::size_t>(std::min<std::uint64_t>(offset, used_));
    return {};
  }
  std::string take() {
    text_.resize(used_);
    used_ = 0;
    return std::exchange(text_, {});
  }

 private:
  std::string text_{};
  std::size_t used_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::auth::detail
