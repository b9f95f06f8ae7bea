#pragma once

#include <dataflux/shard/detail/shard_decoder.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::shard {

inline error unread_coding_error(std::string_view name) {
  std::string text{"the shard is compressed by "};
  text.append(name).append(
      ", which dataflux does not read; compress it by gzip or zstd, or store it as plain tar");
  return {errc::unimplemented, std::move(text)};
}

DATAFLUX_INLINE bool shard_decoder::recognise() {
  const std::string_view head = as_text(bytes_view{head_}.first(head_size_));
  for (const coding_mark& mark : coding_marks) {
    if (!agrees(mark, head)) continue;
    if (head.size() < mark.bytes.size()) return false;
    if (mark.coding == shard_coding::unread) failure_ = unread_coding_error(mark.name);
    if (mark.coding == shard_coding::gzip) decoder_.emplace<codec::gzip_decoder>();
    if (mark.coding == shard_coding::zstd) decoder_.emplace<codec::zstd_decoder>();
    coding_ = mark.coding;
    return true;
  }
  coding_ = shard_coding::plain;
  return true;
}

template <class Decoder>
result<decoded_shard> shard_decoder::decode_by(Decoder& decoder, bytes_view input,
                                               bytes_span memory) {
  result<codec::decode_step> step = decoder.decode(input, memory);
  if (!step) return std::move(step).error();
  return decoded_shard{memory.first(step->produced), step->consumed, step->needs_input};
}

DATAFLUX_INLINE result<decoded_shard> shard_decoder::decode_begun(bytes_view input,
                                                                  bytes_span memory) {
  result<decoded_shard> step{decoded_shard{input, input.size(), true}};
  if (auto* const gzip = std::get_if<codec::gzip_decoder>(&decoder_)) {
    step = decode_by(*gzip, input, memory);
  } else if (auto* const zstd = std::get_if<codec::zstd_decoder>(&decoder_)) {
    step = decode_by(*zstd, input, memory);
  }
  if (step) position_ += step->bytes.size();
  return step;
}

DATAFLUX_INLINE result<decoded_shard> shard_decoder::decode(bytes_view input, bytes_span memory) {
  std::size_t taken = 0;
  if (coding_ == shard_coding::unknown && !failure_) {
    bool known = false;
    while (!known && taken < input.size()) {
      head_[head_size_++] = input[taken++];
      known = recognise();
    }
    if (!known) return decoded_shard{{}, taken, true};
    // The head that lies in the input is read there.
    if (head_size_ == taken) taken = head_size_ = 0;
  }
  if (failure_) return *failure_;
  if (head_used_ == head_size_) return decode_begun(input, memory);
  const bytes_view head = bytes_view{head_}.first(head_size_).subspan(head_used_);
  result<decoded_shard> step = decode_begun(head, memory);
  if (!step) return step;
  head_used_ = static_cast<std::uint8_t>(head_used_ + step->consumed);
  return decoded_shard{step->bytes, taken, false};
}

DATAFLUX_INLINE result<void> shard_decoder::finish() const {
  if (failure_) return *failure_;
  if (const auto* const gzip = std::get_if<codec::gzip_decoder>(&decoder_)) return gzip->finish();
  if (const auto* const zstd = std::get_if<codec::zstd_decoder>(&decoder_)) return zstd->finish();
  if (coding_ == shard_coding::plain || head_size_ == 0) return {};
  return error{errc::data_loss, "the shard is truncated: it has " + std::to_string(head_size_) +
                                    " bytes, too few for any format"};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::shard
