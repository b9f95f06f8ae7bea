#include "operation.hpp"
#include "told_once.hpp"

#include <dataflux/codec/detail/json_writer.hpp>
#include <dataflux/exec/detail/turn.hpp>
#include <dataflux/shard/detail/shard_writer_state.hpp>
#include <dataflux/shard/shard_writer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataflux_c {

using dataflux::shard_writer;
using writes = dataflux::detail::shard::interruptible_writes;

/// What lies behind a writer of shards. The client ends it when it is closed.
class shard_writer_state final : public cancellable {
 public:
  explicit shard_writer_state(std::shared_ptr<client_state> c) : client(std::move(c)) {}

  std::stop_token token() const noexcept { return stop_.get_token(); }
  void cancel() noexcept override { stop_.request_stop(); }
  void begin(shard_writer opened) { writer_.emplace(std::move(opened)); }
  /// Discards what was not finished.
  void end() {
    asked_.end();
    writer_.reset();
  }
  dataflux::detail::turn take_turn() noexcept { return dataflux::detail::turn(busy_); }

  // Within a turn.
  shard_writer& writer() noexcept { return *writer_; }
  std::vector<dataflux::sample_field>& fields() noexcept { return fields_; }
  result<void> notify(const std::shared_ptr<queue_state>& queue, std::uint64_t tag) {
    return asked_.ask(queue, tag, [this](dataflux::completion_queue& events, std::uint64_t number) {
      writer_->notify(events, number);
    });
  }

  const std::shared_ptr<client_state> client;

 private:
  std::stop_source stop_{};
  std::atomic<bool> busy_{false};
  told_of_room asked_{};
  std::vector<dataflux::sample_field> fields_{};
  std::optional<shard_writer> writer_{};
};

namespace {

using dataflux::detail::codec::json_writer;

void write_resumed(json_writer& w, const dataflux::resumed_shards& found) {
  w.begin_object().key("shards").natural(found.shards).key("samples").natural(found.samples);
  w.key("bytes").natural(found.bytes).end_object();
}

/// Opens a writer.
class open_shard_writer final : public giving_operation<shard_writer> {
 public:
  open_shard_writer(std::uint64_t tag, std::shared_ptr<shard_writer_state> w) noexcept
      : giving_operation(tag), writer(std::move(w)) {}
  const std::shared_ptr<shard_writer_state> writer;

 protected:
  void describe(dataflux_record& r) const override {
    if (value_) r.size = value_->resumed().samples;
  }
  std::string make_json() const override {
    if (!value_) return {};
    json_writer w;
    write_resumed(w, value_->resumed());
    return std::move(w).take();
  }
};

std::string_view name_of(dataflux::shard_end ended) noexcept {
  switch (ended) {
    case dataflux::shard_end::count:
      return "count";
    case dataflux::shard_end::bytes:
      return "bytes";
    case dataflux::shard_end::finished:
      break;
  }
  return "finished";
}

void describe(const dataflux::shard_writer_summary& made, dataflux_record& r) {
  r.size = made.samples;
}
std::string json_of(const dataflux::shard_writer_summary& made) {
  json_writer w;
  w.begin_object().key("samples").natural(made.samples).key("bytes").natural(made.bytes);
  w.key("resumed");
  write_resumed(w, made.resumed);
  w.key("shards").begin_array();
  for (const dataflux::written_shard& each : made.written) {
    w.begin_object().key("name").string(each.name).key("samples").natural(each.samples);
    w.key("bytes").natural(each.bytes).key("crc32c").natural(each.crc32c);
    w.key("generation").natural(static_cast<std::uint64_t>(each.generation));
    w.key("ended").string(name_of(each.ended)).end_object();
  }
  w.end_array().end_object();
  return std::move(w).take();
}
using finish_operation = report_operation<dataflux::shard_writer_summary, describe, json_of>;

result<dataflux::shard_writer_request> shard_writer_of(const dataflux_shard_writer_options& o) {
  if (o.bucket == nullptr) return missing("bucket");
  if (o.pattern == nullptr) return missing("pattern");
  dataflux::shard_writer_request r;
  r.bucket = o.bucket;
  r.pattern = o.pattern;
  r.count = o.count;
  r.bytes = o.bytes;
  r.first = o.first;
  r.rank = o.rank;
  r.ranks = o.ranks == 0 ? 1 : o.ranks;
  r.resume = o.resume != 0;
  return r;
}

result<void> take_fields(const dataflux_field_bytes* from, std::size_t count,
                         std::vector<dataflux::sample_field>& to) {
  to.clear();
  if (from == nullptr && count > 0) return missing("fields");
  for (std::size_t i = 0; i < count; ++i) {
    const dataflux_field_bytes& each = from[i];
    if (each.name == nullptr && each.name_size > 0) return missing("the name of a field");
    if (each.data == nullptr && each.size > 0) return missing("the data of a field");
    to.push_back({{each.name, static_cast<std::size_t>(each.name_size)},
                  {static_cast<const std::byte*>(each.data), static_cast<std::size_t>(each.size)}});
  }
  return {};
}

}  // namespace

}  // namespace dataflux_c

