#pragma once

#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// What is kept of a reply's head until its body has come: the head's own views are valid only
/// while it is handed out, and a verb (or parse_error) reads head and body together.
///
/// A dialect fills it in (dialect::gather_facts). Not needed for the head of a read that succeeds.
struct reply_facts {
  int status{0};
  std::string content_type{};
  /// Of the body's transfer: "gzip" says that it cannot be read as text.
  std::string content_encoding{};
  /// The service's id of this request.
  std::string request_id{};
  /// With its quotes.
  std::string etag{};
  /// Of a redirect: scheme and host of where it points, without what may be a secret behind them.
  std::string redirect{};
  /// All of it, where the dialect follows redirects. A secret may be in it.
  std::string location{};
  /// Where the service says that the bucket is; empty where it says nothing.
  std::string region{};
  /// What answered, when its header fields show that it is another make of server than the
  /// dialect's: "an S3 server". A literal.
  std::string_view stranger{};
  /// Zero when not asked to wait; at most an hour. Only the form in seconds is read: a date would
  /// need a clock.
  std::chrono::milliseconds retry_after{0};
  /// As it came; see time_of().
  std::string date{};
  /// Of the object, 0 when the reply has none.
  std::int64_t generation{0};
  std::int64_t metageneration{0};
  /// Of the object; an error when it could not be read. Verbs that rely on it pass that on.
  result<std::optional<std::uint32_t>> crc32c{std::optional<std::uint32_t>{}};

  bool ok() const noexcept { return status >= 200 && status <= 299; }
};

/// When the service answered, by its clock, to the second; nothing where its Date says nothing or
/// is in another form than HTTP's own.
std::optional<timestamp> time_of(const reply_facts& facts);

/// A reply whose body is complete. Borrowed, all of it.
struct whole_reply {
  const reply_facts& facts;
  bytes_view body{};
  /// Readable bytes from body.data() on; body.size() + buffer_slack saves a listing a copy.
  std::size_t capacity{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/reply_facts.ipp>
#endif
