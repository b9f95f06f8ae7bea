#pragma once

#include <dataflux/store/detail/validate.hpp>
#include <dataflux/store/impl/validate.ipp>
#include <dataflux/store/restore_request.hpp>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

inline result<void> check_globs(const std::vector<std::string>& globs) {
  if (globs.size() > 1'000) {
    return error(errc::invalid_argument, "match_globs: at most 1,000 patterns");
  }
  for (const std::string& glob : globs) {
    if (glob.empty()) return error(errc::invalid_argument, "match_globs: a pattern is empty");
    if (auto good = check_bound("match_globs", glob); !good) return good;
  }
  return {};
}

inline result<void> check_span(std::string_view what, const std::optional<timestamp>& after,
                               const std::optional<timestamp>& before) {
  if (!after || !before || *after < *before) return {};
  return error(errc::invalid_argument,
               std::string(what) + "_after is not before " + std::string(what) + "_before");
}

}  // namespace detail

DATAFLUX_INLINE result<void> validate(const bulk_restore_request& r) {
  return detail::first_error(validate_bucket_name(r.bucket), detail::check_globs(r.match_globs),
                             detail::check_span("deleted", r.deleted_after, r.deleted_before),
                             detail::check_span("created", r.created_after, r.created_before));
}

}  // namespace dataflux::inline DATAFLUX_ABI
