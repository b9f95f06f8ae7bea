#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>

#include <string>

namespace emulator {

/// The JSON API's verbs. Each throws service_error when it refuses.
class json_api {
 public:
  explicit json_api(bucket_store& store) : store_(store) {}

  http_reply list(const call& asked, const http_request& request) const;
  http_reply get(const call& asked, const http_request& request) const;
  http_reply media(const call& asked, const http_request& request) const;
  http_reply insert(const call& asked, const http_request& request) const;
  http_reply remove(const call& asked, const http_request& request) const;

 private:
  bucket_store& store_;
};

/// The object name that a multipart insert gives only in its metadata part, or that the document
/// which begins a resumable upload gives; empty when none.
std::string name_in_body(const call& asked, const http_request& request);

}  // namespace emulator
