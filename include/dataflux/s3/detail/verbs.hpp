#pragma once

#include <dataflux/s3/detail/bucket_verb.hpp>
#include <dataflux/s3/detail/copy_part_verb.hpp>
#include <dataflux/s3/detail/copy_verb.hpp>
#include <dataflux/s3/detail/delete_verb.hpp>
#include <dataflux/s3/detail/list_verb.hpp>
#include <dataflux/s3/detail/multipart_verbs.hpp>
#include <dataflux/s3/detail/object_verbs.hpp>
#include <dataflux/s3/detail/read_verb.hpp>
#include <dataflux/s3/detail/verb.hpp>
#include <dataflux/store/detail/verb_list.hpp>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// The verbs of the client, in the order of a snapshot.
using verbs = detail::verb_list<list_verb, stat_verb, read_verb, insert_verb, remove_verb,
                                delete_verb, copy_verb, multipart_initiate_verb, upload_part_verb,
                                copy_part_verb, multipart_complete_verb, multipart_abort_verb,
                                list_parts_verb, list_uploads_verb, bucket_verb>;

/// Those of object_store's verbs that are one of S3's.
using store_verbs =
    detail::verb_list<list_page_request, stat_request, insert_request, remove_request,
                      remove_many_request, multipart_initiate_request, upload_part_request,
                      multipart_complete_request, multipart_abort_request, list_parts_request,
                      list_uploads_request, bucket_request>;

/// Which verb may be sent again after an attempt of unknown outcome, and how that outcome is found
/// out.
inline constexpr auto repeat_rules = service::rules_of(verbs{});

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3
