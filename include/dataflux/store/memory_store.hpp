#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/store/synthetic_objects.hpp>
#include <dataflux/unique_function.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI {

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
  /// Spread of both from call to call, as of the round trip. 0 = none, and then calls of equal size
  /// that begin together end together, again and again, as on no real network.
  double rate_spread{0};
  /// Requests above this rate, beyond a burst of a tenth of a second, are refused with
  /// resource_exhausted (429, retryable); 0 = unlimited.
  double requests_per_second{0};
  /// That rate doubles evenly in so long, from when the store is made; 0 = it stays.
  duration rate_doubles{0};
  /// Requests under way at once; others wait for their turn, first come, first served. 0 =
  /// unlimited.
  std::uint32_t connections{0};
  /// Chance that a request stalls for `stall_length`: a read somewhere in its body, others before
  /// their reply. It keeps its connection.
  double stall_probability{0};
  duration stall_length{0};
  /// Bytes after which a sink is fed: smaller is smoother and costs more events. At least 1.
  std::size_t piece_size{std::size_t{1} << 20U};
  /// Of all dice. Equal seeds and equal calls give equal runs.
  std::uint64_t seed{1};
};

/// Versioning and retention rules of a memory_store's bucket (protocol.md 1.2, 1.8).
struct memory_bucket_rules {
  /// Replaced and removed objects stay as noncurrent generations, except those removed by
  /// generation.
  bool versioning{false};
  /// Age below which an object can be neither removed nor replaced, versions or not; 0 = none.
  duration retention{0};
  /// New objects begin with a hold: see memory_store::hold().
  bool default_event_based_hold{false};
  /// False: asking for the bucket itself is refused, as it is to accounts without that permission.
  bool may_be_asked{true};
};

/// The verbs of object_store, for accounting and for faults.
enum class store_verb : std::uint8_t {
  list_page,
  stat,
  read,
  insert,
  remove,
  compose,
  move,
  multipart_initiate,
  upload_part,
  multipart_complete,
  multipart_abort,
  list_parts,
  list_uploads,
  rewrite,
  bucket,
  remove_many,
};
inline constexpr std::size_t store_verb_count = 16;

/// The service's name of it as errors carry it ("objects.get"), and how it is billed.
std::string_view to_string(store_verb verb) noexcept;
request_class billed_as(store_verb verb) noexcept;

/// Counters of a memory_store.
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

/// A fault of one request. Without `failure` it is only late, or damaged.
struct injected_fault {
  /// The call ends with it. Verb, bucket and object are filled in.
  std::optional<error> failure{};
  /// Before the service does anything.
  duration delay{0};
  /// The service does its work all the same, the failure takes the place of its reply.
  bool reply_lost{false};
  /// A read fails only after so many bytes of its body.
  std::uint64_t after_bytes{0};
  /// One byte of a read's body arrives with one bit flipped: the one with this number, from 0.
  bool corrupt{false};
  std::uint64_t corrupt_byte{0};
};

/// Called when a request arrives; `nth` counts requests for that verb and object from 1, since the
/// script was set. Nothing = no fault. Must not touch the store.
using fault_script = unique_function<std::optional<injected_fault>(
    store_verb verb, std::string_view object, std::uint64_t nth)>;

namespace detail {
struct memory_store_state;
}

/// An object store in memory with the service's semantics and a simulated network before it.
/// Algorithms are tested on it without a socket, and simulated at sizes that no test bucket has.
///
/// Every call is one attempt: errors that a client would retry come back as they are, with
/// retryable() set. Semantics are those of protocol.md 1 and 2: strictly increasing generations
/// (made of the content, if the traits say so), preconditions, strongly consistent listings,
/// multipart rules, checksums; by set_rules() versions, retention policies and holds. A read
/// delivers the generation that was live when its request arrived.
///
/// Errors: those of the service, and what set_faults() injects.
///
/// Lifetime: the scheduler outlives the store. Destroying the store completes what is under way
/// with errc::cancelled, by tasks of the scheduler.
///
/// Threads: verbs from any thread that may call the scheduler's post(). Other members and the
/// destructor on the scheduler's thread, or on any while no call is under way. The store runs as
/// tasks of the scheduler. Completions are tasks of their own, so they may start calls. On a
/// virtual_scheduler blocking forms never return: start or submit, run the scheduler, take.
///
/// Cost: about four tasks a call, one for each piece of a body, and O(log n) in objects and calls
/// under way.
class memory_store final : public object_store {
 public:
  explicit memory_store(dataflux::scheduler& executor, memory_store_options options = {});
  DATAFLUX_INLINE ~memory_store() override;

