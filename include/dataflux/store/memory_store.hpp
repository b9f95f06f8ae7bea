#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/store/memory_store_options.hpp>
#include <dataflux/store/name_source.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/synthetic_bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct memory_store_state;
}

/// An object store in memory with the service's semantics and a simulated network before it, so
/// that algorithms are tested, and simulated at sizes that no test bucket has, without a socket.
///
/// Every call is one attempt: errors that a client would retry come back as they are, with
/// retryable() set. Semantics are those of protocol.md 1 and 2: strictly increasing generations,
/// preconditions, strongly consistent listings, multipart rules, checksums; by set_rules()
/// versions, retention policies and holds.
/// A read delivers the generation that was live when its request arrived, whatever happens later.
///
/// All of it runs as tasks of the scheduler, which outlives the store. Completions are tasks of
/// their own, so they may start calls. On a virtual_scheduler blocking forms never return: start or
/// submit, run the scheduler, take. Destroying the store completes what is under way with
/// errc::cancelled, by tasks that are left to the scheduler.
///
/// Thread safety: verbs as far as the scheduler's post() has it; all else, and the destructor, on
/// the scheduler's thread. Cost of a call: about four tasks, one for each piece of a body, and
/// O(log n) in objects and calls under way.
class memory_store final : public object_store {
 public:
  explicit memory_store(dataflux::scheduler& executor, memory_store_options options = {});
  ~memory_store() override;

  /// An empty bucket; one of that name is replaced. Names are taken as they are.
  void create_bucket(std::string_view name);
  /// A read-only bucket: writes fail with permission_denied. Bodies are synthetic_bytes of the
  /// row's size with its generation as seed; without a crc32c in the row theirs is used.
  void create_bucket(std::string_view name, std::shared_ptr<const name_source> objects);
  /// Puts an object there at once, outside simulated time and accounting; creates the bucket when
  /// it is missing. Gives the generation, 0 if the bucket is read-only.
  std::int64_t put(std::string_view bucket, std::string_view object, bytes_view data);
  std::int64_t put(std::string_view bucket, std::string_view object, synthetic_bytes data);

  /// From now on; a retention policy counts for what is there, too. Nothing without the bucket.
  void set_rules(std::string_view bucket, const memory_bucket_rules& rules);
  /// Places or releases a hold: a held object can be neither removed nor replaced. Nothing without
  /// the live object.
  void hold(std::string_view bucket, std::string_view object, bool held);

  void set_faults(fault_script script);
  const memory_store_counters& counters() const noexcept;
  void reset_counters() noexcept;
  /// Calls that have been taken up and have not ended.
  std::size_t in_flight() const noexcept;
  /// Multipart uploads that were neither completed nor aborted.
  std::size_t open_uploads() const noexcept;

  store_traits traits() const noexcept override;
  dataflux::scheduler& executor() noexcept override;
  void start(const read_request& request, byte_sink& sink, completion<read_summary> done) override;
  void start(const list_page_request& request, completion<dataflux::list_page> done) override;
  void start(const stat_request& request, completion<object_metadata> done) override;
  void start(const insert_request& request, completion<object_metadata> done) override;
  void start(const remove_request& request, completion<void> done) override;
  void start(const compose_request& request, completion<object_metadata> done) override;
  void start(const move_request& request, completion<object_metadata> done) override;
  void start(const rewrite_request& request, completion<object_metadata> done) override;
  void start(const bucket_request& request, completion<bucket_metadata> done) override;
  void start(const multipart_initiate_request& request, completion<multipart_upload> done) override;
  void start(const upload_part_request& request, completion<uploaded_part> done) override;
  void start(const multipart_complete_request& request, completion<object_metadata> done) override;
  void start(const multipart_abort_request& request, completion<void> done) override;
  void start(const list_parts_request& request, completion<part_page> done) override;
  void start(const list_uploads_request& request, completion<upload_page> done) override;
  using object_store::start;

 private:
  std::shared_ptr<detail::memory_store_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/memory_store.ipp>
#endif
