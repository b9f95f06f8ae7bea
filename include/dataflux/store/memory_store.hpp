#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/store/name_source.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/synthetic_bytes.hpp>
#include <dataflux/unique_function.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

namespace detail {
struct memory_store_state;
}

/// The network and the service that a memory_store simulates. The default is instant and unlimited.
struct memory_store_options {
  store_traits traits{};
  /// From sending a request to the first byte of its reply, without the times below.
  duration rtt{0};
  /// Spread of the round trip: the sigma of a log-normal factor whose median is 1; 0 = none.
  double jitter{0};
  /// Added to a listing for each item and prefix of its page.
  duration time_per_listed{0};
  /// Of body bytes, each direction by itself; 0 = unlimited. Transfers share the total equally.
  double bytes_per_second_per_connection{0};
  double bytes_per_second_total{0};
  /// What is above it, beyond a burst of a tenth of a second's worth, is refused with
  /// resource_exhausted (429, retryable); 0 = unlimited.
  double requests_per_second{0};
  /// Requests under way at once; others wait for their turn, first come, first served. 0 =
  /// unlimited.
  std::uint32_t connections{0};
  /// Of a request, to do nothing for `stall_length`: a read somewhere in its body, others before
  /// their reply. It keeps its connection.
  double stall_probability{0};
  duration stall_length{0};
  /// Bytes after which a sink is fed: smaller is smoother and costs more events. At least 1.
  std::size_t piece_size{std::size_t{1} << 20U};
  /// Of all dice. Equal seeds and equal calls give equal runs.
  std::uint64_t seed{1};
};

/// The verbs of object_store, for accounting and for faults.
enum class store_verb : std::uint8_t {
  list_page,
  stat,
  read,
  insert,
  remove,
  multipart_initiate,
  upload_part,
  multipart_complete,
  multipart_abort,
};
inline constexpr std::size_t store_verb_count = 9;

/// The service's name of it as errors carry it ("objects.get"), and how it is billed.
std::string_view to_string(store_verb verb) noexcept;
request_class billed_as(store_verb verb) noexcept;

/// What a memory_store has been asked and has moved so far.
struct memory_store_counters {
  /// Requests that the service worked on, successful or not, by store_verb.
  std::array<std::uint64_t, store_verb_count> requests{};
  /// Refused with 429; not in `requests`.
  std::uint64_t throttled{0};
  std::uint64_t stalled{0};
  /// Calls that ended with an error, whatever the cause.
  std::uint64_t failed{0};
  /// Body bytes of inserts and parts, and of reads.
  std::uint64_t bytes_sent{0};
  std::uint64_t bytes_received{0};
  /// Most requests under way at once, those that wait for a connection not counted.
  std::size_t peak_in_flight{0};

  std::uint64_t of(store_verb verb) const noexcept {
    return requests[static_cast<std::size_t>(verb)];
  }
  std::uint64_t of(request_class billing) const noexcept;
};

/// What goes wrong with one request. Without `failure` it is only late, or damaged.
struct injected_fault {
  /// The call ends with it. Verb, bucket and object are filled in.
  std::optional<error> failure{};
  /// Before the service does anything.
  duration delay{0};
  /// The service does its work all the same, the failure takes the place of its reply.
  bool reply_lost{false};
  /// A read fails only after so many bytes of its body.
  std::uint64_t after_bytes{0};
  /// The first byte of a read's body arrives with one bit flipped.
  bool corrupt{false};
};

/// An object store in memory with the service's semantics and a simulated network before it, so
/// that algorithms are tested, and simulated at sizes that no test bucket has, without a socket.
///
/// Every call is one attempt: errors that a client would retry come back as they are, with
/// retryable() set. Semantics are those of protocol.md 1 and 2 without versioning: strictly
/// increasing generations, preconditions, strongly consistent listings, multipart rules, checksums.
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
  /// Called when a request arrives; `nth` counts those for that verb and object from 1, since the
  /// script was set. Nothing = all is well. Must not touch the store.
  using fault_script = unique_function<std::optional<injected_fault>(
      store_verb verb, std::string_view object, std::uint64_t nth)>;

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

  void set_faults(fault_script script);
  const memory_store_counters& counters() const noexcept;
  void reset_counters() noexcept;
  /// Calls that have been taken up and have not ended.
  std::size_t in_flight() const noexcept;
  /// Multipart uploads that were neither completed nor aborted.
  std::size_t open_uploads() const noexcept;

  store_traits traits() const noexcept override;
  dataflux::scheduler& executor() noexcept override;
  void start_list_page(const list_page_request& request,
                       completion<dataflux::list_page> done) override;
  void start_stat(const stat_request& request, completion<object_metadata> done) override;
  void start_read(const read_request& request, byte_sink& sink,
                  completion<read_summary> done) override;
  void start_insert(const insert_request& request, completion<object_metadata> done) override;
  void start_remove(const remove_request& request, completion<void> done) override;
  void start_multipart_initiate(const multipart_initiate_request& request,
                                completion<multipart_upload> done) override;
  void start_upload_part(const upload_part_request& request,
                         completion<uploaded_part> done) override;
  void start_multipart_complete(const multipart_complete_request& request,
                                completion<object_metadata> done) override;
  void start_multipart_abort(const multipart_abort_request& request,
                             completion<void> done) override;

 private:
  std::shared_ptr<detail::memory_store_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/memory_store.ipp>
#endif
