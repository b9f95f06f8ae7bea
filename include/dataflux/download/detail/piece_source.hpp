#pragma once

#include <dataflux/download/detail/get_unit.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/store/object_columns.hpp>
#include <dataflux/unique_function.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Where the next requests of a stream come from: fills in `request` and `name`. As
/// get_source. After taken::nothing it is asked again when the stream is woken.
using piece_source = unique_function<taken(get_piece&)>;

piece_source pieces_of(get_source source);
piece_source pieces_of(std::vector<get_request> requests);
piece_source pieces_of(object_columns objects);
/// Rows by their numbers.
piece_source pieces_of(object_columns objects, std::vector<std::uint64_t> rows);

class get_stream;

/// Wakes the stream that reads from a board, if it is still there. Under the board's lock, behind
/// which its close() waits: the stream's executor is there as long as that has not been called. The
/// reference that is given may be the last: it goes without the lock.
std::shared_ptr<get_stream> wake(const std::weak_ptr<get_stream>& stream);

/// Asks a board, which hears of the end of the stream by its destruction.
template <class Board>
class source_from {
 public:
  explicit source_from(std::shared_ptr<Board> board) noexcept : board_(std::move(board)) {}
  source_from(source_from&&) noexcept = default;
  source_from& operator=(source_from&&) = delete;
  ~source_from() {
    if (board_ != nullptr) board_->close();
  }
  taken operator()(get_piece& into) { return board_->take(into); }

 private:
  std::shared_ptr<Board> board_;
};

/// Objects of which rows are named.
struct get_rows {
  object_columns objects{};
};

/// A request as a piece.
void fill_piece(get_request request, get_piece& into);
/// The same of the row of that number, which is refused where there is none. The name stays in
/// `from`, which the piece keeps.
void fill_piece(std::uint64_t row, const std::shared_ptr<const get_rows>& from, get_piece& into);

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/piece_source.ipp>
#endif
