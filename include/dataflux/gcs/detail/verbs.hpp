#pragma once

#include <dataflux/gcs/detail/bucket_verbs.hpp>
#include <dataflux/gcs/detail/change_verbs.hpp>
#include <dataflux/gcs/detail/list_verb.hpp>
#include <dataflux/gcs/detail/multipart_verbs.hpp>
#include <dataflux/gcs/detail/object_verbs.hpp>
#include <dataflux/gcs/detail/read_verb.hpp>
#include <dataflux/gcs/detail/restore_verb.hpp>
#include <dataflux/gcs/detail/resumable_verbs.hpp>
#include <dataflux/gcs/detail/sign_verbs.hpp>
#include <dataflux/store/detail/verb_list.hpp>

#include <cstddef>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail::gcs {

/// The verbs of the client, in the order of docs/retries.md and of a snapshot. One that shares
/// another's name (list_all_buckets_verb) comes behind it, and is counted with it.
using verbs = detail::verb_list<
    list_verb, stat_verb, read_verb, insert_verb, remove_verb, compose_verb, move_verb, patch_verb,
    rewrite_verb, bulk_restore_verb, multipart_initiate_verb, upload_part_verb,
    multipart_complete_verb, multipart_abort_verb, list_parts_verb, list_uploads_verb,
    resumable_start_verb, resumable_chunk_verb, resumable_status_verb, resumable_cancel_verb,
    bucket_verb, list_buckets_verb, list_all_buckets_verb, storage_layout_verb,
    test_permissions_verb, sign_blob_verb, machine_account_verb>;

/// Which verb may be sent again after an attempt of unknown outcome, and how that outcome is found
/// out: the table of protocol.md 3.1. The documentation reads it.
inline constexpr auto repeat_rules = service::rules_of(verbs{});

/// The row of a verb; null when there is none.
constexpr const service::repeat_rule* find_repeat_rule(std::string_view verb) noexcept {
  for (const service::repeat_rule& rule : repeat_rules) {
    if (rule.verb == verb) return &rule;
  }
  return nullptr;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail::gcs
