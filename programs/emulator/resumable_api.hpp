#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>
#include <emulator/session_store.hpp>

namespace emulator {

/// Resumable uploads (protocol.md 1.4), begun by either API. Each verb throws service_error when it
/// refuses.
class resumable_api {
 public:
  resumable_api(bucket_store& store, session_store& sessions)
      : store_(store), sessions_(sessions) {}

  http_reply start(const call& asked, const http_request& request) const;
  /// A chunk or a query of where it stands: 308, or the object when all is there.
  http_reply chunk(const call& asked, const http_request& request) const;
  http_reply cancel(const call& asked) const;
  /// The connection ended in the middle of a chunk, of which `part` had come.
  void broken(const call& asked, const http_request& request, const content& part) const;

 private:
  http_reply finish(const call& asked, const http_request& request,
                    session_store::session whole) const;
  bucket_store& store_;
  session_store& sessions_;
};

}  // namespace emulator
