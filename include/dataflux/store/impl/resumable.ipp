#pragma once

#include <dataflux/store/detail/validate.hpp>
#include <dataflux/store/resumable.hpp>

#include <algorithm>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline result<void> check_session(const resumable_session& session) {
  if (!session.valid()) {
    return error{errc::invalid_argument, "session: none; resumable_start gives one"};
  }
  if (auto good = validate_bucket_name(session.bucket()); !good) return good;
  return validate_object_name(session.object());
}

inline error too_large(std::uint64_t size) {
  return {errc::invalid_argument,
          "object size in bytes " + std::to_string(size) + ": at most 5497558138880 (5 TiB)"};
}

}  // namespace detail

DATAFLUX_INLINE result<resumable_session> resumable_session::from_url(std::string_view url,
                                                                      std::string_view bucket,
                                                                      std::string_view object) {
  auto parsed = detail::http::parse_url(url);
  if (!parsed) return error{errc::invalid_argument, "the session's URL is malformed"};
  resumable_session session;
  session.facts_ = std::make_shared<const facts>(
      facts{std::make_shared<const detail::http::origin>(std::move(parsed->origin)),
            std::move(parsed->target),
            std::string{bucket},
            std::string{object},
            {}});
  if (auto good = detail::check_session(session); !good) return good.error();
  return session;
}

DATAFLUX_INLINE std::string resumable_session::url() const {
  if (facts_ == nullptr) return {};
  return (facts_->origin->tls ? "https://" : "http://") + facts_->origin->authority() +
         facts_->target;
}

/// What makes the URL a secret; without a part of that name, all of it.
DATAFLUX_INLINE std::string_view resumable_session::id() const noexcept {
  if (facts_ == nullptr) return {};
  constexpr std::string_view key{"upload_id="};
  const std::string_view target = facts_->target;
  const std::size_t at = target.find(key);
  if (at == std::string_view::npos) return target;
  const std::string_view id = target.substr(at + key.size());
  return id.substr(0, id.find('&'));
}

DATAFLUX_INLINE result<void> validate(const resumable_start_request& r) {
  if (r.size.value_or(0) > greatest_object_size) return detail::too_large(*r.size);
  for (const auto& good :
       {validate_bucket_name(r.bucket), detail::validate_object_name(r.object),
        detail::validate_attributes(r.attributes), detail::validate_conditions(r.conditions)}) {
    if (!good) return good;
  }
  return {};
}

DATAFLUX_INLINE result<void> validate(const resumable_chunk_request& r) {
  const std::uint64_t size = r.data.size();
  if (!r.last && (size == 0 || size % resumable_quantum != 0)) {
    return error{errc::invalid_argument,
                 "a chunk of " + std::to_string(size) +
                     " bytes: every one but the last is a multiple of 262144 (256 KiB)"};
  }
  if (!r.last && r.crc32c) {
    return error{errc::invalid_argument, "crc32c: of the whole object, with the last chunk only"};
  }
  if (r.offset > greatest_object_size || size > greatest_object_size - r.offset) {
    return detail::too_large(std::max(r.offset, size));
  }
  return detail::check_session(r.session);
}

DATAFLUX_INLINE result<void> validate(const resumable_status_request& r) {
  return detail::check_session(r.session);
}

DATAFLUX_INLINE result<void> validate(const resumable_cancel_request& r) {
  return detail::check_session(r.session);
}

}  // namespace dataflux::inline DATAFLUX_ABI
