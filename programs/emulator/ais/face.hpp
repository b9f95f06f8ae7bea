#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>
#include <emulator/s3/face.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace emulator::ais {

/// An AIStore of one gateway and one target, both at the same address: object calls are redirected
/// once, and what comes back with the redirect's marks is carried out. Signatures, conditions and
/// S3's checksums count for nothing, as there. Thread safe.
class face {
 public:
  face(bucket_store& store, s3::face& inner, std::string token)
      : store_(store), inner_(inner), token_(std::move(token)) {}

  /// Where the gateway sends the call; empty optional: it is for the target, or of no object.
  std::optional<http_reply> redirect(const call& asked, const http_request& request);
  /// Never throws service_error.
  http_reply answer(const call& asked, const http_request& request);

 private:
  http_reply native(const call& asked, const http_request& request);
  http_reply in_s3_form(const call& asked, const http_request& request);
  http_reply get(const call& asked, const http_request& request, bool head);
  /// Counts the version that was stored, whose digest is known.
  void remember(const stored_object& stored, const std::string& digest);
  http_reply put(const call& asked, const http_request& request);
  http_reply remove(const call& asked);
  http_reply list(const call& asked, const http_request& request);
  /// Tells the checksum and the version of an object.
  void describe(http_reply& reply, const stored_object& object);
  std::string digest_of(const stored_object& object);
  std::string version_of(const stored_object& object);
  object_ptr found(const call& asked) const;

  bucket_store& store_;
  s3::face& inner_;
  const std::string token_;
  std::mutex mutex_{};
  std::map<std::string, std::int64_t> versions_{};  ///< of names, counted
  std::map<std::int64_t, std::string> digests_{};   ///< of generations
  std::atomic<std::uint64_t> stamp_{1};
};

}  // namespace emulator::ais
