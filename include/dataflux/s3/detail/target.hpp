#pragma once

#include <dataflux/codec/detail/percent.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/service/detail/query_writer.hpp>
#include <dataflux/store/detail/customer_key.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Writes one target from left to right: the path, which has a key's '/' as they are, and each
/// other byte coded once; then the query.
class target_writer : public service::query_writer<target_writer> {
 public:
  using query_writer::query_writer;

  target_writer& path(std::string_view base, std::string_view key) {
    out_.append(base);
    codec::append_percent_path(out_, key);
    return *this;
  }
};

/// Sets every member of `out`. `key` empty: the request is about the bucket. A request about an
/// object has passed validate(), so that an empty key never comes here as one.
inline target_writer begin(const call_context& context, http::method method,
                           std::string_view bucket, std::string_view key, http::request& out) {
  out.method = method;
  out.target.clear();
  out.target.reserve(256);
  out.headers.clear();
  out.body.clear();
  if (context.requester_pays) out.headers.add("x-amz-request-payer", "requester");
  target_writer target{out};
  // check() has found it before the call began.
  if (const auto place = context.places.find(bucket)) {
    if (out.origin != (*place)->origin) out.origin = (*place)->origin;
    target.path((*place)->base, key);
  }
  return target;
}

/// The customer's key of the object that is read or written (s3-protocol.md 3.9); null = none.
inline void add_key(const held_key* key, http::request& out) {
  if (key == nullptr) return;
  out.headers.add("x-amz-server-side-encryption-customer-algorithm", "AES256");
  out.headers.add("x-amz-server-side-encryption-customer-key", key->base64);
  out.headers.add("x-amz-server-side-encryption-customer-key-MD5", key->md5);
}
/// That of the object that is copied.
inline void add_source_key(const held_key* key, http::request& out) {
  if (key == nullptr) return;
  out.headers.add("x-amz-copy-source-server-side-encryption-customer-algorithm", "AES256");
  out.headers.add("x-amz-copy-source-server-side-encryption-customer-key", key->base64);
  out.headers.add("x-amz-copy-source-server-side-encryption-customer-key-MD5", key->md5);
}

/// Where it would go, and whether a request can carry it.
inline result<void> check_key(const encryption_key& key, const endpoint& where,
                              std::string_view region) {
  if (key.empty()) return {};
  if (key.held()->md5.empty()) {
    return error{errc::failed_precondition,
                 "encryption_key: S3 wants its MD5, and this system's OpenSSL has none"};
  }
  const auto place = where.place_of_all(region);
  return place ? check_key_place(key, *place->origin) : result<void>{place.error()};
}

/// What a copy says of its source.
inline std::string copy_source(std::string_view bucket, std::string_view key) {
  std::string source{"/"};
  source.append(bucket).push_back('/');
  codec::append_percent_path(source, key);
  return source;
}
/// Errors: unimplemented for an access point by its ARN, which says it in another way.
inline result<void> check_copy_source(std::string_view bucket) {
  if (!bucket.starts_with("arn:")) return {};
  return error{errc::unimplemented,
               "copy, compose: name the source's bucket, or the access point's alias, not its ARN"};
}

/// Whether there is a place for requests about the bucket.
inline result<void> check_place(const call_context& context, std::string_view bucket) {
  auto place = context.places.find(bucket);
  if (!place) return std::move(place).error();
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
