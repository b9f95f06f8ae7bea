#pragma once

#include <dataflux/codec/detail/utf8.hpp>
#include <dataflux/detail/collecting_sink.hpp>
#include <dataflux/list/detail/share_board.hpp>

#include <memory>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail {

inline constexpr std::size_t longest_share_object = std::size_t{16} << 20U;
/// Names on the board have a kind, a task and a token behind it, in 1,024 bytes.
inline constexpr std::size_t longest_board_prefix = 512;

DATAFLUX_INLINE void start_read_share(object_store& store, const read_request& request,
                                      object_store::completion<std::string> done) {
  auto memory = std::make_shared<collecting_sink>(buffer_pool{0});
  memory->reset(longest_share_object, collecting_sink::excess::refuse);
  byte_sink& sink = *memory;
  store.start(
      request, sink,
      [memory = std::move(memory), done = std::move(done)](result<read_summary> outcome) mutable {
        if (!outcome) return done(std::move(outcome).error());
        done(std::string(as_text(memory->bytes())));
      });
}

DATAFLUX_INLINE result<void> check_share_place(const share_place& at) {
  const auto bad = [](std::string why) { return error{errc::invalid_argument, std::move(why)}; };
  if (at.bucket.empty()) return bad("board_bucket: is empty");
  if (at.prefix.empty()) return bad("board_prefix: is empty");
  if (at.prefix.size() > longest_board_prefix) {
    return bad("board_prefix: has " + std::to_string(at.prefix.size()) + " bytes, of at most " +
               std::to_string(longest_board_prefix));
  }
  if (!codec::is_valid_utf8(at.prefix)) return bad("board_prefix: must be UTF-8");
  if (at.lease < duration{0}) return bad("lease: is negative");
  return {};
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail
