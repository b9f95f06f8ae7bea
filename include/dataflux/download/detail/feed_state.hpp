#pragma once

#include <dataflux/detail/process_stamp.hpp>
#include <dataflux/download/detail/piece_source.hpp>
#include <dataflux/download/getter.hpp>
#include <dataflux/store/object_columns.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Requests between those who push them and the stream that takes them. Any thread. The
/// stream is woken under its lock, which only posts, so that close() is the last that it hears of.
/// In the child of a fork it takes and gives nothing, without a lock.
class feed_state {
 public:
  feed_state(object_columns objects, std::size_t most);

  // Those who push.
  std::size_t push(std::span<get_request> requests);
  std::size_t push_rows(std::span<const std::uint64_t> rows);
  void finish();

  // The stream.
  void attach(const std::shared_ptr<get_stream>& stream);
  taken take(get_piece& into);
  /// The stream is over: nothing is wanted any more.
  void close();

 private:
  struct entry {
    get_request request{};
    std::optional<std::uint64_t> row{};  ///< in place of the request
  };
  template <class Item, class Make>
  std::size_t push(std::span<Item> items, Make make);

  const process_stamp born_{};
  const std::size_t most_;
  const std::shared_ptr<const get_rows> rows_;
  std::mutex mutex_{};
  std::deque<entry> waiting_{};
  std::weak_ptr<get_stream> stream_{};
  bool finished_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/feed_state.ipp>
#endif
