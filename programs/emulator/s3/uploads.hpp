#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>
#include <emulator/s3/object_headers.hpp>
#include <emulator/s3/options.hpp>
#include <emulator/upload_store.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace emulator::s3 {

/// S3's multipart uploads. Each throws service_error when it refuses. Thread safe.
class uploads {
 public:
  uploads(bucket_store& store, upload_store& open, const options& how)
      : store_(store), open_(open), how_(how) {}

  http_reply initiate(const call& asked, const http_request& request) const;
  http_reply part(const call& asked, const http_request& request) const;
  http_reply copy_part(const call& asked, const http_request& request) const;
  /// Completing again gives the same answer again, and looks at no condition.
  http_reply complete(const call& asked, const http_request& request);
  http_reply abort(const call& asked) const;
  http_reply list_parts(const call& asked) const;
  http_reply list(const call& asked) const;

 private:
  /// What an upload became, without its bytes, which may be gone since.
  struct completed {
    std::string id{};
    std::string bucket{};
    std::string key{};
    std::string version{};
    std::shared_ptr<const object_facts> facts{};
  };
  static http_reply result_of(const completed& what, const http_request& request);
  upload_store::part checked_part(const upload_store::upload& to, const http_request& request,
                                  content data) const;
  object_ptr store_whole(const upload_store::upload& upload, const call& asked,
                         const http_request& request) const;
  const completed* completed_before(const call& asked, std::string_view id) const;

  bucket_store& store_;
  upload_store& open_;
  const options& how_;
  std::mutex completing_{};            ///< one upload at a time becomes an object
  std::deque<completed> completed_{};  ///< the last ones
};

}  // namespace emulator::s3
