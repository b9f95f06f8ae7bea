#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/s3/detail/checksum_fields.hpp>
#include <dataflux/service/detail/text.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

inline constexpr std::string_view checksum_field_start{"x-amz-checksum-"};

DATAFLUX_INLINE void checksum_reader::take(std::string_view algorithm,
                                           std::string_view text) noexcept {
  const auto is = [algorithm](std::string_view name) {
    return http::equals_ignoring_case(algorithm, name);
  };
  std::string_view* const slot = is("CRC32C")      ? &crc32c_
                                 : is("CRC64NVME") ? &crc64nvme_
                                 : is("CRC32")     ? &crc32_
                                                   : nullptr;
  if (slot == nullptr || text.empty()) return;
  if (text.find('-') != std::string_view::npos) {
    composite_ = true;
    return;
  }
  contradicts_ = contradicts_ || (!slot->empty() && *slot != text);
  *slot = text;
}

DATAFLUX_INLINE void checksum_reader::type(std::string_view text) noexcept {
  if (!text.empty() && !http::equals_ignoring_case(text, "FULL_OBJECT")) composite_ = true;
}

DATAFLUX_INLINE result<told_checksums> checksum_reader::finish() const {
  told_checksums told{.composite = composite_};
  if (composite_) return told;
  const auto malformed = [] {
    return error{errc::internal,
                 "the reply has a checksum that is malformed or contradicts another one"};
  };
  if (contradicts_) return malformed();
  if (!crc32c_.empty()) {
    told.crc32c = decode_crc32c(crc32c_);
    if (!told.crc32c) return malformed();
  }
  const bool best = !crc64nvme_.empty();
  const std::string_view text = best ? crc64nvme_ : crc32_;
  if (text.empty()) return told;
  told.other = codec::decode_checksum(
      best ? codec::checksum_kind::crc64nvme : codec::checksum_kind::crc32, text);
  if (!told.other) return malformed();
  return told;
}

DATAFLUX_INLINE bool take_checksum_field(const http::reply_head::field& field,
                                         checksum_reader& into) noexcept {
  if (field.name.size() <= checksum_field_start.size()) return false;
  if (!service::starts_with_ignoring_case(field.name, checksum_field_start)) return false;
  const std::string_view name = field.name.substr(checksum_field_start.size());
  http::equals_ignoring_case(name, "type") ? into.type(field.value) : into.take(name, field.value);
  return true;
}

DATAFLUX_INLINE result<told_checksums> checksums_of(const http::reply_head& head) {
  checksum_reader reader;
  if (head.status() != 200) return reader.finish();
  for (const auto& field : head.fields()) take_checksum_field(field, reader);
  return reader.finish();
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
