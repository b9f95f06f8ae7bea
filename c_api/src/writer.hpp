#pragma once

#include "operation.hpp"
#include "told_once.hpp"

#include <dataflux/checkpoint/checkpoint_writer.hpp>
#include <dataflux/checkpoint/detail/writer_state.hpp>
#include <dataflux/exec/detail/turn.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace dataflux_c {

/// What lies behind a writer. The client ends its upload when it is closed.
class writer_state final : public cancellable {
 public:
  explicit writer_state(std::shared_ptr<client_state> c) : client(std::move(c)) {}

  /// Of the whole upload.
  std::stop_token token() const noexcept { return stop_.get_token(); }
  void cancel() noexcept override { stop_.request_stop(); }
  void begin(dataflux::checkpoint_writer opened) { writer_.emplace(std::move(opened)); }
  /// Aborts what was not committed.
  void end();

  dataflux::detail::turn take_turn() noexcept { return dataflux::detail::turn(busy_); }

  // Within a turn.
  dataflux::checkpoint_writer& writer() noexcept { return *writer_; }
  using how = dataflux::detail::write_end;
  /// `taken` is right after an error, too.
  result<how> write(dataflux::bytes_view bytes, std::int64_t timeout_ns, std::size_t& taken);
  result<how> lend(dataflux::bytes_view bytes, std::int64_t timeout_ns, std::size_t& taken,
                   const std::shared_ptr<queue_state>& queue, std::uint64_t tag);
  result<void> notify(const std::shared_ptr<queue_state>& queue, std::uint64_t tag);

  const std::shared_ptr<client_state> client;

 private:
  std::stop_source stop_{};
  std::atomic<bool> busy_{false};
  told_of_room asked_{};
  std::optional<dataflux::checkpoint_writer> writer_{};
};

/// Opens a writer.
class open_writer final : public giving_operation<dataflux::checkpoint_writer> {
 public:
  open_writer(std::uint64_t tag, std::shared_ptr<writer_state> w) noexcept
      : giving_operation(tag), writer(std::move(w)) {}
  const std::shared_ptr<writer_state> writer;
};

/// Gives an object by its writer.
class commit_operation final : public typed_operation<dataflux::committed_object> {
 public:
  using typed_operation::typed_operation;
  const dataflux::committed_object* made() const noexcept { return value_ ? &*value_ : nullptr; }

 protected:
  void describe(dataflux_record& r) const override;
  std::string make_json() const override;
};

/// All but which object.
result<dataflux::upload_request> upload_of(const dataflux_writer_options& o);

/// Begins to open a writer: `start` gives the operation, by a request that the client can end.
template <class Start>
result<void> begin_writer(const std::shared_ptr<client_state>& client,
                          dataflux::upload_request request, dataflux_queue* queue,
                          std::uint64_t tag, dataflux_operation** out, Start start) {
  const auto writer = std::make_shared<writer_state>(client);
  if (auto watched = client->watch(*writer); !watched) return watched;
  request.limits.stop = writer->token();
  return begin_operation<open_writer>(
      client, queue, tag, out, [&](client_state& c) { return start(c, std::move(request)); },
      writer);
}

}  // namespace dataflux_c

struct dataflux_writer : dataflux_c::owning_handle<dataflux_c::writer_state> {
  using owning_handle::owning_handle;
};
