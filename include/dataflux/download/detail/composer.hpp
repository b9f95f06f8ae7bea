#pragma once

#include <dataflux/download/detail/composite.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/error.hpp>
#include <dataflux/store/requests.hpp>
#include <dataflux/transfer/detail/transfer_state.hpp>
#include <dataflux/unique_function.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Whether a stream composes, and how many composites are being made. On the strand.
///
/// The first composite is a trial: until it has been made and removed again no second one is begun,
/// and groups are read one by one. Where this job may create but not remove, or the bucket's
/// retention forbids it, one object is left, and not one for each request in flight.
class composer {
 public:
  /// `wake`: a composite may be begun. Outlives what it is asked to begin, as `core` outlives it.
  composer(transfer_state& core, std::string bucket, const compose_options& options,
           unique_function<void()> wake);

  transfer_state& core() const noexcept { return core_; }
  const std::string& bucket() const noexcept { return bucket_; }
  std::size_t min_objects() const noexcept;
  /// An empty group with the limits that hold here.
  composite_group group() const noexcept;
  /// It has not been given up.
  bool on() const noexcept { return is_ != state::off; }
  /// One more group may be started: composing holds no place among the engine's reads.
  bool idle() const noexcept;

  /// Whether a group that is started now is to be composed; if so, `made` or `refused` follows, and
  /// after `made`, or where one was made all the same, `removed`.
  bool begin();
  compose_request request();
  void made();
  void refused(const error& why);
  void removed(const result<void>& outcome, std::string_view name);
  /// The composite of that name may still be there, because of `why`.
  void left(const error& why, std::string_view name);

 private:
  enum class state : std::uint8_t { untried, trial, on, off };
  void ended();
  void give_up(const error& why);
  void say(const std::string& line) const;

  transfer_state& core_;
  const std::string bucket_;
  const compose_options options_;
  unique_function<void()> wake_;
  state is_{state::untried};
  std::size_t under_way_{0};
  int refusals_{0};  ///< since the last success
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/composer.ipp>
#endif
