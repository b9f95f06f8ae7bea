#pragma once

#include <dataflux/bytes.hpp>
#include <dataflux/download/batch_getter.hpp>
#include <dataflux/download/detail/get_unit.hpp>
#include <dataflux/download/detail/piece_source.hpp>
#include <dataflux/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// The rows of one batch that was pushed: what each of them is, and where its bytes go. No lock.
class batch_rows {
 public:
  batch_rows() = default;
  /// Errors: invalid_argument, as batch_getter::push_rows() says. The rows are in `of`.
  static result<batch_rows> of_numbers(std::span<const std::uint64_t> numbers,
                                       const batch_memory& where,
                                       const std::shared_ptr<const get_rows>& of);
  /// Takes from the requests where it does not fail.
  static result<batch_rows> of_requests(std::span<get_request> requests, const batch_memory& where);

  std::size_t size() const noexcept { return count_; }
  bytes_span memory() const noexcept { return memory_; }
  /// Makes row `i` a piece, once: one that cannot be read is refused.
  void fill(std::size_t i, get_piece& into);

 private:
  result<void> place(const batch_memory& where);
  bytes_span room(std::size_t i) const noexcept;

  std::size_t count_{0};
  std::vector<std::uint64_t> numbers_{};
  std::shared_ptr<const get_rows> of_{};  ///< whose numbers they are
  std::vector<get_request> requests_{};   ///< in place of numbers
  bytes_span memory_{};
  std::vector<std::uint64_t> offsets_{};
  std::uint64_t stride_{0};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/batch_rows.ipp>
#endif
