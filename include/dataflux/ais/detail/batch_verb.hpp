#pragma once

#include <dataflux/ais/detail/verb.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/read_batch_request.hpp>

#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

/// The document that asks for a batch.
struct batch_state {
  std::string document{};
};

/// GetBatch, streamed (s3-protocol.md 8.3). The reply is a tar archive whose members are in the
/// request's order, and which may end early without a word: so each is matched by its place, its
/// name and its size, and what is not there was not got. A name behind "__404__/" is of what the
/// service does not have.
///
/// No member comes with a checksum. The bytes are hashed: together with a small version they give
/// the generation that was asked for, or they are not believed.
struct batch_verb {
  using request = read_batch_request;
  using value = request::value;
  using state = batch_state;

  static constexpr service::verb_info info{"GetBatch", pacing_class::read, billing_class::b, false,
                                           std::size_t{16} << 20U};
  static constexpr service::repeat_rule repeat{info.name, repeat_condition::always};

  static call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<void> check(const call_context& context, const request& r);
  static result<state> prepare(const request& r, const call_id&);
  static void build(const call_context& context, const request& r, const state& s,
                    http::request& out);
  /// The bytes, and what an archive has besides: headers, long names, an end.
  static std::size_t reply_limit(const request& r) noexcept;
  /// Never fails: see read_batch().
  static result<value> parse(const request& r, const state&, const whole_reply& reply);
};

/// Reads as much of an archive as is the batch's. Survives any bytes. Cost: a copy of the data, and
/// hashes.
read_batch_request::value read_batch(const read_batch_request& r, bytes_view archive);

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/ais/impl/batch_verb.ipp>
#endif
