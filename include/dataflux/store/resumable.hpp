#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// Resumable uploads (protocol.md 1.4): one stream of bytes, whose end need not be known at its
/// start. An upload that is never finished leaves no object, costs nothing and goes away within a
/// week. Unlike a multipart upload it takes preconditions, which hold when it ends. In exchange it
/// has one connection's speed. A store without them (memory_store) answers unimplemented.
///
///     auto session = client->run(resumable_start_request{.bucket = "b", .object = "o"});
///     for (;;) {  // chunks of whole quanta, the last one of any size
///       auto at = client->run(resumable_chunk_request{
///           .session = *session, .offset = sent, .data = chunk, .last = end});
///       ...
///     }
namespace dataflux::inline DATAFLUX_ABI {

namespace detail::gcs {
struct resumable_start_verb;
struct resumable_chunk_verb;
struct resumable_status_verb;
struct resumable_cancel_verb;
}  // namespace detail::gcs

/// In bytes (protocol.md 2).
inline constexpr std::uint64_t greatest_object_size = 5ULL << 40U;

/// Every chunk but the last is a multiple of it.
inline constexpr std::size_t resumable_quantum = std::size_t{256} << 10U;

/// An upload under way. url() is a secret: with it anybody can write the object, without other
/// credentials. The library itself writes it nowhere: not into errors, logs or events.
///
/// Errors: from_url() says its own.
///
/// Lifetime: a session outlives client and process; the service ends it within a week.
///
/// Threads: const members from any thread.
///
/// Cost: a value of one pointer; copies are the same session.
class resumable_session {
 public:
  resumable_session() noexcept = default;  ///< no session: valid() is false
  /// Takes up the upload of an earlier process. Errors: invalid_argument, without the URL.
  static result<resumable_session> from_url(std::string_view url, std::string_view bucket,
                                            std::string_view object);

  bool valid() const noexcept { return facts_ != nullptr; }
  /// To be kept for from_url(), as safe as a password.
  std::string url() const;
  const std::string& bucket() const noexcept { return facts_->bucket; }
  const std::string& object() const noexcept { return facts_->object; }

 private:
  friend struct detail::gcs::resumable_start_verb;
  friend struct detail::gcs::resumable_chunk_verb;
  friend struct detail::gcs::resumable_status_verb;
  friend struct detail::gcs::resumable_cancel_verb;
  struct facts {
    std::shared_ptr<const detail::http::origin> origin{};
    std::string target{};
    std::string bucket{};
    std::string object{};
    std::string mark{};  ///< of the object to be (object_metadata::upload_mark); may be empty
  };
  std::string_view id() const noexcept;
  std::shared_ptr<const facts> facts_{};
};

/// Begins an upload. A session that is not used ends by itself.
struct resumable_start_request {
  using value = resumable_session;

  std::string bucket{};
  std::string object{};
  object_attributes attributes{};
  /// In bytes, when it is known: the service then refuses any other.
  std::optional<std::uint64_t> size{};
  /// Checked when the upload ends. Without if_generation_match a failed attempt whose outcome is
  /// unknown is not repeated.
  preconditions conditions{};
  call_limits limits{};
};

/// How far an upload has come.
struct resumable_progress {
  /// Bytes that the service keeps, from the first on: the next chunk's offset.
  std::uint64_t persisted{0};
  /// The upload has ended and made this object.
  std::optional<object_metadata> object{};
};

/// Sends the bytes from `offset` on, and ends when the service has all of them. Missing bytes are
/// sent again, and after a failure the service is asked first. So a chunk is always safe to repeat,
/// and a lost reply to the last one is resolved.
///
/// Errors: not_found when the session is over (start another one). failed_precondition for a
/// condition that does not hold at the end. data_loss when the object differs from the bytes sent,
/// or when the service lost bytes before `offset`.
struct resumable_chunk_request {
  using value = resumable_progress;

  resumable_session session{};
  /// Of the data in the object: the sum of all chunks before.
  std::uint64_t offset{0};
  /// Caller's memory, unchanged until the completion. A multiple of resumable_quantum, at least
  /// one, unless it is the last.
  bytes_view data{};
  /// The object ends with this data, which may be empty.
  bool last{false};
  /// With the last chunk: the CRC32C of the whole object, which the service then compares before it
  /// makes the object.
  std::optional<std::uint32_t> crc32c{};
  call_limits limits{};
};

/// Asks how far the upload has come: where to go on after a break, in this process or another.
struct resumable_status_request {
  using value = resumable_progress;

  resumable_session session{};
  call_limits limits{};
};

/// Ends an upload without an object.
struct resumable_cancel_request {
  using value = void;

  resumable_session session{};
  call_limits limits{};
};

/// As store/detail/validate.hpp; a session must be valid(), a chunk of the size said above.
result<void> validate(const resumable_start_request& r);
result<void> validate(const resumable_chunk_request& r);
result<void> validate(const resumable_status_request& r);
result<void> validate(const resumable_cancel_request& r);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/resumable.ipp>
#endif
