#pragma once

#include <emulator/route.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace emulator {

/// What a fault rule does to the request that it hits.
namespace fault {

/// Where in the reply a connection breaks or stalls.
enum class point {
  before_reply,  ///< nothing is sent; a cut here keeps the request from being executed
  in_head,       ///< part of the status line and headers is sent
  in_body,       ///< `body_bytes` of the body are sent
};

/// Replies without executing the request. A status of 200 with an error document is legal.
struct send {
  int status{503};
  std::string body{};
  std::string content_type{"text/plain"};
  std::vector<header_line> headers{};  ///< such as Retry-After
};
/// Ends the connection: by reset (RST), else by a clean close. With in_body and more `body_bytes`
/// than the body has, the reply is whole and the connection closes unannounced after it.
struct cut {
  point where{point::before_reply};
  std::uint64_t body_bytes{0};
  bool reset{true};
};
/// Sends nothing for `duration`, then goes on; 0: until the peer leaves.
struct stall {
  point where{point::before_reply};
  std::uint64_t body_bytes{0};
  std::chrono::milliseconds duration{0};
};
/// Sends the body `bytes` at a time with `interval` between.
struct drip {
  std::size_t bytes{1};
  std::chrono::milliseconds interval{10};
};
/// Inverts the body byte at `offset`; a shorter body stays as it is.
struct flip_byte {
  std::uint64_t offset{0};
};
/// Says a wrong CRC32C: in x-goog-hash, or in the `crc32c` member of a JSON reply; of S3 a wrong
/// checksum in x-amz-checksum-* and in the elements of a document.
struct wrong_hash {};
/// Executes the request, then ends the connection without a reply.
struct lose_reply {
  bool reset{true};
};
/// Waits before replying: the latency of a slow service.
struct delay {
  std::chrono::milliseconds duration{0};
};
/// Ends a listing page after `results` items and prefixes, also 0, with a token when more is left.
/// Of S3 they may be more than were asked for.
struct short_page {
  std::uint64_t results{0};
};
/// Of a resumable upload's chunk keeps at most `bytes`, as the service may.
struct keep_less {
  std::uint64_t bytes{0};
};
/// Executes the request a second time and replies what came of that.
struct execute_twice {};
/// Refuses in the service's own words and in the form of the API that was called.
struct refuse {
  int status{503};
};
/// Revokes all tokens given out, and answers 401; of S3 the keys with a session token, and 400.
struct expire_tokens {};
/// Of S3: the conditions of the request count for nothing, as with servers that imitate it.
struct ignore_conditions {};
/// Of S3: the service's clock, by which signatures are judged, is so far ahead; negative: behind.
struct skew {
  std::chrono::milliseconds ahead{0};
};
/// Of S3's copies and completes: 200 at once, then white space, then the document: with a code the
/// error, and nothing is executed, else what came of the request.
struct late_answer {
  std::string code{};
  std::size_t spaces{1};
  bool before_all{false};  ///< else behind the declaration of XML, where parsers bear them
  std::chrono::milliseconds interval{0};  ///< between bytes; 0: all at once
};
/// Replaces headers of the reply; an empty value takes the header away.
struct set_headers {
  std::vector<header_line> headers{};
};
/// Of S3: says ETags in another form, in headers and documents.
struct etag_form {
  enum class kind { unquoted, empty, absent };
  kind form{kind::unquoted};
};

using action = std::variant<send, cut, stall, drip, flip_byte, wrong_hash, lose_reply, delay,
                            short_page, keep_less, execute_twice, refuse, expire_tokens,
                            ignore_conditions, skew, late_answer, set_headers, etag_form>;

}  // namespace fault

/// Which requests a fault hits. Of the requests that verb, object and part describe, counted from 1
/// in the order of arrival, it hits number `from` and the `count - 1` after it.
struct fault_rule {
  std::string verb{};    ///< of call::verb; empty: any
  std::string object{};  ///< pattern of the whole name: '*' any run, '?' one byte; empty: any
  int part{0};           ///< part number; 0: any
  std::string bucket{};  ///< pattern, as of object
  std::uint64_t from{1};
  std::uint64_t count{1};  ///< 0: all from there on
  /// Of those counted, the share that is hit, drawn from a generator that `seed` starts.
  double probability{1.0};
  std::uint64_t seed{1};
  /// Acts as soon as that many bytes of the request's body have arrived, reading no more (a
  /// Content-Length is needed for more than 0); for send, cut and stall before the reply.
  std::optional<std::uint64_t> request_bytes{};
  fault::action action{fault::send{}};
};

/// The rules in force, in the order added; the first that hits a request decides, and a request
/// hit by one is still counted by all that describe it. Thread safe.
class fault_script {
 public:
  void add(fault_rule rule);
  /// Forgets all rules. Requests being answered keep what hit them.
  void clear();
  /// How many requests have been hit since the last clear().
  std::uint64_t hits() const;
  /// The rules in force and how often each has hit.
  std::vector<std::pair<fault_rule, std::uint64_t>> rules() const;

  /// False while there is no rule: one atomic load.
  bool active() const noexcept { return any_.load(std::memory_order_acquire); }
  /// Counts the request and gives the rule that hits it. `early` asks the rules with request_bytes,
  /// else the others.
  std::optional<fault_rule> match(const call& asked, bool early);

 private:
  struct counted_rule {
    explicit counted_rule(fault_rule what) : rule(std::move(what)), chance(rule.seed) {}

    fault_rule rule;
    std::uint64_t seen{0};
    std::uint64_t hits{0};
    std::mt19937_64 chance;
  };
  mutable std::mutex mutex_{};
  std::vector<counted_rule> rules_{};
  std::uint64_t hits_{0};
  std::atomic<bool> any_{false};
};

/// True when `pattern` describes the whole of `text`.
bool matches_pattern(std::string_view pattern, std::string_view text) noexcept;

}  // namespace emulator
