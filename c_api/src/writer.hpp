#pragma once

#include "operation.hpp"
#include "told_once.hpp"

#include <dataflux/checkpoint/checkpoint_writer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

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

  /// Held by the thread that is inside; nobody waits for it.
  class turn {
   public:
    explicit turn(writer_state& of) noexcept : taken_(!of.busy_.exchange(true)), of_(of) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() {
      if (taken_) of_.busy_.store(false);
    }
    result<void> granted() const;

   private:
    const bool taken_;
    writer_state& of_;
  };

  // Within a turn.
  dataflux::checkpoint_writer& writer() noexcept { return *writer_; }
  enum class how : std::uint8_t { done, interrupted };
  /// `taken` is right after an error, too.
  result<how> write(dataflux::bytes_view bytes, std::int64_t timeout_ns, std::size_t& taken);
  result<how> lend(dataflux::bytes_view bytes, std::int64_t timeout_ns, std::size_t& taken,
                   const std::shared_ptr<queue_state>& queue, std::uint64_t tag);
  result<void> notify(const std::shared_ptr<queue_state>& queue, std::uint64_t tag);

  const std::shared_ptr<client_state> client;

 private:
  template <class Try>
  result<how> take_all(dataflux::bytes_view bytes, std::int64_t timeout_ns, std::size_t& taken,
                       Try some_of);
  result<how> wait_for_room(dataflux::duration limit);

  struct asked {
    std::shared_ptr<queue_state> queue;  ///< which the writer may ring as long as it lives
    std::uint64_t number;
    std::shared_ptr<told_once> source;
  };

  std::stop_source stop_{};
  std::atomic<bool> busy_{false};
  std::vector<asked> asked_{};
  std::optional<dataflux::completion_queue> bell_{};  ///< of who waits inside
  bool rings_{false};                                 ///< the bell was asked for
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

struct dataflux_writer : dataflux_c::handle {
  explicit dataflux_writer(std::shared_ptr<dataflux_c::writer_state> s) noexcept
      : state(std::move(s)) {}
  ~dataflux_writer() { state->end(); }
  dataflux_writer(const dataflux_writer&) = delete;
  dataflux_writer& operator=(const dataflux_writer&) = delete;
  const std::shared_ptr<dataflux_c::writer_state> state;
};
