#pragma once

#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/resumable.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The verbs of resumable uploads (protocol.md 1.4). Their common shape is in gcs/detail/verb.hpp.
/// The access token goes along only while the session is at the endpoint's own origin: the URL
/// alone entitles.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// A start's body and mark, and where its reply says that the session is.
struct session_start {
  std::string document{};
  std::string mark{};
  std::shared_ptr<const http::origin> asked{};
  std::string location{};
};

/// POST {upload}{bucket}/o?uploadType=resumable&name={object}, metadata as body.
struct resumable_start_verb {
  using request = resumable_start_request;
  using value = resumable_session;
  using state = session_start;

  static constexpr service::verb_info info{"resumable.start", pacing_class::write,
                                           billing_class::a};
  static constexpr service::repeat_rule repeat{info.name,
                                               service::repeat_condition::generation_match};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, r.object, 0, r.conditions.if_generation_match == 0};
  }
  static result<state> prepare(const request& r, const call_id& id);
  static void build(const call_context& context, const request& r, const state& body,
                    http::request& out);
  static void read_head(const http::request& sent, const http::reply_head& head, state& into);
  /// Errors, none of which shows the URL: internal for a reply without a usable Location, or with
  /// one that leaves TLS.
  static result<value> parse(const request& r, const state& body,
                             const service::whole_reply& reply);
};

/// What an attempt of a chunk sends, and what its reply's head said.
struct chunk_cursor {
  std::uint64_t from{0};  ///< in the object
  bool asks{false};       ///< for the session's status, instead of sending
  bool advanced{false};   ///< the reply showed bytes that were not known to be kept
  /// Of a reply of 308: bytes kept; nothing when its Range is malformed.
  std::optional<std::uint64_t> kept{};
};

/// PUT {session} with `Content-Range: bytes A-B/T`, or `bytes */*` to ask.
struct resumable_chunk_verb {
  using request = resumable_chunk_request;
  using value = resumable_progress;
  using state = chunk_cursor;

  /// The whole upload is billed as one operation: its start.
  static constexpr service::verb_info info{"resumable.chunk", pacing_class::write,
                                           billing_class::free, true};
  // What is sent next is what the session says, never what was sent before.
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always,
                                               service::repeat_meaning::compare,
                                               service::repeat_meaning::failed, true};

  static service::call_identity identity(const request& r) noexcept {
    return session_identity(info.name, r.session);
  }
  static service::call_identity session_identity(std::string_view verb,
                                                 const resumable_session& s) noexcept {
    if (!s.valid()) return {verb, {}, {}, 0, false, true};
    return {verb, s.bucket(), s.object(), 0, false, true};
  }
  static result<state> prepare(const request& r, const call_id&) { return state{.from = r.offset}; }
  /// Errors: invalid_argument for a session without TLS where the endpoint has it.
  static result<void> check(const call_context& context, const request& r);
  static void build(const call_context& context, const request& r, const state& at,
                    http::request& out);
  static bool accepts(int status) noexcept { return status == 308; }
  static void read_head(const http::request& sent, const http::reply_head& head, state& into);
  /// Nothing when there is more to send. Errors: see resumable_chunk_request; unavailable and
  /// retryable() for a reply that shows no progress.
  static result<std::optional<value>> parse(const request& r, state& at,
                                            const service::whole_reply& reply);
  static void before_retry(state& at) noexcept { at.asks = true; }
  static bool advanced(const state& at) noexcept { return at.advanced; }
  static std::array<std::string_view, 2> secrets(const request& r) noexcept {
    return {r.session.id(), {}};
  }
  /// By the mark: the last chunk may have made the object although its session is gone.
  static bool is_ours(const request& r, const state&, const object_metadata& found);
  static value resolved(object_metadata found) {
    return {found.size, std::optional{std::move(found)}};
  }
};

/// PUT {session} with `Content-Range: bytes */*` and no body.
struct resumable_status_verb {
  using request = resumable_status_request;
  using value = resumable_progress;
  using state = chunk_cursor;

  static constexpr service::verb_info info{"resumable.status", pacing_class::metadata,
                                           billing_class::free};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always};

  static service::call_identity identity(const request& r) noexcept {
    return resumable_chunk_verb::session_identity(info.name, r.session);
  }
  static result<state> prepare(const request&, const call_id&) { return state{.asks = true}; }
  /// Errors: invalid_argument for a session without TLS where the endpoint has it.
  static result<void> check(const call_context& context, const request& r);
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  static bool accepts(int status) noexcept { return status == 308; }
  static void read_head(const http::request& sent, const http::reply_head& head, state& into) {
    resumable_chunk_verb::read_head(sent, head, into);
  }
  static result<value> parse(const request& r, const state& at, const service::whole_reply& reply);
  static std::array<std::string_view, 2> secrets(const request& r) noexcept {
    return {r.session.id(), {}};
  }
};

/// DELETE {session}; its success is 499.
struct resumable_cancel_verb {
  using request = resumable_cancel_request;
  using value = void;
  using state = service::no_state;

  static constexpr service::verb_info info{"resumable.cancel", pacing_class::write,
                                           billing_class::free};
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::always,
                                               service::repeat_meaning::done};

  static service::call_identity identity(const request& r) noexcept {
    return resumable_chunk_verb::session_identity(info.name, r.session);
  }
  static result<state> prepare(const request&, const call_id&) { return state{}; }
  /// Errors: invalid_argument for a session without TLS where the endpoint has it.
  static result<void> check(const call_context& context, const request& r);
  static void build(const call_context& context, const request& r, const state&,
                    http::request& out);
  static bool accepts(int status) noexcept { return status == 499; }
  static result<value> parse(const request&, const state&, const service::whole_reply& reply);
  static std::array<std::string_view, 2> secrets(const request& r) noexcept {
    return {r.session.id(), {}};
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/resumable_verbs.ipp>
#endif
