#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// HTTP/1.1 without a socket: requests become bytes, bytes become replies. RFC 9112 is read
/// strictly. Where the RFC lets a recipient guess (bare LF, folded lines, repeated lengths that
/// differ), this codec refuses: a wrong guess about where a reply ends would hand one caller the
/// bytes of another.
namespace dataflux::inline DATAFLUX_ABI::detail::http {

/// Status line and fields of a reply, interim (1xx) ones before it included: at most 64 KiB. The
/// trailer section of a chunked body has the same limit.
inline constexpr std::size_t max_head_size = std::size_t{64} * 1024;

/// The longest line with the size of a chunk, extensions included.
inline constexpr std::size_t max_chunk_line = 4096;

/// Appends the request line, Host, Content-Length (when there is a body, or the method is one that
/// announces one: POST, PUT, PATCH), the headers and the empty line. The body is sent after it as
/// it is; requests are never chunked and never say Expect.
///
/// Errors: invalid_argument, with `out` as it was, for headers or a body that are not valid(), for
/// an origin that is null or whose host is not fit for a Host field, and for a target that does not
/// begin with '/' or holds a space or a control character.
/// Cost: appends only; no allocation once `out` has the capacity.
result<void> encode_request_head(const request& r, std::string& out);

/// How long the server says that it keeps an idle connection: `timeout` of the field Keep-Alive
/// (RFC 2068 19.7.1.1). Nothing when it does not say so, or unintelligibly.
std::optional<std::chrono::seconds> keep_alive_timeout(const reply_head& head);

/// How the end of a reply's body is found.
enum class body_framing : std::uint8_t {
  none,         ///< there is no body: HEAD, 204, 304
  length,       ///< Content-Length bytes, possibly 0
  chunked,      ///< Transfer-Encoding: chunked
  until_close,  ///< everything until the peer closes
};

/// Decodes replies, one after another, of one connection.
///
///     decoder.start(method::get);
///     parse_head() until it consumes something; then, by framing():
///       length, until_close: receive into place, body_received(n)
///       chunked:             decode_chunked() until complete()
///     closed() when the peer closes; complete() tells when the reply has ended.
///
/// Of a reply it goes through status_line, fields, body, complete; an interim reply leads back to
/// status_line, and an error to failed, from where start() alone leads on. Within a chunked body
/// the chunk phases go round, from size to data and the line behind it, until a chunk of size 0;
/// the trailer follows, and the empty line that ends it.
///
/// The decoder holds no bytes: what it has not consumed, the caller keeps and offers again. The
/// outcome does not depend on how the bytes were cut into pieces. Bytes left over when complete()
/// are not part of the reply; they mean that the peer broke the protocol (nothing is pipelined).
///
/// Errors: `internal` for a violation of the protocol, `unavailable` for a reply that was cut
/// short; the message says what. After an error the connection is of no use: every later call but
/// start() fails too, and keep_alive() is false.
/// Threads: none of its own, not thread-safe. Cost: no allocation once the vectors for fields have
/// grown; a head of 15 fields takes some 300 ns.
class reply_decoder {
 public:
  /// Gets ready for the reply to a request of that method.
  void start(method m) noexcept;

  /// Searches for the final head. `received` begins where the reply begins and holds all bytes that
  /// have come so far; calls with a longer `received` (which may have moved) go on where the last
  /// one stopped.
  ///
  /// Gives the number of bytes that make up the head, interim replies before it included, when the
  /// final (non-1xx) head is complete: head() is set then, its views point into `received`. Gives 0
  /// when more bytes are needed. Errors: as for the class; also a 101, which nobody asked for.
  result<std::size_t> parse_head(std::string_view received);

  /// Valid once parse_head() has consumed something, as long as the bytes given to it stay.
  const reply_head& head() const noexcept { return head_; }
  body_framing framing() const noexcept { return framing_; }

  /// Bytes that are certain to be payload, so that they may be received right into place: all that
  /// is left of the body (length) or of the current chunk (chunked); 0 for the other framings.
  std::uint64_t remaining() const noexcept {
    // While the size of a chunk is being read, remaining_ holds its leading digits.
    const bool inside = framing_ != body_framing::chunked || chunk_phase_ == chunk_phase::data;
    return inside ? remaining_ : 0;
  }

  /// `count` bytes of the body were received in place; at most remaining(), unless the body lasts
  /// until the peer closes.
  void body_received(std::uint64_t count) noexcept;

  struct chunk_step {
    std::size_t consumed{0};  ///< of the input, framing and data together
    bytes_view data{};        ///< payload inside the input; empty when only framing was consumed
  };

  /// One step over a chunked body: consumes framing up to and with the next piece of payload. All
  /// of `input` is consumed when there is no payload in it and the reply does not end in it, so a
  /// step that consumes nothing means empty input or complete(). Trailers are checked and dropped.
  result<chunk_step> decode_chunked(bytes_view input);

  /// The peer closed the connection. Fine when the reply is complete or lasts until then (it is
  /// complete now); otherwise `unavailable`.
  result<void> closed();

  /// The whole reply has been decoded.
  bool complete() const noexcept { return phase_ == phase::complete; }

  /// May the connection serve another request once the reply is complete()? False before the head
  /// is known, for HTTP/1.0 without keep-alive, `Connection: close`, bodies that last until the
  /// peer closes, a 204 that announces a body, and after an error.
  bool keep_alive() const noexcept { return keep_alive_; }

 private:
  enum class phase : std::uint8_t { status_line, fields, body, complete, failed };
  enum class chunk_phase : std::uint8_t {
    size_first,
    size,
    size_blank,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    line_first,
    trailer_name,
    trailer_value,
    trailer_lf,
    end_lf,
  };
  /// A field of the unfinished head by offsets: `received` may move between calls.
  struct field_position {
    std::uint32_t name, name_size, value, value_size;
  };

  error fail(std::string_view what);
  void give_up() noexcept;
  // These give what is wrong, or null.
  const char* end_line(std::string_view received, std::size_t end);
  const char* parse_status_line(std::string_view line);
  const char* parse_field(std::string_view received, std::size_t end);
  const char* note_field(std::string_view name, std::string_view value);
  const char* note_length(std::string_view value);
  const char* note_connection(std::string_view value);
  const char* end_head(std::string_view received);
  void choose_framing() noexcept;
  const char* chunk_control(char c);
  const char* chunk_size_digit(char c) noexcept;

  method method_{method::get};
  phase phase_{phase::failed};
  chunk_phase chunk_phase_{chunk_phase::size_first};
  body_framing framing_{body_framing::none};
  bool http10_{false};
  bool chunked_{false};
  bool close_{false};
  bool stay_open_{false};
  bool keep_alive_{false};
  int status_{0};
  std::size_t line_{0};     ///< where the current line begins
  std::size_t scanned_{0};  ///< everything before has been searched
  std::size_t counted_{0};  ///< bytes of the current chunk line or of the trailers
  std::uint64_t remaining_{0};
  std::vector<field_position> positions_{};
  reply_head head_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::http

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/http/impl/http1.ipp>
#endif
