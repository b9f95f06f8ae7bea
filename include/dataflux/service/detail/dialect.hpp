#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/detail/ref.hpp>
#include <dataflux/error.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/http/detail/message.hpp>
#include <dataflux/http/detail/retry.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/service/detail/reply_facts.hpp>
#include <dataflux/service/detail/verb.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/store/object_metadata.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/requests.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

class client_core;

/// What a write finds that looks for what became of it.
struct looked_object {
  object_metadata object{};
  /// By the service's clock, to the second.
  std::optional<timestamp> served{};
};

/// How one service speaks: all that calls must know of it and that is not a verb's own. One object
/// for each client, made with what the client's options say (an endpoint, who pays).
///
/// verb_call and read_call know its type, and ask it for these besides:
///
///     // What Verb::build() is told of the client.
///     Context context() const noexcept;
///     // The place of that verb's name in verbs().
///     template <class Verb> static constexpr std::size_t number_of;
///
/// Threads: all members may be called from any thread.
class dialect {
 public:
  dialect() = default;
  dialect(const dialect&) = delete;
  dialect& operator=(const dialect&) = delete;
  virtual ~dialect() = default;

  /// What URLs of its objects begin with.
  virtual std::string_view scheme() const noexcept { return "gs"; }
  /// The names of all verbs, for the latencies. What it lists outlives the dialect.
  virtual std::span<const std::string_view> verbs() const noexcept = 0;

  /// Why a name that has passed validate_bucket_name() stands for nothing here. Nothing: it may.
  virtual std::optional<error> refuse_bucket(std::string_view bucket) const {
    if (!bucket.starts_with("arn:")) return std::nullopt;
    return error{errc::invalid_argument,
                 "an ARN stands for what AWS has, and this is another service: begin the URL with "
                 "s3://, or name a bucket"};
  }

  /// The same of an object's name that has passed validate_object_name().
  virtual std::optional<error> refuse_object(std::string_view object) const {
    auto good = validate_one_line(object);
    if (good) return std::nullopt;
    return std::move(good).error();
  }

  /// What no error may show, besides what a call itself hides; empty = nothing.
  virtual std::string_view secret() const noexcept { return {}; }
  /// Whether the place that a request goes to may learn who asks. Else it is not signed.
  virtual bool trusts(const http::request& request) const noexcept = 0;
  /// The fields that every request of a call has, besides the User-Agent. Before signing.
  virtual void add_fields(const call_id& id, http::header_list& headers) const = 0;

  /// Sets all of `out`, and uses the memory of its texts again. Never fails.
  virtual void gather_facts(const http::reply_head& head, reply_facts& out) const = 0;
  /// The error of a reply that is no success. `secrets` are blanked out in whatever form the
  /// service repeats them; `body` may be a prefix of what was sent.
  virtual error parse_error(const call_identity& call, const reply_facts& facts, bytes_view body,
                            std::span<const std::string_view> secrets) const = 0;
  /// What the service means by a status and its reason for a repetition.
  virtual http::reply_class classify(const call_identity& /*call*/, int http_status,
                                     std::string_view reason) const {
    return http::classify(http_status, reason);
  }
  /// Where the bucket is, for a signature that depends on that; empty = it does not.
  virtual std::string region_of(std::string_view /*bucket*/) const { return {}; }
  /// A reply that is no success says that the bucket is elsewhere. True: the dialect has noted it,
  /// and another attempt goes there. Once for each call.
  virtual bool moved(const call_identity& /*call*/, const reply_facts& /*facts*/,
                     bytes_view /*body*/) const {
    return false;
  }
  /// A reply that is no success leads elsewhere. Nothing: it does not. A call follows once in each
  /// attempt, with the same request; nobody remembers the place.
  virtual std::optional<http::url> redirect_of(const reply_facts& /*facts*/) const {
    return std::nullopt;
  }
  /// A refusal of a HEAD has no body, and so no reason. True: that status may hide one by which the
  /// call goes on, and ask_why() gets it.
  virtual bool hides_reason(int /*http_status*/) const noexcept { return false; }
  /// Makes another request of the HEAD: one that is refused for the same reason, and says so. Its
  /// reply is small where it is not refused. A call sends it once in each attempt.
  virtual void ask_why(const call_identity& /*call*/, http::request& /*request*/) const {}
  /// A body that waits until a redirect was followed, since sending it twice costs too much.
  virtual bool holds_back(const http::request& /*request*/) const noexcept { return false; }
  /// read_request::member.
  virtual bool reads_members() const noexcept { return false; }
  /// "this does not look like ...: WHAT; check the endpoint and any proxy".
  virtual std::string not_the_service(std::string_view what) const = 0;

  /// Stats an object, by a call of `core` on `executor`, for a write whose outcome is not known.
  virtual void look(ref<client_core> core, const stat_request& at,
                    object_store::completion<looked_object> done, scheduler& executor) const = 0;
  /// Removes an object, by such a call.
  virtual void remove(ref<client_core> core, const remove_request& what,
                      object_store::completion<void> done, scheduler& executor) const = 0;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service
