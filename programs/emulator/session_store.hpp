#pragma once

#include <emulator/preconditions.hpp>
#include <emulator/stored_object.hpp>
#include <emulator/upload_body.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace emulator {

/// Chunks but the last are multiples of this, and only multiples of it are kept of a chunk that
/// broke off (protocol.md 1.4).
inline constexpr std::uint64_t chunk_granule = 262'144;

/// What a Content-Range of an upload says; no header is the whole object from 0.
struct upload_range {
  std::uint64_t first{0};
  std::optional<std::uint64_t> last{};   ///< absent: to the end of the body
  std::optional<std::uint64_t> total{};  ///< absent: unknown as yet
  bool query{false};                     ///< "bytes */...": no data
  bool whole{false};                     ///< there was no header

  /// Throws service_error 400 on a malformed one.
  static upload_range parse(std::string_view header);
};

/// The resumable uploads of both APIs. Thread safe.
class session_store {
 public:
  /// One upload from its start. `data` is what has persisted.
  struct session {
    std::string bucket{};
    std::string name{};
    object_metadata metadata{};
    declared_digests declared{};
    preconditions when{};
    std::optional<std::uint64_t> announced{};  ///< X-Upload-Content-Length
    bool xml{false};
    std::string customer_key{};  ///< that each chunk must bring, see stored_object
    content data{};
    object_ptr object{};  ///< set when it is complete
  };
  /// Where an upload stands after a request.
  struct progress {
    std::uint64_t persisted{0};
    std::optional<session> due{};  ///< all bytes are here: to be stored, then finish()ed
    object_ptr object{};           ///< it was complete already
  };

  std::string start(session fresh);
  /// See session; empty for an unknown id, which take() refuses.
  std::string customer_key(std::string_view id) const;
  /// How many bytes of it have persisted; 0 for an unknown id.
  std::uint64_t persisted(std::string_view id) const;
  /// Takes what is new of a chunk, at most `keep` bytes of it when that is given. All throw 404 on
  /// an unknown id, 410 after expire(), 499 after cancel(); this also 400 on a chunk off the
  /// granularity or against an announced length, and 503 on a gap.
  progress take(std::string_view id, const upload_range& range, const content& body,
                std::optional<std::uint64_t> keep);
  /// Keeps the whole granules of a chunk whose sender left in the middle.
  void take_broken(std::string_view id, const upload_range& range, const content& part);
  void finish(std::string_view id, object_ptr object);
  /// Forgets all bytes: after a refused completion nothing can be resumed.
  void drop(std::string_view id);
  /// False when it was complete already.
  bool cancel(std::string_view id);
  /// Ends all open ones as the service does after a week: later use answers 410.
  void expire_all();
  std::size_t open() const;

 private:
  enum class ending { none, cancelled, expired, dropped };
  struct entry {
    session held;
    ending end{ending::none};
  };
  entry& find(std::string_view id);
  static void append(session& to, const upload_range& range, const content& body);

  mutable std::mutex mutex_{};
  std::map<std::string, entry, std::less<>> sessions_{};
  std::uint64_t next_{1};
};

}  // namespace emulator
