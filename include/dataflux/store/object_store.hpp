#pragma once

#include <dataflux/byte_sink.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/requests.hpp>

#include <cstdint>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI {

/// What a store can do; features plan by it instead of asking what kind of store it is.
struct store_traits {
  /// Least size of every part but the last, greatest size of a part, and most parts of an upload.
  std::uint64_t min_part_size{5ULL << 20U};
  std::uint64_t max_part_size{5ULL << 30U};
  std::uint32_t max_parts{10'000};
  std::uint64_t max_object_size{5ULL << 40U};
  std::uint32_t max_list_page{1'000};
  std::uint32_t max_compose_sources{32};
};

/// An object store, seen by its asynchronous verbs. Implementations: gcs::client and memory_store.
///
/// Every verb has three forms. `start_x(request, completion)` is the one that stores implement: it
/// never blocks, checks the request before any network call, retries what may be retried, and calls
/// the completion exactly once, on an executor (never inside start_x itself). `submit_x(request)`
/// gives an operation to wait for, poll or cancel. `x(request)` blocks.
///
/// Requests are copied; what they point to (data to write, the sink of a read) belongs to the
/// caller and is borrowed until the completion. Errors carry verb, bucket, object, HTTP status and
/// attempts. Thread safety: all members may be called from any thread; completions must not block,
/// and blocking forms must not be called from a completion.
class object_store {
 public:
  template <class T>
  using completion = unique_function<void(result<T>)>;

  object_store() = default;
  object_store(const object_store&) = delete;
  object_store& operator=(const object_store&) = delete;
  virtual ~object_store() = default;

  virtual store_traits traits() const noexcept = 0;
  /// The clock and thread for a coordinator that uses this store; calls spread over all threads.
  virtual scheduler& executor() noexcept = 0;

  virtual void start_list_page(const list_page_request& request,
                               completion<dataflux::list_page> done) = 0;
  virtual void start_stat(const stat_request& request, completion<object_metadata> done) = 0;
  /// The sink is rewound at most to offset 0 when an attempt cannot be resumed where it broke off.
  /// A read of the whole object is checked against its CRC32C: errc::data_loss when it differs.
  virtual void start_read(const read_request& request, byte_sink& sink,
                          completion<read_summary> done) = 0;
  virtual void start_insert(const insert_request& request, completion<object_metadata> done) = 0;
  virtual void start_remove(const remove_request& request, completion<void> done) = 0;
  virtual void start_multipart_initiate(const multipart_initiate_request& request,
                                        completion<multipart_upload> done) = 0;
  virtual void start_upload_part(const upload_part_request& request,
                                 completion<uploaded_part> done) = 0;
  virtual void start_multipart_complete(const multipart_complete_request& request,
                                        completion<object_metadata> done) = 0;
  virtual void start_multipart_abort(const multipart_abort_request& request,
                                     completion<void> done) = 0;

  operation<dataflux::list_page> submit_list_page(list_page_request request) {
    return submit<dataflux::list_page>(&object_store::start_list_page, std::move(request));
  }
  operation<object_metadata> submit_stat(stat_request request) {
    return submit<object_metadata>(&object_store::start_stat, std::move(request));
  }
  operation<read_summary> submit_read(read_request request, byte_sink& sink) {
    return start_operation<read_summary>(
        request.limits, [&](auto done) { start_read(request, sink, std::move(done)); });
  }
  operation<object_metadata> submit_insert(insert_request request) {
    return submit<object_metadata>(&object_store::start_insert, std::move(request));
  }
  operation<void> submit_remove(remove_request request) {
    return submit<void>(&object_store::start_remove, std::move(request));
  }
  operation<multipart_upload> submit_multipart_initiate(multipart_initiate_request request) {
    return submit<multipart_upload>(&object_store::start_multipart_initiate, std::move(request));
  }
  operation<uploaded_part> submit_upload_part(upload_part_request request) {
    return submit<uploaded_part>(&object_store::start_upload_part, std::move(request));
  }
  operation<object_metadata> submit_multipart_complete(multipart_complete_request request) {
    return submit<object_metadata>(&object_store::start_multipart_complete, std::move(request));
  }
  operation<void> submit_multipart_abort(multipart_abort_request request) {
    return submit<void>(&object_store::start_multipart_abort, std::move(request));
  }

  result<dataflux::list_page> list_page(list_page_request request) {
    return submit_list_page(std::move(request)).take();
  }
  result<object_metadata> stat(stat_request request) {
    return submit_stat(std::move(request)).take();
  }
  result<read_summary> read(read_request request, byte_sink& sink) {
    return submit_read(std::move(request), sink).take();
  }
  result<object_metadata> insert(insert_request request) {
    return submit_insert(std::move(request)).take();
  }
  result<void> remove(remove_request request) { return submit_remove(std::move(request)).take(); }
  result<multipart_upload> multipart_initiate(multipart_initiate_request request) {
    return submit_multipart_initiate(std::move(request)).take();
  }
  result<uploaded_part> upload_part(upload_part_request request) {
    return submit_upload_part(std::move(request)).take();
  }
  result<object_metadata> multipart_complete(multipart_complete_request request) {
    return submit_multipart_complete(std::move(request)).take();
  }
  result<void> multipart_abort(multipart_abort_request request) {
    return submit_multipart_abort(std::move(request)).take();
  }

 private:
  template <class T, class Request>
  operation<T> submit(void (object_store::*start)(const Request&, completion<T>), Request request) {
    return start_operation<T>(request.limits,
                              [&](auto done) { (this->*start)(request, std::move(done)); });
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI
