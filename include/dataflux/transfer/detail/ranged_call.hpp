#pragma once

#include <dataflux/byte_sink.hpp>
#include <dataflux/codec/crc32c.hpp>
#include <dataflux/store/object_store.hpp>
#include <dataflux/transfer/ranged_read_request.hpp>
#include <dataflux/transfer/read_engine.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: one ranged read. On the home of its engine; kept alive by its slices.
class ranged_call final : public std::enable_shared_from_this<ranged_call> {
 public:
  using completion = object_store::completion<ranged_read_summary>;

  ranged_call(read_engine& engine, ranged_read_request request, bytes_span into, completion done,
              read_member* whose);
  void pump();
  void end();

 private:
  /// Passes a stop of the caller's on. On any thread.
  struct forward {
    std::stop_source* target;
    void operator()() const noexcept { target->request_stop(); }
  };

  std::uint64_t begin_of(std::size_t slice) const noexcept;
  void read(std::size_t slice);
  void arrived(std::size_t slice, std::int64_t asked, const result<read_summary>& outcome);
  std::optional<error> take(std::size_t slice, const read_summary& summary);
  std::optional<error> verify();
  error described(errc code, const std::string& what) const;

  read_engine& engine_;
  read_member own_{};
  read_member* const member_;
  ranged_read_request request_;
  const bytes_span into_;
  completion done_;
  const time_point deadline_;
  std::stop_source stop_{};
  std::optional<std::stop_callback<forward>> on_stop_;
  std::vector<codec::crc32c_accumulator> checksums_;  ///< by slice
  std::vector<std::size_t> again_{};                  ///< slices of another generation
  std::size_t next_{0};
  std::size_t in_flight_{0};
  std::optional<std::uint32_t> object_crc32c_;
  ranged_read_summary summary_{};
  std::optional<error> failure_{};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/transfer/impl/ranged_call.ipp>
#endif
