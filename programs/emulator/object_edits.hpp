#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace emulator {

/// The JSON API's verbs that make objects of objects: patch, update, compose, rewrite, copy, move
/// (protocol.md 1.5 to 1.7), and restore. Each throws service_error when it refuses. Thread safe.
class object_edits {
 public:
  /// A rewrite call takes `rewrite_step` bytes, then gives a token; 0: all in one call.
  object_edits(bucket_store& store, std::uint64_t rewrite_step)
      : store_(store), rewrite_step_(rewrite_step) {}

  /// Merges, or with `whole` (update) replaces all that a writer may say.
  http_reply patch(const call& asked, const http_request& request, bool whole) const;
  http_reply compose(const call& asked, const http_request& request) const;
  http_reply copy(const call& asked, const http_request& request) const;
  http_reply rewrite(const call& asked, const http_request& request);
  http_reply move(const call& asked, const http_request& request) const;
  http_reply restore(const call& asked, const http_request& request) const;

 private:
  /// A rewrite that has begun. The source is held, so that it is one generation that is copied.
  struct rewriting {
    object_ptr source;
    std::string to;  ///< bucket and name, which later calls must repeat
    std::uint64_t done{0};
  };
  object_ptr store_copy(const call& asked, const http_request& request,
                        const stored_object& source) const;
  std::uint64_t step_of(const call& asked) const;

  bucket_store& store_;
  std::uint64_t rewrite_step_;
  std::mutex mutex_{};
  std::map<std::string, rewriting, std::less<>> rewrites_{};
  std::uint64_t next_{1};
};

}  // namespace emulator
