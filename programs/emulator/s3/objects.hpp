#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>
#include <emulator/s3/object_headers.hpp>
#include <emulator/s3/options.hpp>

#include <cstdint>

namespace emulator::s3 {

/// S3's verbs on objects. Each throws service_error when it refuses. Thread safe.
class objects {
 public:
  objects(bucket_store& store, const options& how) : store_(store), how_(how) {}

  /// GET and HEAD.
  http_reply get(const call& asked, const http_request& request, bool head) const;
  http_reply put(const call& asked, const http_request& request) const;
  http_reply remove(const call& asked, const http_request& request) const;
  http_reply remove_many(const call& asked, const http_request& request) const;
  http_reply copy(const call& asked, const http_request& request) const;
  http_reply get_tags(const call& asked) const;
  /// PUT and DELETE.
  http_reply set_tags(const call& asked, const http_request& request) const;
  http_reply restore(const call& asked, const http_request& request) const;

 private:
  void remove_one(const call& asked, const http_request& request, std::string_view version,
                  const preconditions& when, object_ptr& marker, object_ptr& gone) const;

  bucket_store& store_;
  const options& how_;
};

/// Of a PUT and of a copy.
constexpr std::uint64_t most_in_one_piece = std::uint64_t{5} << 30U;

/// Tells the version of what was stored, where it has one of its own.
inline void tell_version(http_reply& reply, const stored_object& stored) {
  if (is_versioned(stored)) reply.set("x-amz-version-id", version_id_of(stored));
}

/// The version that is meant, empty for the current one. Throws NoSuchKey, NoSuchVersion and, for a
/// marker, what says so.
object_ptr found_object(const bucket_store& store, std::string_view bucket, std::string_view key,
                        std::string_view version);

/// The source of a copy: found, readable, and as the conditions on it want it.
object_ptr source_of_copy(const bucket_store& store, const call& asked,
                          const http_request& request);

/// If-Match and If-None-Match of a write, where they are honoured. Throws 501 for what writes lack.
preconditions write_conditions(const call& asked, const http_request& request);
/// Computes the ETag of what is there before the store is locked.
void prepare_etag(const bucket_store& store, std::string_view bucket, std::string_view key,
                  const preconditions& when);

/// The ETag of bytes that are stored in one piece.
std::string etag_of_bytes(const content& data, const encryption& how, const options& with);

}  // namespace emulator::s3
