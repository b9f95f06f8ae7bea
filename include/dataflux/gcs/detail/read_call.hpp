#pragma once

#include <dataflux/gcs/detail/call.hpp>
#include <dataflux/gcs/detail/read_verb.hpp>
#include <dataflux/gcs/detail/repeat_rules.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstdint>
#include <optional>

namespace dataflux::inline DATAFLUX_ABI::gcs::detail {

/// A read: its body goes to the caller's sink, checksummed on the way while it is in the cache, and
/// an attempt that breaks off is resumed at the byte reached, of the same generation. A
/// decompressed body can be neither resumed nor compared: it begins anew, and its end is that of
/// the reply.
class read_call final : public call, private byte_sink {
 public:
  using completion = object_store::completion<read_summary>;

  static void start(ref<client_core> core, const read_request& request, byte_sink& sink,
                    completion done);

 private:
  friend class call;
  explicit read_call(const buffer_pool& buffers) : call(buffers, verb_number<read_verb>) {}
  bool recycled() const noexcept override { return true; }

  const verb_info& info() const noexcept override { return read_verb::info; }
  /// A read that has begun is about the generation that it is pinned to.
  call_identity identity() const noexcept override {
    call_identity about = read_verb::identity(request_);
    if (begun_) about.generation = summary_.generation;
    return about;
  }
  bool repeatable() const noexcept override { return true; }
  void build() override { read_verb::build(core().context(), request_, cursor_, request); }
  /// 416 may mean an empty object; parse_head() tells.
  bool accepts(int status) const noexcept override {
    return status == 200 || status == 206 || status == 416;
  }
  DATAFLUX_INLINE result<byte_sink*> open_body(const http::reply_head& head) override;
  DATAFLUX_INLINE result<progress> take_reply() override;
  DATAFLUX_INLINE result<void> prepare_retry() override;
  DATAFLUX_INLINE void conclude(std::optional<error> failure) noexcept override;

  result<void> begin_body(const read_head& head);
  result<void> start_over();

  DATAFLUX_INLINE result<void> expect(std::uint64_t length) override;
  DATAFLUX_INLINE bytes_span prepare(std::size_t wanted) override;
  DATAFLUX_INLINE result<void> commit(std::size_t count) override;
  DATAFLUX_INLINE result<void> rewind(std::uint64_t offset) override;

  read_request request_{};
  byte_sink* sink_{nullptr};
  completion done_{};
  read_cursor cursor_{};
  /// Of the first reply; later ones continue it.
  std::uint64_t first_offset_{0};
  std::uint64_t expected_{0};  ///< byte_range::to_end when the reply does not know either
  std::uint64_t received_{0};
  std::uint32_t crc_{0};
  std::byte* borrowed_{nullptr};
  bool begun_{false};
  bool mismatched_{false};
  read_summary summary_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::gcs::detail
