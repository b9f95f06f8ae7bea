#pragma once

#include <dataflux/store/impl/validate.ipp>

#include <cstdint>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE result<void> validate(const remove_many_request& r) {
  if (r.objects.empty() || r.objects.size() > 1000) {
    return detail::bad_number("objects", r.objects.size(), "1 to 1000 in one request");
  }
  for (const removal_target& each : r.objects) {
    if (auto good = detail::validate_object_name(each.object); !good) return good;
    if (!detail::has_control(each.etag)) continue;
    return error{errc::invalid_argument, "an etag has a control character: give it as it came"};
  }
  return validate_bucket_name(r.bucket);
}

DATAFLUX_INLINE result<void> validate(const read_batch_request& r) {
  if (r.entries.empty() || r.entries.size() > 1000) {
    return detail::bad_number("entries", r.entries.size(), "1 to 1000 in one request");
  }
  std::uint64_t bytes = 0;
  for (const batched_read& each : r.entries) {
    auto good = detail::first_error(detail::validate_object_name(each.object),
                                    detail::check_generation(each.generation),
                                    detail::check_member_name(each.member));
    if (!good) return good;
    if (each.generation != 0 && (!each.whole || !each.member.empty())) {
      return error{errc::invalid_argument, "generation: of whole objects of a batch only"};
    }
    if (!each.whole && !each.member.empty()) {
      return error{errc::invalid_argument, "member: it is read as a whole"};
    }
    bytes += each.into.size();
  }
  if (bytes > (std::uint64_t{8} << 20U)) {
    return detail::bad_number("bytes of all entries", bytes, "at most 8388608 (8 MiB)");
  }
  return validate_bucket_name(r.bucket);
}

}  // namespace dataflux::inline DATAFLUX_ABI
