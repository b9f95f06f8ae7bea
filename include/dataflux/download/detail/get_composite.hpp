#pragma once

#include <dataflux/byte_sink.hpp>
#include <dataflux/download/detail/composer.hpp>
#include <dataflux/download/detail/get_unit.hpp>
#include <dataflux/exec/continuation.hpp>
#include <dataflux/result.hpp>
#include <dataflux/transfer/ranged_read_request.hpp>
#include <dataflux/unique_function.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: several whole objects by way of one that the service composes of them. On home; kept
/// alive by its requests.
///
/// Whatever goes wrong with the composite, what lacks its bytes is read from its own object, so
/// that a piece fails only when that does. Once made, the composite is removed on every path, and
/// so is one of which nobody knows whether it was made. That and the composing itself are not
/// stopped with the reads: a request that is given up may still be carried out after we have
/// looked.
class get_composite final : public std::enable_shared_from_this<get_composite> {
 public:
  /// What it tells its owner.
  struct owner {
    read_member& whose;  ///< the reads are
    /// Gives a piece its memory; false, and the piece has failed, when there is none.
    unique_function<bool(get_piece&)> place;
    /// The pieces are the owner's again. Perhaps inside start().
    unique_function<void()> done;
    /// Nothing is left of the composite, or it was reported. After `done`, or before.
    unique_function<void()> gone;
  };

  get_composite(composer& from, std::span<get_piece> pieces, std::stop_token stop, owner told)
      : composer_(from), pieces_(pieces), stop_(std::move(stop)), owner_(std::move(told)) {}
  void start();

 private:
  void composed(const result<object_metadata>& outcome);
  void read();
  void got_slices();
  static bool adopt(get_piece& piece, const get_piece& slice);

  void read_each();
  void read_missing();
  void read_one(get_piece& p);
  void read_ranges(get_piece& p);
  void one_ended();

  void look(const error& why);
  void remove();
  void end();

  scheduler& home() const noexcept { return composer_.core().home; }
  /// A completion of the store's, which comes on any thread, made one that runs on home.
  template <class T, class Then>
  object_store::completion<T> at_home(Then then) {
    return continue_on<T>(home(), shared_from_this(), std::move(then));
  }

  composer& composer_;
  const std::span<get_piece> pieces_;
  const std::stop_token stop_;
  owner owner_;
  std::string name_{};
  std::int64_t generation_{0};
  /// The pieces as they lie in the composite; their memory is the pieces'.
  std::vector<get_piece> slices_{};
  std::vector<get_piece*> missing_{};
  std::deque<span_sink> sinks_{};
  std::size_t in_flight_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_composite.ipp>
#endif