  /// An empty bucket; one of that name is replaced. Names are taken as they are.
  void create_bucket(std::string_view name);
  /// A read-only bucket: writes fail with permission_denied. Bodies are synthetic_bytes of the
  /// row's size with its generation as seed; without a crc32c in the row theirs is used.
  void create_bucket(std::string_view name, std::shared_ptr<const name_source> objects);
  /// Stores an object at once, outside simulated time and accounting; creates a missing bucket.
  /// Returns the generation, 0 if the bucket is read-only.
  std::int64_t put(std::string_view bucket, std::string_view object, bytes_view data);
  std::int64_t put(std::string_view bucket, std::string_view object, synthetic_bytes data);

  /// From now on; a retention policy also applies to existing objects. No effect without the
  /// bucket.
  void set_rules(std::string_view bucket, const memory_bucket_rules& rules);
  /// Places or releases a hold: a held object can be neither removed nor replaced. Nothing without
  /// the live object.
  void hold(std::string_view bucket, std::string_view object, bool held);

  void set_faults(fault_script script);
  const memory_store_counters& counters() const noexcept;
  void reset_counters() noexcept;
  /// Calls under way.
  std::size_t in_flight() const noexcept;
  /// Multipart uploads that were neither completed nor aborted.
  std::size_t open_uploads() const noexcept;

  DATAFLUX_INLINE store_traits traits() const noexcept override;
  DATAFLUX_INLINE dataflux::scheduler& executor() noexcept override;
  DATAFLUX_INLINE void start(const read_request& request, byte_sink& sink,
                             completion<read_summary> done) override;
  DATAFLUX_INLINE void start(const list_page_request& request,
                             completion<dataflux::list_page> done) override;
  DATAFLUX_INLINE void start(const stat_request& request,
                             completion<object_metadata> done) override;
  DATAFLUX_INLINE void start(const insert_request& request,
                             completion<object_metadata> done) override;
  DATAFLUX_INLINE void start(const remove_request& request, completion<void> done) override;
  DATAFLUX_INLINE void start(const compose_request& request,
                             completion<object_metadata> done) override;
  DATAFLUX_INLINE void start(const move_request& request,
                             completion<object_metadata> done) override;
  DATAFLUX_INLINE void start(const rewrite_request& request,
                             completion<object_metadata> done) override;
  DATAFLUX_INLINE void start(const remove_many_request& request,
                             completion<std::vector<kept_object>> done) override;
  DATAFLUX_INLINE void start(const bucket_request& request,
                             completion<bucket_metadata> done) override;
  DATAFLUX_INLINE void start(const multipart_initiate_request& request,
                             completion<multipart_upload> done) override;
  DATAFLUX_INLINE void start(const upload_part_request& request,
                             completion<uploaded_part> done) override;
  DATAFLUX_INLINE void start(const multipart_complete_request& request,
                             completion<object_metadata> done) override;
  DATAFLUX_INLINE void start(const multipart_abort_request& request,
                             completion<void> done) override;
  DATAFLUX_INLINE void start(const list_parts_request& request,
                             completion<part_page> done) override;
  DATAFLUX_INLINE void start(const list_uploads_request& request,
                             completion<upload_page> done) override;
  using object_store::start;

 private:
  std::shared_ptr<detail::memory_store_state> state_;
};

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/memory_store.ipp>
#include <dataflux/store/impl/memory_store_options.ipp>
#endif
