#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>

namespace emulator {

/// The JSON API's verbs on buckets (protocol.md 1.8). Each throws service_error when it refuses.
class bucket_api {
 public:
  explicit bucket_api(bucket_store& store) : store_(store) {}

  http_reply get(const call& asked, const http_request& request) const;
  http_reply list(const call& asked, const http_request& request) const;
  http_reply insert(const call& asked, const http_request& request) const;
  http_reply remove(const call& asked, const http_request& request) const;
  /// `whole`: PUT, which takes away what it does not say.
  http_reply patch(const call& asked, const http_request& request, bool whole) const;
  http_reply lock_retention(const call& asked, const http_request& request) const;
  http_reply layout(const call& asked) const;

 private:
  bucket_store& store_;
};

}  // namespace emulator
