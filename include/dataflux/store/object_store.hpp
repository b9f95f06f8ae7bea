#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/codec/detail/part_number.hpp>
#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/exec/detail/fork.hpp>
#include <dataflux/exec/operation.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/bucket_requests.hpp>
#include <dataflux/store/multipart_requests.hpp>
#include <dataflux/store/read_batch_request.hpp>
#include <dataflux/store/remove_many_request.hpp>
#include <dataflux/store/requests.hpp>
#include <dataflux/store/resumable.hpp>
#include <dataflux/store/sign_requests.hpp>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI {

/// The limits of a store. Features plan by them instead of by the kind of the store.
struct store_traits {
  /// What URLs of its objects begin with: "gs", "s3", "ais". For texts alone.
  std::string_view scheme{"gs"};
  /// Least size of every part but the last, greatest size of a part, and most parts of an upload.
  std::uint64_t min_part_size{5ULL << 20U};
  std::uint64_t max_part_size{5ULL << 30U};
  std::uint32_t max_parts{detail::greatest_part_number};
  std::uint64_t max_object_size{5ULL << 40U};
  std::uint32_t max_list_page{1'000};
  /// Of one request. 0 = none joins objects; a compose_request is then made of copies and reads.
  std::uint32_t max_compose_sources{32};
  /// Objects can be renamed (move_request).
  bool moves{true};
  /// multipart_complete_request takes conditions, so that an upload needs no temporary name.
  bool conditional_complete{false};
  /// Of two generations of an object the greater one is the later one. Else a generation is made of
  /// the content: equal bytes have an equal one, by any writer.
  bool ordered_generations{true};
  /// Each object has a CRC32C, and a listing tells it.
  bool crc32c_everywhere{true};
  /// Its objects are under a key of the caller's (encryption_key). A listing does not tell their
  /// CRC32C; reads, stats and writes do. Nothing of them is kept in a disk_cache.
  bool customer_key{false};
  /// A reply to a range tells the CRC32C of the whole object, too. Else a read of all of it and a
  /// stat do.
  bool ranges_tell_checksum{true};
  /// Writes and removals take conditions. Else a removal of one state looks first, and what is
  /// written in between goes with it.
  bool conditional_changes{true};
  /// Objects that one remove_many_request removes; 1 = there is no such verb.
  std::uint32_t max_removals{1};
  /// Objects that one read_batch_request reads; 1 = there is no such verb.
  std::uint32_t max_batch_reads{1};
  /// read_request::member. Other stores refuse it.
  bool members{false};
  /// A listing has all of extra_columns. Else they are asked of each object.
  bool lists_metadata{true};
  /// list_page_request::versions.
  bool lists_versions{true};
};

/// An object store, seen by its asynchronous verbs. Implementations: gcs::client and memory_store.
///
/// A verb is the type of its request; `value` names the type of its result. Each has three forms.
/// Stores implement `start(request, completion)`: it never blocks, and checks the request before
/// any network call. It retries what may be retried, and calls the completion exactly once, on an
/// executor (never inside start itself). `submit(request)` gives an operation to wait for, poll or
/// cancel. `run(request)` blocks.
///
///     auto made = store.run(compose_request{.bucket = "b", .object = "all", .sources = parts});
///
/// The most common verbs also have names, which take braces: `store.stat({.bucket = "b", .object =
/// "o"})`.
///
/// Errors: they carry verb, bucket, object, HTTP status and attempts; invalid_argument before any
/// network call.
///
/// Lifetime: requests are copied. What they point to (data to write, the sink of a read) belongs to
/// the caller and is borrowed until the completion.
///
/// Threads: all members may be called from any thread. Completions must not block, and blocking
/// forms must not be called from a completion.
///
/// Cost: start() allocates the call; submit() and run() allocate an operation as well.
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
  /// failed_precondition in the child of a fork: the parent's store has no threads there. Its verbs
  /// fail so inside start(). Code that begins with a post() to the executor, which nothing would
  /// run, asks here first. The names are the error's.
  result<void> check_not_forked(std::string_view bucket, std::string_view object = {}) const {
    if (!born_.inherited()) return {};
    return detail::forked_error("client").with_bucket(bucket).with_object(object);
  }

