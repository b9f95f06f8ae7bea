#pragma once

#include <dataflux/service/detail/call.hpp>
#include <dataflux/service/detail/read_head.hpp>
#include <dataflux/store/object_store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace dataflux::inline DATAFLUX_ABI::detail::service {

/// What does not depend on the verb, so that it is compiled once.
///
/// A read: its body goes to the caller's sink, checksummed on the way while it is in the cache, and
/// an attempt that breaks off is resumed at the byte reached, of the same generation. A
/// decompressed body can be neither resumed nor compared: it begins anew, and its end is that of
/// the reply.
class reading_call : public call, private byte_sink {
 public:
  using completion = object_store::completion<read_summary>;

 protected:
  using call::call;
  /// Forgets an earlier read, and launches this one.
  DATAFLUX_INLINE void begin(const read_request& what, byte_sink& sink, completion done);

  /// Which bytes the reply has, held against cursor().
  virtual result<read_head> parse_head(const http::reply_head& head) const = 0;
  /// What the service does not have, beyond validate().
  virtual result<void> check() { return {}; }

  const read_request& asked() const noexcept { return request_; }
  const read_cursor& cursor() const noexcept { return cursor_; }
  /// A read that has begun is about the generation that it is pinned to.
  std::int64_t pinned() const noexcept { return begun_ ? summary_.generation : asked().generation; }

 private:
  bool recycled() const noexcept override { return true; }
  bool repeatable() const noexcept override { return true; }
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
  bool satisfied() const noexcept override { return sink_->satisfied(); }
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
  std::optional<codec::checksum_run> other_{};  ///< of a whole object without a CRC32C
  std::string etag_{};                          ///< of the first reply
  std::byte* borrowed_{nullptr};
  bool begun_{false};
  bool mismatched_{false};
  read_summary summary_{};
};

/// A read by that verb of a service.
template <class Dialect, class Verb>
class read_call final : public reading_call {
 public:
  static void start(ref<client_core> core, const read_request& request, dataflux::byte_sink& sink,
                    completion done) {
    const ref<read_call> made = take<read_call>(std::move(core), Verb::info);
    made->begin(request, sink, std::move(done));
  }

 private:
  friend class call;
  explicit read_call(const buffer_pool& buffers)
      : reading_call(buffers, Dialect::template number_of<Verb>) {}

  const verb_info& info() const noexcept override { return Verb::info; }
  call_identity identity() const noexcept override {
    call_identity about = Verb::identity(asked());
    about.generation = pinned();
    return about;
  }
  void build() override {
    Verb::build(static_cast<const Dialect&>(*core().dialect).context(), asked(), cursor(), request);
  }
  result<read_head> parse_head(const http::reply_head& head) const override {
    if constexpr (requires { Verb::parse_head(asked(), cursor(), head); }) {
      return Verb::parse_head(asked(), cursor(), head);
    } else {
      return Verb::parse_head(cursor(), head);
    }
  }
  result<void> check() override {
    const auto& how = static_cast<const Dialect&>(*core().dialect);
    if constexpr (requires { Verb::check(how.context(), asked()); }) {
      return Verb::check(how.context(), asked());
    }
    return {};
  }
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail::service

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/service/impl/read_call.ipp>
#endif
