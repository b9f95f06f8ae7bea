#pragma once

#include <dataflux/download/detail/composer.hpp>
#include <dataflux/download/detail/get_outbox.hpp>
#include <dataflux/download/detail/get_unit.hpp>
#include <dataflux/download/get_request.hpp>
#include <dataflux/transfer/ranged_read_request.hpp>
#include <dataflux/transfer/transfer_state.hpp>
#include <dataflux/transfer/window.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

/// Private: the stream of a getter. All of it happens on home, in one task for whatever has
/// occurred since the last one, but for wake(), cancel(), and the outbox.
class get_stream final : public read_member, public std::enable_shared_from_this<get_stream> {
 public:
  get_stream(std::shared_ptr<transfer_state> core, std::string bucket, get_source source,
             const get_many_options& options);
  void begin();
  /// On any thread.
  void wake() override;
  void cancel();
  get_outbox& outbox() noexcept { return outbox_; }
  scheduler& home() const noexcept { return core_->home; }

 private:
  struct stopper {
    std::weak_ptr<get_stream> stream;
    void operator()() const noexcept {
      if (const auto alive = stream.lock()) alive->cancel();
    }
  };
  void on_home();
  void pump();
  void learn();
  void fill();
  void hand_over();
  void stop(error why, bool drop);
  void settle();

  void pull();
  void add(std::unique_ptr<get_unit> unit);
  bool next_request();
  bool groups(const get_piece& p) const noexcept;
  void gather(get_unit& unit);
  void add_sources(std::unique_ptr<get_unit> unit);
  void start(get_unit& unit, std::uint64_t bytes);
  /// Where the piece's bytes go; false, and it has failed, if there is no memory.
  bool place(get_piece& p, std::uint64_t length);
  void read(get_unit& unit);
  void read_part(get_unit& unit, std::uint64_t most);
  void read_ranges(get_unit& unit);
  std::uint64_t slice_of(std::uint64_t length) const;
  void read_group(get_unit& unit);
  void read_composite(get_unit& unit);
  call_limits limits(const get_unit& unit) const;

  bool ended(get_unit& unit);
  void got(get_unit& unit, const result<read_summary>& outcome);
  void got_part(get_unit& unit, const result<read_summary>& outcome);
  void got_ranges(get_unit& unit, const result<ranged_read_summary>& outcome);
  void fail(get_unit& unit, const error& why);
  void done(get_unit& unit);
  void ready(get_unit& unit);
  void drop(std::uint64_t number);
  void forget(get_unit& unit);
  void release(get_unit& unit);

  get_unit& at(std::uint64_t number) noexcept {
    return *units_[static_cast<std::size_t>(number - first_)];
  }
  std::unique_ptr<get_unit> fresh_unit();

  const std::shared_ptr<transfer_state> core_;
  const std::string bucket_;
  get_source source_;
  const get_many_options options_;
  get_outbox outbox_;
  std::atomic<bool> posted_{false};
  std::atomic<bool> cancelled_{false};
  std::optional<std::stop_callback<stopper>> on_stop_{};
  std::stop_source stop_{};
  timer_id timer_{timer_id::none};
  std::optional<read_window> window_{};
  /// By number from `first_` on; empty where the reader has had it.
  std::deque<std::unique_ptr<get_unit>> units_{};
  std::uint64_t first_{0};
  std::uint64_t next_put_{0};  ///< in order: what is handed over next
  std::vector<std::unique_ptr<get_unit>> spare_{};
  std::vector<get_unit*> ready_{};  ///< as ready: to be handed over
  std::vector<get_unit*> batch_{};
  std::vector<get_event> events_{};
  std::optional<composer> composer_{};
  std::optional<get_piece> next_{};  ///< pulled, and not in a unit yet
  std::uint64_t pulled_{0};
  std::size_t in_flight_{0};
  std::size_t unput_{0};  ///< units that the outbox has not
  bool exhausted_{false};
  bool finished_{false};
  bool stopped_{false};
  bool settled_{false};
};

}  // namespace dataflux::inline DATAFLUX_ABI::detail

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/download/impl/get_stream.ipp>
#include <dataflux/download/impl/get_stream_composites.ipp>
#include <dataflux/download/impl/get_stream_reads.ipp>
#endif
