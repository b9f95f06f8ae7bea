#pragma once

#include <emulator/bucket_store.hpp>
#include <emulator/message.hpp>
#include <emulator/route.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace emulator {

/// Long-running operations: bulk restore (protocol.md 1.7). Each throws service_error when it
/// refuses. Thread safe.
class operations {
 public:
  explicit operations(bucket_store& store) : store_(store) {}

  /// Begins one, which has done nothing yet.
  http_reply bulk_restore(const call& asked, const http_request& request);
  /// How it stands. The first question finds it under way, and carries it out.
  http_reply get(const call& asked);

 private:
  struct operation {
    std::string bucket;
    json_value asked;
    stored_object::time_point begun{};
    stored_object::time_point ended{};
    bool looked_at{false};
    bool done{false};
    std::int64_t succeeded{0};
    std::int64_t skipped{0};
    std::int64_t failed{0};
  };
  void carry_out(operation& what);
  bool wanted(const operation& what, const stored_object& object) const;
  http_reply reply(const call& asked, const std::string& id, const operation& what) const;

  bucket_store& store_;
  std::mutex mutex_{};
  std::map<std::string, operation, std::less<>> all_{};
  std::uint64_t next_{1};
};

}  // namespace emulator
