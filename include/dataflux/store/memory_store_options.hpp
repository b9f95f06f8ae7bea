#pragma once

#include <dataflux/deadline.hpp>
#include <dataflux/error.hpp>
#include <dataflux/observer.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/unique_function.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
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

/// What a bucket of a memory_store keeps, and guards (protocol.md 1.2, 1.8).
struct memory_bucket_rules {
  /// What is replaced or removed stays as a noncurrent generation; what is removed by its
  /// generation does not.
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
};
inline constexpr std::size_t store_verb_count = 15;

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

/// Called when a request arrives; `nth` counts those for that verb and object from 1, since the
/// script was set. Nothing = all is well. Must not touch the store.
using fault_script = unique_function<std::optional<injected_fault>(
    store_verb verb, std::string_view object, std::uint64_t nth)>;

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/memory_store_options.ipp>
#endif
