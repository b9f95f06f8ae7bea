#pragma once

#include <dataflux/gcs/detail/endpoint.hpp>
#include <dataflux/http/detail/url.hpp>
#include <dataflux/service/detail/printable_text.hpp>
#include <dataflux/service/detail/repeat_rule.hpp>
#include <dataflux/service/detail/reply_facts.hpp>
#include <dataflux/service/detail/text.hpp>
#include <dataflux/service/detail/verb.hpp>
#include <dataflux/store/detail/customer_key.hpp>

#include <memory>
#include <string>
#include <string_view>

/// What Google's verbs are written in: the words of service/detail/verb.hpp, and what build() is
/// told of the client.
///
/// The User-Agent must not contain "gzip", which would make the service compress error bodies
/// (protocol.md 1.2). A retryable error of parse() is one of protocol.md 3.1; what was stored
/// damaged is removed as protocol.md 5.3 says.
namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

using service::billing_class;
using service::call_id;
using service::call_identity;
using service::last_writer_removes;
using service::last_writer_replaces;
using service::no_state;
using service::pacing_class;
using service::printable_text;
using service::repeat_condition;
using service::repeat_meaning;
using service::repeat_rule;
using service::reply_facts;
using service::verb_info;
using service::whole_reply;

using service::find_ignoring_case;
using service::starts_with_ignoring_case;
using service::trim;

/// Where the IAM service is, which signs for accounts.
struct iam_place {
  std::shared_ptr<const http::origin> origin{};
  std::string base{};  ///< of paths; "" or "/base"
};

/// What build() needs to know of the client. Borrowed for the duration of the call.
struct call_context {
  const gcs::endpoint& endpoint;
  /// Who pays for a requester-pays bucket: `userProject` of the JSON API, x-goog-user-project of
  /// the XML API.
  std::string_view user_project{};
  /// Whose quota is used: x-goog-user-project.
  std::string_view quota_project{};
  /// Whose buckets are listed when a request names no project.
  std::string_view project{};
  /// For the verbs of gcs/detail/sign_verbs.hpp.
  const iam_place* iam{nullptr};
  /// By which the service encrypts what is written and read; null = none of the caller's.
  const held_key* key{nullptr};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