struct dataflux_shard_writer : dataflux_c::owning_handle<dataflux_c::shard_writer_state> {
  using owning_handle::owning_handle;
};

namespace dataflux_c {

namespace {

/// Runs `body` within the writer's turn; it gives how the call ended.
template <class Body>
dataflux_status in_turn(dataflux_shard_writer* writer, dataflux_error** err, Body body) noexcept {
  auto ended = writes::end::all;
  const dataflux_status status = guarded(err, [&]() -> result<void> {
    if (auto good = usable(writer, "writer"); !good) return good;
    const auto state = writer->state;  // who hears of it may free the writer
    const auto mine = state->take_turn();
    if (auto good = mine.granted(); !good) return good;
    auto outcome = body(*state);
    if (!outcome) return std::move(outcome).error();
    ended = *outcome;
    return {};
  });
  const bool interrupted = ended == writes::end::interrupted;
  return status == DATAFLUX_OK && interrupted ? DATAFLUX_INTERRUPTED : status;
}

/// One of the two: until it is done, or a signal comes; or what can be done now.
template <class Wait, class Try>
result<writes::end> attempt(std::uint32_t wait, std::int32_t* done, Wait waiting, Try trying) {
  if (wait != 0) {
    const result<writes::end> ended = waiting();
    if (ended && *ended == writes::end::all) *done = 1;
    return ended;
  }
  const result<bool> whole = trying();
  if (!whole) return whole.error();
  *done = *whole ? 1 : 0;
  return writes::end::all;
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;
using dataflux_c::usable;
using dataflux_c::writes;
using end_of_call = result<writes::end>;

void dataflux_shard_writer_options_init(dataflux_shard_writer_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_shard_writer_open(dataflux_client* client,
                                           const dataflux_shard_writer_options* options,
                                           dataflux_queue* queue, uint64_t tag,
                                           dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(client, "client"); !good) return good;
    const auto known = dataflux_c::options_of(options);
    if (!known) return known.error();
    auto request = dataflux_c::shard_writer_of(*known);
    if (!request) return std::move(request).error();
    const auto writer = std::make_shared<dataflux_c::shard_writer_state>(client->state);
    if (auto watched = client->state->watch(*writer); !watched) return watched;
    request->stop = writer->token();
    return dataflux_c::begin_operation<dataflux_c::open_shard_writer>(
        client->state, queue, tag, out,
        [&](dataflux_c::client_state& c) {
          return dataflux::shard_writer::submit_open(c.context, *std::move(request));
        },
        writer);
  });
}

dataflux_status dataflux_operation_take_shard_writer(dataflux_operation* op,
                                                     dataflux_shard_writer** out,
                                                     dataflux_error** err) {
  return guarded(err, [&] {
    return dataflux_c::take_handle<dataflux_c::open_shard_writer>(
        op, "writer of shards", out, [op](dataflux::shard_writer& opened) {
          const auto& state = static_cast<dataflux_c::open_shard_writer&>(*op->state).writer;
          auto made = std::make_unique<dataflux_shard_writer>(state);
          state->begin(std::move(opened));
          return made;
        });
  });
}

dataflux_status dataflux_shard_writer_write(dataflux_shard_writer* writer, const char* key,
                                            size_t key_size, const dataflux_field_bytes* fields,
                                            size_t count, uint32_t wait, int32_t* done,
                                            dataflux_error** err) {
  if (done != nullptr) *done = 0;
  return dataflux_c::in_turn(
      writer, err, [&](dataflux_c::shard_writer_state& state) -> end_of_call {
        if (done == nullptr) return missing("done");
        if (key == nullptr && key_size > 0) return missing("key");
        auto& all = state.fields();
        if (auto good = dataflux_c::take_fields(fields, count, all); !good) {
          return std::move(good).error();
        }
        const std::string_view name{key, key_size};
        return dataflux_c::attempt(
            wait, done, [&] { return writes::write(state.writer(), name, all, true); },
            [&] { return state.writer().try_write(name, all); });
      });
}

dataflux_status dataflux_shard_writer_end(dataflux_shard_writer* writer, uint32_t wait,
                                          int32_t* done, dataflux_error** err) {
  if (done != nullptr) *done = 0;
  return dataflux_c::in_turn(
      writer, err, [&](dataflux_c::shard_writer_state& state) -> end_of_call {
        if (done == nullptr) return missing("done");
        return dataflux_c::attempt(
            wait, done, [&] { return writes::write_end(state.writer(), true); },
            [&] { return state.writer().try_end(); });
      });
}

dataflux_status dataflux_shard_writer_notify(dataflux_shard_writer* writer, dataflux_queue* queue,
                                             uint64_t tag, dataflux_error** err) {
  return dataflux_c::in_turn(writer, err,
                             [&](dataflux_c::shard_writer_state& state) -> end_of_call {
                               if (auto good = usable(queue, "queue"); !good)
                                 return std::move(good).error();
                               if (auto asked = state.notify(queue->state, tag); !asked)
                                 return std::move(asked).error();
                               return writes::end::all;
                             });
}

dataflux_status dataflux_shard_writer_finish(dataflux_shard_writer* writer, dataflux_queue* queue,
                                             uint64_t tag, dataflux_operation** out,
                                             dataflux_error** err) {
  if (out != nullptr) *out = nullptr;
  return dataflux_c::in_turn(
      writer, err, [&](dataflux_c::shard_writer_state& state) -> end_of_call {
        auto begun = dataflux_c::begin_operation<dataflux_c::finish_operation>(
            state.client, queue, tag, out,
            [&](dataflux_c::client_state&) { return state.writer().submit_finish(); });
        if (!begun) return std::move(begun).error();
        return writes::end::all;
      });
}

dataflux_status dataflux_shard_writer_abort(dataflux_shard_writer* writer, dataflux_queue* queue,
                                            uint64_t tag, dataflux_operation** out,
                                            dataflux_error** err) {
  if (out != nullptr) *out = nullptr;
  return dataflux_c::in_turn(
      writer, err, [&](dataflux_c::shard_writer_state& state) -> end_of_call {
        auto begun = dataflux_c::begin_operation<dataflux_c::typed_operation<void>>(
            state.client, queue, tag, out,
            [&](dataflux_c::client_state&) { return state.writer().submit_abort(); });
        if (!begun) return std::move(begun).error();
        return writes::end::all;
      });
}

void dataflux_shard_writer_free(dataflux_shard_writer* writer) { dataflux_c::free_handle(writer); }
