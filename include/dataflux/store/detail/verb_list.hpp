#pragma once

#include <dataflux/store/object_store.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Verbs, or the requests that name them.
template <class... Verbs>
struct verb_list {};

/// The verbs of object_store but the read, which has a sink.
using store_requests =
    verb_list<list_page_request, stat_request, insert_request, remove_request, compose_request,
              move_request, multipart_initiate_request, upload_part_request,
              multipart_complete_request, multipart_abort_request, list_parts_request,
              list_uploads_request, rewrite_request, bucket_request, resumable_start_request,
              resumable_chunk_request, resumable_status_request, resumable_cancel_request>;

/// An object_store whose verbs of that list all go to one template of Store:
///
///     template <class Request>
///     void begin(const Request& request, completion<typename Request::value> done);
///
/// What is not in the list is as in object_store.
template <class Store, class Requests = store_requests>
class begins;

template <class Store>
class begins<Store, verb_list<>> : public object_store {
 public:
  using object_store::start;
};

template <class Store, class First, class... Others>
class begins<Store, verb_list<First, Others...>> : public begins<Store, verb_list<Others...>> {
 public:
  using begins<Store, verb_list<Others...>>::start;
  void start(const First& request, object_store::completion<typename First::value> done) override {
    static_cast<Store*>(this)->begin(request, std::move(done));
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
