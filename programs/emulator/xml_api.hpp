#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>
#include <emulator/upload_store.hpp>

#include <cstdint>

namespace emulator {

/// The XML API, path style: plain objects and multipart uploads (protocol.md 2). Each verb throws
/// service_error when it refuses.
class xml_api {
 public:
  /// Every part but the last must have `least_part_size` bytes when an upload is completed.
  xml_api(bucket_store& store, upload_store& uploads, std::uint64_t least_part_size)
      : store_(store), uploads_(uploads), least_part_size_(least_part_size) {}

  http_reply get(const call& asked, const http_request& request, bool head_only) const;
  http_reply put(const call& asked, const http_request& request) const;
  http_reply remove(const call& asked, const http_request& request) const;
  /// A PUT with x-goog-copy-source.
  http_reply copy(const call& asked, const http_request& request) const;
  /// Both versions of it, list-type 1 and 2.
  http_reply list_objects(const call& asked) const;

  http_reply initiate(const call& asked, const http_request& request) const;
  http_reply part(const call& asked, const http_request& request) const;
  http_reply complete(const call& asked, const http_request& request) const;
  http_reply abort(const call& asked) const;
  http_reply list_parts(const call& asked) const;
  http_reply list_uploads(const call& asked) const;

 private:
  bucket_store& store_;
  upload_store& uploads_;
  std::uint64_t least_part_size_;
};

/// What an upload by the XML API says of the object, in its headers.
object_metadata metadata_of_headers(const http_request& request);

/// The parts that a CompleteMultipartUpload document lists, in its order. Throws service_error 400
/// MalformedXML.
std::vector<upload_store::listed_part> parse_complete(std::string_view document);

}  // namespace emulator
