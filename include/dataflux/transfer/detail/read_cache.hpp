#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/exec/scheduler.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/unique_function.hpp>

#include <cstdint>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// What may answer the reads of an engine before the store does. The engine asks it for each read,
/// so that all features have it; disk_cache is one.
///
/// Errors: none of its own: what it cannot do is left to the store.
///
/// Threads: start() on the strand that it is given; the others from any thread.
class read_cache {
 public:
  using completion = object_store::completion<read_summary>;
  /// Reads from the store. On the strand; may throw std::bad_alloc.
  using origin = unique_function<void(const read_request&, byte_sink&, completion)>;

  read_cache() = default;
  read_cache(const read_cache&) = delete;
  read_cache& operator=(const read_cache&) = delete;
  virtual ~read_cache() = default;

  /// Whether start() is for it. Other reads do not come here.
  virtual bool takes(const read_request& request) const noexcept = 0;
  /// As read_engine::start(). What is not here is read by `from_store`, with the sink rewound to 0.
  /// Its bytes are kept where the sink has taken them in one piece of memory, which is what it was
  /// until the completion.
  virtual void start(scheduler& strand, const read_request& request, byte_sink& sink,
                     completion done, origin from_store) = 0;
  /// The last reads were answered from here, some dozens of them: the next ones will be, too.
  virtual bool is_warm() const noexcept = 0;
  /// Keeps what such a request brought, in another way.
  virtual void keep(const read_request& request, const read_summary& summary,
                    bytes_view body) noexcept = 0;
  /// What was read by such a request was not what it should be: it is not answered from here again.
  virtual void forget(const read_request& request) noexcept = 0;
  /// The same where it is not known by which one: of all of the object of that generation that was
  /// not compared when it came.
  virtual void forget_object(std::string_view bucket, std::string_view object,
                             std::int64_t generation) noexcept = 0;
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail
