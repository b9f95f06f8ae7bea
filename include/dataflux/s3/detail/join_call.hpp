#pragma once

#include <dataflux/detail/ref.hpp>
#include <dataflux/exec/detail/call_clock.hpp>
#include <dataflux/s3/detail/copy_part_verb.hpp>
#include <dataflux/service/detail/client_core.hpp>
#include <dataflux/store/change_requests.hpp>
#include <dataflux/store/multipart_requests.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail::s3 {

/// Below that only the last part of an upload may be.
inline constexpr std::uint64_t least_joined_part = 5ULL << 20U;

/// An object whose bytes come next.
struct join_source {
  std::string bucket{};
  std::string object{};
  std::int64_t generation{0};  ///< 0 = the one that is there
  preconditions conditions{};
};

/// What a join_call makes of its sources.
struct join_request {
  std::vector<join_source> sources{};
  std::string bucket{};
  std::string object{};
  object_attributes attributes{};
  /// The first source's attributes, where none are given.
  bool keeps_attributes{false};
  std::optional<std::uint32_t> crc32c{};  ///< of the whole, where it is known
  preconditions conditions{};
  call_limits limits{};
};

/// A part that is copied: some bytes of one source. Or one that is sent: bytes of several.
struct join_piece {
  struct extent {
    std::size_t source{0};
    std::uint64_t offset{0};
    std::uint64_t length{0};
  };
  std::vector<extent> extents{};
  bool sent{false};

  std::uint64_t length() const noexcept {
    std::uint64_t sum = 0;
    for (const extent& each : extents) sum += each.length;
    return sum;
  }
};

/// Cuts the sources, one behind the other, into parts: each but the last is at least `least` bytes
/// long, none longer than `most` (at least twice `least`), and there are at most 10,000. What is
/// too small to be a part is sent, together with what follows, and never more than `least` bytes
/// together. Pure. The sizes are together at most greatest_object.
std::vector<join_piece> plan_join(std::span<const std::uint64_t> sizes, std::uint64_t least,
                                  std::uint64_t most);

/// Makes one object of others, or of their one, by an upload whose parts the service copies
/// (s3-protocol.md 5): where a copy is too large for one request, or has a condition that
/// the server keeps at the end of an upload alone; and in place of a compose.
///
/// stat of each source, begin, parts (8 at a time), complete under the conditions. Sources are read
/// in the state that the stat has found. Where all have a CRC32C, that of the parts has to be
/// theirs. More than an object can have is out_of_range before the upload begins. After a failure
/// the upload is aborted. All completions come on one executor.
class join_call final : public std::enable_shared_from_this<join_call> {
 public:
  using completion = object_store::completion<object_metadata>;

  join_call(ref<service::client_core> core, join_request what, completion done);
  void start();

 private:
  template <class Verb, class Step>
  void send(typename Verb::request request, Step step);
  template <class Step>
  void back(Step step);
  void stat_next();
  result<void> take_source(object_metadata found);
  void begin_upload();
  void send_parts();
  void copy_part(std::uint32_t number, const join_piece& piece);
  void read_part(std::uint32_t number, std::shared_ptr<std::vector<std::byte>> bytes,
                 std::size_t extent, std::size_t at);
  void send_part(std::uint32_t number, const std::shared_ptr<std::vector<std::byte>>& bytes);
  void part_ended(result<uploaded_part> part);
  std::optional<std::uint32_t> crc32c_of_sources() const;
  void complete();
  void fail(error why);
  void end_failed();

  ref<service::client_core> core_;
  scheduler& on_;
  const join_request what_;
  const call_clock clock_;
  completion done_;
  std::vector<object_metadata> found_{};
  std::uint64_t total_{0};  ///< of their sizes
  std::vector<join_piece> pieces_{};
  multipart_upload upload_{};
  std::vector<uploaded_part> parts_{};
  std::size_t next_{0};
  std::size_t in_flight_{0};
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::s3

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/s3/impl/join_call.ipp>
#endif
