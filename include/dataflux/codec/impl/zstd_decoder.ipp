#pragma once

#include <dataflux/codec/detail/zstd_decoder.hpp>

#if defined(DATAFLUX_ZSTD)
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::codec {

/// True if the first bytes of a frame, as many as there are, are those of a magic number: zstd's,
/// or one of the sixteen of skippable frames. libzstd may read formats of before 2016 besides.
constexpr bool is_zstd_magic(std::uint32_t magic, unsigned size) noexcept {
  const std::uint32_t known = size >= 4 ? ~0U : (1U << (8 * size)) - 1;
  return ((magic ^ 0xFD2FB528U) & known) == 0 || ((magic ^ 0x184D2A50U) & known & ~0xFU) == 0;
}

DATAFLUX_INLINE void zstd_decoder::fail(error why) {
  std::string text{"the zstd frame that begins at byte "};
  text.append(std::to_string(frame_)).append(" cannot be read on at byte ");
  text.append(std::to_string(position_)).append(" of the compressed file: ").append(why.message());
  failure_ = std::move(why.with_message(std::move(text)));
}

/// Looks at the bytes of the magic number that libzstd is going to consume. False if one is wrong.
DATAFLUX_INLINE bool zstd_decoder::check_magic(bytes_view input) {
  for (; magic_size_ < 4 && !input.empty(); input = input.subspan(1)) {
    magic_ |= static_cast<std::uint32_t>(input.front()) << (8 * magic_size_++);
    if (is_zstd_magic(magic_, magic_size_)) continue;
    std::string text{"what is at byte "};
    text.append(std::to_string(frame_)).append(" of the compressed file is no zstd frame");
    failure_.emplace(errc::data_loss, std::move(text));
    return false;
  }
  return true;
}

#if defined(DATAFLUX_ZSTD)

inline std::unique_ptr<void, void (*)(void*) noexcept> make_zstd_context() {
  constexpr int most_window_log = 27;
  static_assert(zstd_decoder::most_window == std::size_t{1} << most_window_log);
  ZSTD_DCtx* const made = ZSTD_createDCtx();
  if (made == nullptr) throw std::bad_alloc();
  ZSTD_DCtx_setParameter(made, ZSTD_d_windowLogMax, most_window_log);
  return {made, [](void* old) noexcept { ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(old)); }};
}

inline error zstd_failure(std::size_t code) {
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
      throw std::bad_alloc();
    case ZSTD_error_frameParameter_windowTooLarge:
      return {errc::unimplemented,
              "it needs a window above 128 MiB; compress the file without --long=28 or more"};
    case ZSTD_error_dictionary_wrong:
      return {errc::unimplemented, "it needs a dictionary; compress the file without one"};
    default:
      return {errc::data_loss, ZSTD_getErrorName(code)};
  }
}

DATAFLUX_INLINE bool zstd_decoder::advance(bytes_view& input, bytes_span& output) {
  if (output.empty() || (input.empty() && magic_size_ < 4) || !check_magic(input)) return false;
  if (context_ == nullptr) context_ = make_zstd_context();
  ZSTD_inBuffer in{input.data(), input.size(), 0};
  ZSTD_outBuffer out{output.data(), output.size(), 0};
  const std::size_t left =
      ZSTD_decompressStream(static_cast<ZSTD_DCtx*>(context_.get()), &out, &in);
  input = input.subspan(in.pos);
  output = output.subspan(out.pos);
  position_ += in.pos;
  if (ZSTD_isError(left) != 0) return fail(zstd_failure(left)), false;
  if (left == 0) {
    magic_ = magic_size_ = 0;
    frame_ = position_;
  }
  return in.pos != 0 || out.pos != 0;
}

#else

DATAFLUX_INLINE bool zstd_decoder::advance(bytes_view& input, bytes_span&) {
  if (input.empty() || !check_magic(input)) return false;
  failure_.emplace(
      errc::unimplemented,
      "the file is compressed by zstd, and dataflux was built without libzstd; install "
      "that (Debian's libzstd-dev) and build dataflux with DATAFLUX_ZSTD=ON, or "
      "compress the file by gzip or not at all");
  return false;
}

#endif

DATAFLUX_INLINE result<decode_step> zstd_decoder::decode(bytes_view input, bytes_span output) {
  decode_step step{input.size(), output.size(), false};
  while (!failure_ && advance(input, output)) {
  }
  step.consumed -= input.size();
  step.produced -= output.size();
  // What came before the damage is handed over first.
  if (failure_ && step.produced == 0) return *failure_;
  step.needs_input = !failure_ && input.empty() && (magic_size_ == 0 || !output.empty());
  return step;
}

DATAFLUX_INLINE result<void> zstd_decoder::finish() const {
  if (failure_) return *failure_;
  if (position_ != 0 && magic_size_ == 0) return {};
  std::string text{"the compressed file is truncated: it ends at byte "};
  text.append(std::to_string(position_));
  text.append(", within the zstd frame that begins at byte ").append(std::to_string(frame_));
  return error{errc::data_loss, std::move(text)};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::codec
