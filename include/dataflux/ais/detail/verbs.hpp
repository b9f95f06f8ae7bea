#pragma once

#include <dataflux/ais/detail/batch_verb.hpp>
#include <dataflux/ais/detail/list_verb.hpp>
#include <dataflux/ais/detail/object_verbs.hpp>
#include <dataflux/ais/detail/read_verb.hpp>
#include <dataflux/ais/detail/verb.hpp>
#include <dataflux/store/detail/verb_list.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::ais {

/// The verbs of the client, in the order of a snapshot.
using verbs =
    detail::verb_list<list_verb, stat_verb, read_verb, batch_verb, insert_verb, remove_verb>;

/// Those of object_store's verbs that the client answers itself. Behind the first five, which
/// AIStore has, are those that it refuses by name.
using store_verbs =
    detail::verb_list<list_page_request, stat_request, insert_request, remove_request,
                      read_batch_request, compose_request, move_request, multipart_initiate_request,
                      upload_part_request, multipart_complete_request, multipart_abort_request,
                      list_parts_request, list_uploads_request, rewrite_request>;

/// Which verb may be sent again after an attempt of unknown outcome, and how that outcome is found
/// out.
inline constexpr auto repeat_rules = service::rules_of(verbs{});

}  // namespace dataflux::inline DATAFLUX_ABI::detail::ais
