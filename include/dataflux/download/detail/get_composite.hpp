#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/deadline.hpp>
#include <dataflux/download/detail/composer.hpp>
#include <dataflux/download/detail/get_unit.hpp>
#include <dataflux/result.hpp>
#include <dataflux/store/detail/coordinator.hpp>
#include <dataflux/unique_function.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Several whole objects by way of one that the service composes of them. On the strand
/// of its stream; kept alive by its requests.
///
/// Whatever goes wrong with the composite, what lacks its bytes is read from its own object, so
/// that a piece fails only when that does. Once made, the composite is removed on every path, and
/// so is one of which nobody knows whether it was made. That and the composing itself are not
/// stopped with the reads: a request that is given up may still be carried out after the
/// stat.
class get_composite final : public coordinator<get_composite> {
 public:
  /// What it tells its owner.
  struct owner {
    read_member& whose;  ///< the reads are
    /// Gives a piece its memory; false, and the piece has failed, when there is none.
    unique_function<bool(get_piece&)> place;
    /// It is read from now on, by the limits; perhaps inside begin().
    unique_function<void()> reads;
    /// The pieces are the owner's again. Perhaps inside start().
    unique_function<void()> done;
    /// Nothing is left of the composite, or it was reported. After `done`, or before.
    unique_function<void()> gone;
  };

  get_composite(composer& from, std::span<get_piece> pieces, call_limits limits, owner told)
      : coordinator(from.core().engine.store(), from.core().strand, std::move(limits)),
        composer_(from),
        pieces_(pieces),
        owner_(std::move(told)) {}
  void begin();

 private:
  void composed(const result<object_metadata>& outcome);
  void read();
  void got_slices();
  static bool adopt(get_piece& piece, const get_piece& slice);

  void read_each();
  void read_missing();
  void leave_missing(errc code, const std::string& why);
  void read_one(get_piece& p);
  void read_ranges(get_piece& p);
  template <class Summary>
  void was_read(get_piece& p, const result<Summary>& outcome);
  void one_ended();

  void stat(const error& why);
  void remove();
  void end();

  composer& composer_;
  const std::span<get_piece> pieces_;
  owner owner_;
  std::string name_{};
  std::int64_t generation_{0};
  /// The pieces as they lie in the composite; their memory is the pieces'.
  std::vector<get_piece> slices_{};
  std::vector<get_piece*> missing_{};
  std::deque<span_sink> sinks_{};
  std::size_t reading_{0};  ///< pieces, from their own objects
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_composite.ipp>
#endif
