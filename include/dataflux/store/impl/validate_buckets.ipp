#pragma once

#include <dataflux/store/impl/validate.ipp>

#include <algorithm>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {

/// Four pieces of digits only.
inline bool looks_like_ipv4(std::string_view bucket) noexcept {
  return std::count(bucket.begin(), bucket.end(), '.') == 3 &&
         std::all_of(bucket.begin(), bucket.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

inline bool has_good_pieces(std::string_view bucket) noexcept {
  while (true) {
    const std::size_t dot = bucket.find('.');
    const std::string_view piece = bucket.substr(0, dot);
    if (piece.empty() || piece.size() > 63) return false;
    if (dot == std::string_view::npos) return true;
    bucket.remove_prefix(dot + 1);
  }
}

/// What AWS calls a thing by. Which of them stand for a bucket S3's client knows.
inline result<void> check_arn(std::string_view text) {
  constexpr std::size_t longest = 200;
  const bool good = std::all_of(text.begin(), text.end(), [](char c) {
    return is_bucket_character(c) || (c >= 'A' && c <= 'Z') || c == ':' || c == '/';
  });
  if (text.size() <= longest && good) return {};
  return bad_input("bucket's ARN", text, "has at most 200 letters, digits and - _ . : /");
}

inline bool is_permission(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.';
  });
}

}  // namespace detail

DATAFLUX_INLINE result<void> validate_bucket_name(std::string_view bucket) {
  const auto bad = [&](std::string_view rule) {
    return detail::bad_input("bucket name", bucket, rule);
  };
  if (bucket.empty()) return bad("must not be empty");
  if (bucket.starts_with("arn:")) return detail::check_arn(bucket);
  if (bucket.starts_with("gs://")) return bad("is the bare name, without gs://");
  if (bucket.starts_with("s3://")) return bad("is the bare name, without s3://");
  if (!std::all_of(bucket.begin(), bucket.end(), detail::is_bucket_character)) {
    return bad("has only a-z, 0-9, '-', '_' and '.'");
  }
  const bool dotted = bucket.find('.') != std::string_view::npos;
  if (bucket.size() < 3 || bucket.size() > (dotted ? 222U : 63U)) {
    return bad("has 3 to 63 characters, with dots up to 222");
  }
  if (!detail::is_letter_or_digit(bucket.front()) || !detail::is_letter_or_digit(bucket.back())) {
    return bad("begins and ends with a letter or a digit");
  }
  if (!detail::has_good_pieces(bucket)) return bad("has 1 to 63 characters between dots");
  if (detail::looks_like_ipv4(bucket)) return bad("must not be an IP address");
  return {};
}

DATAFLUX_INLINE result<void> validate(const bucket_request& r) {
  return validate_bucket_name(r.bucket);
}

DATAFLUX_INLINE result<void> validate(const storage_layout_request& r) {
  return validate_bucket_name(r.bucket);
}

DATAFLUX_INLINE result<void> validate(const test_permissions_request& r) {
  const bool good = !r.permissions.empty() && r.permissions.size() <= 100 &&
                    std::all_of(r.permissions.begin(), r.permissions.end(), detail::is_permission);
  if (good) return validate_bucket_name(r.bucket);
  return error{errc::invalid_argument,
               "permissions: 1 to 100, each of letters and dots such as storage.objects.get"};
}

DATAFLUX_INLINE result<void> validate(const list_buckets_request& r) {
  return detail::first_error(detail::check_page_size(r.max_results),
                             detail::check_ascii("project", r.project),
                             detail::check_bound("prefix", r.prefix));
}

DATAFLUX_INLINE result<void> validate(const list_all_buckets_request& r) {
  return detail::first_error(detail::check_ascii("project", r.project),
                             detail::check_bound("prefix", r.prefix));
}

}  // namespace dataflux::inline DATAFLUX_ABI
