#pragma once

#include <dataflux/ais/detail/endpoint.hpp>
#include <dataflux/service/detail/repeat_rule.hpp>
#include <dataflux/service/detail/reply_facts.hpp>
#include <dataflux/service/detail/text.hpp>
#include <dataflux/service/detail/verb.hpp>

#include <cstdint>
#include <string_view>

/// What the verbs of AIStore are written in: the words of service/detail/verb.hpp, and what build()
/// is told of the client.
namespace dataflux::inline DATAFLUX_ABI::detail::ais {

using service::billing_class;
using service::call_id;
using service::call_identity;
using service::no_state;
using service::pacing_class;
using service::repeat_condition;
using service::repeat_meaning;
using service::repeat_rule;
using service::reply_facts;
using service::trim;
using service::verb_info;
using service::whole_reply;

/// What build() needs to know of the client. Borrowed for the duration of the call.
struct call_context {
  const ais::endpoint& endpoint;
  /// As the service calls it: "ais", "aws".
  std::string_view provider{"ais"};
};

/// Of buckets of AIStore's own; behind those of others pages are as small as theirs.
inline constexpr std::uint32_t greatest_page = 10'000;
/// Of one GetBatch.
inline constexpr std::uint32_t greatest_batch = 1000;
/// Of what is read as a size.
inline constexpr std::uint64_t greatest_object = std::uint64_t{1} << 53U;

/// How errors say what AIStore cannot do.
inline constexpr std::string_view no_conditions{
    "AIStore has no conditional commit; checkpoints go to gs:// or s3://"};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais
