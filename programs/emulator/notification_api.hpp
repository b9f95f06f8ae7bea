#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>

namespace emulator {

/// The JSON API's verbs on a bucket's notifications (protocol.md 1.13), which are kept and shown;
/// nothing is published. Each throws service_error when it refuses.
class notification_api {
 public:
  explicit notification_api(bucket_store& store) : store_(store) {}

  http_reply list(const call& asked, const http_request& request) const;
  http_reply get(const call& asked, const http_request& request) const;
  http_reply insert(const call& asked, const http_request& request) const;
  http_reply remove(const call& asked) const;

 private:
  bucket_store& store_;
};

}  // namespace emulator
