#pragma once

#include <dataflux/codec/detail/gzip_decoder.hpp>

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// igzip reads a header and decompresses, but only a header that is kept by its caller may come in
/// several pieces. So the two are done one after the other.
struct gzip_decoder::state {
  inflate_state inflate{};
  isal_gzip_header header{};
};

/// igzip counts in 32 bits, and adds some of its own.
inline constexpr std::size_t most_inflated_at_once = std::size_t{1} << 30;

inline std::string_view igzip_failure(int code) noexcept {
  switch (code) {
    case ISAL_INVALID_WRAPPER:
      return "it is no gzip header";
    case ISAL_UNSUPPORTED_METHOD:
      return "its method is not deflate";
    case ISAL_INCORRECT_CHECKSUM:
      return "its checksum or size is not that of its bytes";
    default:
      return "its deflate stream is malformed";
  }
}

DATAFLUX_INLINE gzip_decoder::gzip_decoder() : state_(std::make_unique<state>()) {
  isal_inflate_init(&state_->inflate);
}
DATAFLUX_INLINE gzip_decoder::gzip_decoder(gzip_decoder&& other) noexcept = default;
DATAFLUX_INLINE gzip_decoder& gzip_decoder::operator=(gzip_decoder&& other) noexcept = default;
DATAFLUX_INLINE gzip_decoder::~gzip_decoder() = default;

DATAFLUX_INLINE void gzip_decoder::fail(std::string_view what) {
  std::string text{"the gzip member that begins at byte "};
  text.append(std::to_string(member_)).append(" is damaged, at or before byte ");
  text.append(std::to_string(position_)).append(" of the compressed file: ").append(what);
  failure_.emplace(errc::data_loss, std::move(text));
}

DATAFLUX_INLINE void gzip_decoder::begin_member(std::byte first) {
  if (first == std::byte{0} && position_ != 0) {
    phase_ = phase::padding;
    return;
  }
  if (first != std::byte{0x1f}) {
    std::string text{position_ == 0 ? "the file does not begin with a gzip member"
                                    : "what follows the last gzip member is none, at byte "};
    if (position_ != 0) text.append(std::to_string(position_)).append(" of the compressed file");
    failure_.emplace(errc::data_loss, std::move(text));
    return;
  }
  member_ = position_;
  isal_inflate_reset(&state_->inflate);
  // The trailer of a member is compared; its header is read here.
  state_->inflate.crc_flag = ISAL_GZIP_NO_HDR_VER;
  isal_gzip_header_init(&state_->header);
  phase_ = phase::header;
}

DATAFLUX_INLINE std::size_t gzip_decoder::take(bytes_view& input, std::size_t count) noexcept {
  input = input.subspan(count);
  position_ += count;
  return count;
}

/// Lends the input to igzip, which takes a pointer to non-const that it only reads.
DATAFLUX_INLINE void gzip_decoder::lend(bytes_view input) noexcept {
  const void* data = input.data();
  state_->inflate.next_in = static_cast<std::uint8_t*>(const_cast<void*>(data));
  state_->inflate.avail_in =
      static_cast<std::uint32_t>(std::min(input.size(), most_inflated_at_once));
}

/// Takes what igzip used. Its pointers hold after a failure, too, when its counts do not.
DATAFLUX_INLINE std::size_t gzip_decoder::take_used(bytes_view& input) noexcept {
  const void* data = input.data();
  const auto used = state_->inflate.next_in - static_cast<const std::uint8_t*>(data);
  return take(input, std::min(input.size(), static_cast<std::size_t>(used)));
}

DATAFLUX_INLINE bool gzip_decoder::read_header(bytes_view& input) {
  if (input.empty()) return false;
  lend(input);
  const int code = isal_read_gzip_header(&state_->inflate, &state_->header);
  take_used(input);
  if (code == ISAL_DECOMP_OK) phase_ = phase::body;
  if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT) fail(igzip_failure(code));
  return true;
}

DATAFLUX_INLINE bool gzip_decoder::read_body(bytes_view& input, bytes_span& output) {
  if (output.empty()) return false;
  inflate_state& inflate = state_->inflate;
  lend(input);
  void* memory = output.data();
  auto* const begin = static_cast<std::uint8_t*>(memory);
  inflate.next_out = begin;
  inflate.avail_out = static_cast<std::uint32_t>(std::min(output.size(), most_inflated_at_once));
  const int code = isal_inflate(&inflate);
  const std::size_t used = take_used(input);
  // Of its output in a call that fails, the end may be what was in that memory before.
  if (code != ISAL_DECOMP_OK) return fail(igzip_failure(code)), false;
  const auto made = static_cast<std::size_t>(inflate.next_out - begin);
  output = output.subspan(made);
  if (inflate.block_state == ISAL_BLOCK_FINISH) return phase_ = phase::between, true;
  if (used != 0 || made != 0) return true;
  if (!input.empty()) fail("it does not go on");
  return false;
}

DATAFLUX_INLINE bool gzip_decoder::advance(bytes_view& input, bytes_span& output) {
  switch (phase_) {
    case phase::between:
      if (input.empty()) return false;
      return begin_member(input.front()), true;
    case phase::header:
      return read_header(input);
    case phase::body:
      return read_body(input, output);
    case phase::padding:
      break;
  }
  const auto data = std::find_if(input.begin(), input.end(),
                                 [](std::byte value) { return value != std::byte{0}; });
  const bool padded = data == input.end();
  take(input, static_cast<std::size_t>(data - input.begin()));
  if (!padded) begin_member(std::byte{0xff});
  return false;
}

DATAFLUX_INLINE result<decode_step> gzip_decoder::decode(bytes_view input, bytes_span output) {
  decode_step step{input.size(), output.size(), false};
  while (!failure_ && advance(input, output)) {
  }
  step.consumed -= input.size();
  step.produced -= output.size();
  // What came before the damage is handed over first.
  if (failure_ && step.produced == 0) return *failure_;
  step.needs_input = !failure_ && input.empty() && (phase_ != phase::body || !output.empty());
  return step;
}

DATAFLUX_INLINE result<void> gzip_decoder::finish() const {
  if (failure_) return *failure_;
  if (position_ != 0 && (phase_ == phase::between || phase_ == phase::padding)) return {};
  std::string text{"the compressed file is truncated: it ends at byte "};
  text.append(std::to_string(position_));
  text.append(", within the gzip member that begins at byte ").append(std::to_string(member_));
  return error{errc::data_loss, std::move(text)};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
