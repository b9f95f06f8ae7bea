#pragma once

#include <dataflux/gcs/detail/verb.hpp>
#include <dataflux/store/restore_request.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// A bulk restore under way.
struct bulk_restore_state {
  std::string document{};   ///< of the request that begins it
  std::string operation{};  ///< its id, once it has begun
  int asked{0};             ///< how often
};

/// objects.bulkRestore: POST {json}{bucket}/o/bulkRestore, then GET {json}{bucket}/operations/{id}
/// until it is done (protocol.md 1.7).
struct bulk_restore_verb {
  using request = bulk_restore_request;
  using value = restored_objects;
  using state = bulk_restore_state;

  static constexpr service::verb_info info{"objects.bulkRestore", pacing_class::metadata,
                                           billing_class::a};
  // A second one would overwrite what the first has restored, or count it as skipped.
  static constexpr service::repeat_rule repeat{info.name, service::repeat_condition::never};

  static service::call_identity identity(const request& r) noexcept {
    return {info.name, r.bucket, {}, 0, false};
  }
  static result<state> prepare(const request& r, const call_id&);
  static void build(const call_context& context, const request& r, const state& at,
                    http::request& out);
  /// Nothing while it is under way. Errors: internal for a reply without its name, or of another
  /// operation; what it has failed with.
  static result<std::optional<value>> parse(const request& r, state& at,
                                            const service::whole_reply& reply);
  /// To ask is harmless.
  static bool continued(const state& at) noexcept { return !at.operation.empty(); }
  /// 0.1 s, then twice as long each time, up to 10 s.
  static duration pause(const state& at) noexcept {
    return std::min<duration>(std::chrono::milliseconds(100) * (1 << std::min(at.asked, 7)),
                              std::chrono::seconds(10));
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/gcs/impl/restore_verb.ipp>
#endif
