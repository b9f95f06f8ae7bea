#pragma once

#include <emulator/access_list.hpp>
#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace emulator {

/// The JSON API's verbs on access control lists and IAM policies (protocol.md 1.11), which are kept
/// and shown. Each throws service_error when it refuses.
class access_api {
 public:
  explicit access_api(bucket_store& store) : store_(store) {}

  http_reply list(const call& asked, const http_request& request, access_of kind) const;
  http_reply get(const call& asked, const http_request& request, access_of kind) const;
  http_reply insert(const call& asked, const http_request& request, access_of kind) const;
  /// Of an entry that is there: PATCH and PUT mean the same, since its role is all there is.
  http_reply change(const call& asked, const http_request& request, access_of kind) const;
  http_reply remove(const call& asked, const http_request& request, access_of kind) const;

  http_reply get_policy(const call& asked) const;
  http_reply set_policy(const call& asked, const http_request& request) const;
  http_reply test_permissions(const call& asked) const;

 private:
  /// A list as it stands, and what its entries are shown with.
  struct held_list {
    access_list list{};
    std::int64_t generation{0};
    std::string etag{};
  };
  held_list read(const call& asked, const http_request& request, access_of kind) const;
  held_list edit(const call& asked, const http_request& request, access_of kind,
                 const std::function<void(access_list&)>& change) const;

  bucket_store& store_;
};

}  // namespace emulator
