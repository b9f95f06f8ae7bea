#pragma once

#include <dataflux/codec/crc32c.hpp>
#include <dataflux/store/detail/memory_call.hpp>
#include <dataflux/store/detail/validate.hpp>
#include <dataflux/store/memory_store.hpp>

#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE memory_store::memory_store(dataflux::scheduler& executor,
                                           memory_store_options options)
    : state_(std::make_shared<detail::memory_store_state>(executor, options)) {}

DATAFLUX_INLINE memory_store::~memory_store() { state_->close(); }

DATAFLUX_INLINE void memory_store::create_bucket(std::string_view name) {
  state_->service.create_bucket(name, nullptr);
}
DATAFLUX_INLINE void memory_store::create_bucket(std::string_view name,
                                                 std::shared_ptr<const name_source> objects) {
  state_->service.create_bucket(name, std::move(objects));
}
DATAFLUX_INLINE std::int64_t memory_store::put(std::string_view bucket, std::string_view object,
                                               bytes_view data) {
  state_->service.set_time(state_->clock.now());
  return state_->service.put(bucket, object, detail::memory_body(data), crc32c(data));
}
DATAFLUX_INLINE std::int64_t memory_store::put(std::string_view bucket, std::string_view object,
                                               synthetic_bytes data) {
  state_->service.set_time(state_->clock.now());
  return state_->service.put(bucket, object, detail::memory_body(data), data.crc32c());
}

DATAFLUX_INLINE void memory_store::set_rules(std::string_view bucket,
                                             const memory_bucket_rules& rules) {
  state_->service.set_rules(bucket, rules);
}
DATAFLUX_INLINE void memory_store::hold(std::string_view bucket, std::string_view object,
                                        bool held) {
  state_->service.hold(bucket, object, held);
}

DATAFLUX_INLINE void memory_store::set_faults(fault_script script) {
  state_->faults = std::move(script);
  state_->arrivals.clear();
}
DATAFLUX_INLINE const memory_store_counters& memory_store::counters() const noexcept {
  return state_->totals;
}
DATAFLUX_INLINE void memory_store::reset_counters() noexcept { state_->totals = {}; }
DATAFLUX_INLINE std::size_t memory_store::in_flight() const noexcept {
  return state_->active.size();
}
DATAFLUX_INLINE std::size_t memory_store::open_uploads() const noexcept {
  return state_->service.open_uploads();
}
DATAFLUX_INLINE store_traits memory_store::traits() const noexcept {
  return state_->options.traits;
}
DATAFLUX_INLINE dataflux::scheduler& memory_store::executor() noexcept { return state_->clock; }

DATAFLUX_INLINE void memory_store::start(const read_request& request, byte_sink& sink,
                                         completion<read_summary> done) {
  auto call = std::make_shared<detail::memory_read_call>(state_, request, sink, std::move(done));
  call->start(validate(request));
}
DATAFLUX_INLINE void memory_store::start(const list_page_request& request,
                                         completion<dataflux::list_page> done) {
  detail::start_call<&detail::memory_service::list>(state_, store_verb::list_page, request,
                                                    std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const stat_request& request,
                                         completion<object_metadata> done) {
  detail::start_call<&detail::memory_service::stat>(state_, store_verb::stat, request,
                                                    std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const insert_request& request,
                                         completion<object_metadata> done) {
  detail::start_call<&detail::memory_service::insert>(state_, store_verb::insert, request,
                                                      std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const remove_request& request, completion<void> done) {
  detail::start_call<&detail::memory_service::remove>(state_, store_verb::remove, request,
                                                      std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const compose_request& request,
                                         completion<object_metadata> done) {
  detail::start_call<&detail::memory_service::compose>(state_, store_verb::compose, request,
                                                       std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const move_request& request,
                                         completion<object_metadata> done) {
  detail::start_call<&detail::memory_service::move>(state_, store_verb::move, request,
                                                    std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const rewrite_request& request,
                                         completion<object_metadata> done) {
  detail::start_call<&detail::memory_service::rewrite>(state_, store_verb::rewrite, request,
                                                       std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const remove_many_request& request,
                                         completion<std::vector<kept_object>> done) {
  detail::start_call<&detail::memory_service::remove_many>(state_, store_verb::remove_many, request,
                                                           std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const bucket_request& request,
                                         completion<bucket_metadata> done) {
  detail::start_call<&detail::memory_service::bucket_facts>(state_, store_verb::bucket, request,
                                                            std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const multipart_initiate_request& request,
                                         completion<multipart_upload> done) {
  detail::start_call<&detail::memory_service::initiate>(state_, store_verb::multipart_initiate,
                                                        request, std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const upload_part_request& request,
                                         completion<uploaded_part> done) {
  detail::start_call<&detail::memory_service::upload_part>(state_, store_verb::upload_part, request,
                                                           std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const multipart_complete_request& request,
                                         completion<object_metadata> done) {
  detail::start_call<&detail::memory_service::complete>(state_, store_verb::multipart_complete,
                                                        request, std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const multipart_abort_request& request,
                                         completion<void> done) {
  detail::start_call<&detail::memory_service::abort>(state_, store_verb::multipart_abort, request,
                                                     std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const list_parts_request& request,
                                         completion<part_page> done) {
  detail::start_call<&detail::memory_service::list_parts>(state_, store_verb::list_parts, request,
                                                          std::move(done));
}
DATAFLUX_INLINE void memory_store::start(const list_uploads_request& request,
                                         completion<upload_page> done) {
  detail::start_call<&detail::memory_service::list_uploads>(state_, store_verb::list_uploads,
                                                            request, std::move(done));
}

}  // namespace dataflux::inline DATAFLUX_ABI