  /// The sink is rewound at most to offset 0 when an attempt cannot be resumed where it broke off.
  /// A read of the whole object is checked against its CRC32C: errc::data_loss when it differs.
  /// Where the sink is satisfied() before the end, the read ends well there, and costs its
  /// connection.
  virtual void start(const read_request& request, byte_sink& sink,
                     completion<read_summary> done) = 0;
  virtual void start(const list_page_request& request, completion<dataflux::list_page> done) = 0;
  virtual void start(const stat_request& request, completion<object_metadata> done) = 0;
  virtual void start(const insert_request& request, completion<object_metadata> done) = 0;
  virtual void start(const remove_request& request, completion<void> done) = 0;
  virtual void start(const compose_request& request, completion<object_metadata> done) = 0;
  virtual void start(const move_request& request, completion<object_metadata> done) = 0;
  virtual void start(const multipart_initiate_request& request,
                     completion<multipart_upload> done) = 0;
  virtual void start(const upload_part_request& request, completion<uploaded_part> done) = 0;
  virtual void start(const multipart_complete_request& request,
                     completion<object_metadata> done) = 0;
  virtual void start(const multipart_abort_request& request, completion<void> done) = 0;
  virtual void start(const list_parts_request& request, completion<part_page> done) = 0;
  virtual void start(const list_uploads_request& request, completion<upload_page> done) = 0;
  // Unimplemented unless a store says otherwise.
  virtual void start(const rewrite_request& request, completion<object_metadata> done) {
    refuse(request, std::move(done));
  }
  virtual void start(const remove_many_request& request,
                     completion<std::vector<kept_object>> done) {
    refuse(request, std::move(done));
  }
  virtual void start(const read_batch_request& request,
                     completion<std::vector<batched_bytes>> done) {
    refuse(request, std::move(done));
  }
  virtual void start(const sign_url_request& request, completion<signed_url> done) {
    refuse(request, std::move(done));
  }
  virtual void start(const bucket_request& request, completion<bucket_metadata> done) {
    refuse(request, std::move(done));
  }
  virtual void start(const resumable_start_request& request, completion<resumable_session> done) {
    refuse(request, std::move(done));
  }
  virtual void start(const resumable_chunk_request& request, completion<resumable_progress> done) {
    refuse(request, std::move(done));
  }
  virtual void start(const resumable_status_request& request, completion<resumable_progress> done) {
    refuse(request, std::move(done));
  }
  virtual void start(const resumable_cancel_request& request, completion<void> done) {
    refuse(request, std::move(done));
  }

  template <class Request>
  operation<typename Request::value> submit(Request request) {
    return submit_to(*this, std::move(request));
  }
  operation<read_summary> submit(read_request request, byte_sink& sink) {
    return start_operation<read_summary>(request.limits,
                                         [&](auto done) { start(request, sink, std::move(done)); });
  }
  template <class Request>
  result<typename Request::value> run(Request request) {
    return submit(std::move(request)).take();
  }
  result<read_summary> run(read_request request, byte_sink& sink) {
    return submit(std::move(request), sink).take();
  }

  result<read_summary> read(read_request r, byte_sink& sink) { return run(std::move(r), sink); }
  result<dataflux::list_page> list_page(list_page_request r) { return run(std::move(r)); }
  result<object_metadata> stat(stat_request r) { return run(std::move(r)); }
  result<object_metadata> insert(insert_request r) { return run(std::move(r)); }
  result<void> remove(remove_request r) { return run(std::move(r)); }

  operation<read_summary> submit_read(read_request r, byte_sink& sink) {
    return submit(std::move(r), sink);
  }
  operation<dataflux::list_page> submit_list_page(list_page_request r) {
    return submit(std::move(r));
  }
  operation<object_metadata> submit_stat(stat_request r) { return submit(std::move(r)); }
  operation<object_metadata> submit_insert(insert_request r) { return submit(std::move(r)); }
  operation<void> submit_remove(remove_request r) { return submit(std::move(r)); }

  void start_read(const read_request& r, byte_sink& sink, completion<read_summary> done) {
    start(r, sink, std::move(done));
  }
  void start_list_page(const list_page_request& r, completion<dataflux::list_page> done) {
    start(r, std::move(done));
  }
  void start_stat(const stat_request& r, completion<object_metadata> done) {
    start(r, std::move(done));
  }
  void start_insert(const insert_request& r, completion<object_metadata> done) {
    start(r, std::move(done));
  }
  void start_remove(const remove_request& r, completion<void> done) { start(r, std::move(done)); }

 protected:
  /// For a store with its own verbs: submit() that finds them among its overloads of start().
  template <class Store, class Request>
  static operation<typename Request::value> submit_to(Store& store, Request request) {
    return start_operation<typename Request::value>(
        request.limits, [&](auto done) { store.start(request, std::move(done)); });
  }

 private:
  const detail::process_stamp born_{};

  template <class Request>
  void refuse(const Request&, completion<typename Request::value> done) {
    executor().post([done = std::move(done)]() mutable {
      done(error(errc::unimplemented, "this store does not have that verb"));
    });
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI
