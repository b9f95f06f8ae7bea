#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>
#include <emulator/s3/access_keys.hpp>
#include <emulator/s3/buckets.hpp>
#include <emulator/s3/key_services.hpp>
#include <emulator/s3/lists.hpp>
#include <emulator/s3/objects.hpp>
#include <emulator/s3/options.hpp>
#include <emulator/s3/signature.hpp>
#include <emulator/s3/uploads.hpp>
#include <emulator/upload_store.hpp>

namespace emulator::s3 {

/// All of S3 on the stores that both services share: who asks is judged first, then whether he may,
/// then what he asks for is done. Thread safe.
class face {
 public:
  face(bucket_store& store, upload_store& open, const options& how);

  /// Never throws service_error: a refusal is a reply, too.
  http_reply answer(const call& asked, const http_request& request);

  access_keys& keys() noexcept { return keys_; }
  /// What ends with it: keys with a session token, and sessions of the metadata service.
  void end_sessions();

 private:
  http_reply carried_out(const call& asked, const http_request& request);
  http_reply dispatch(const call& asked, const http_request& request);
  http_reply dispatch_object(const call& asked, const http_request& request);
  void check_region(const signed_request& who, const call& asked,
                    const http_request& request) const;
  /// Whether the requester pays.
  bool check_rights(const call& asked, const http_request& request) const;

  const options how_;
  bucket_store& store_;
  access_keys keys_{};
  key_services key_services_;
  objects objects_;
  uploads uploads_;
  lists lists_;
  buckets buckets_;
};

}  // namespace emulator::s3
