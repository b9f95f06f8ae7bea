#include "writer.hpp"

#include "object.hpp"

#include <dataflux/codec/detail/json_writer.hpp>

namespace dataflux_c {

void writer_state::end() {
  asked_.end();
  writer_.reset();
}

namespace {

/// Of a write that waits; negative = until all is taken.
dataflux::call_limits limits_of(std::int64_t timeout_ns) noexcept {
  return {.timeout = timeout_ns < 0 ? dataflux::duration{0} : duration_of(timeout_ns)};
}

}  // namespace

result<writer_state::how> writer_state::write(dataflux::bytes_view bytes, std::int64_t timeout_ns,
                                              std::size_t& taken) {
  const std::uint64_t before = writer_->written();
  const at_end counted(
      [&]() noexcept { taken = static_cast<std::size_t>(writer_->written() - before); });
  if (timeout_ns != 0) {
    return dataflux::detail::interruptible::write(*writer_, bytes, limits_of(timeout_ns));
  }
  const auto some = writer_->try_write(bytes);
  if (!some) return some.error();
  return how::all;
}

result<writer_state::how> writer_state::lend(dataflux::bytes_view bytes, std::int64_t timeout_ns,
                                             std::size_t& taken,
                                             const std::shared_ptr<queue_state>& queue,
                                             std::uint64_t tag) {
  const auto share = std::make_shared<last_share>(queue);
  auto number = queue->add(std::make_shared<told_once>(tag));
  if (!number) return std::move(number).error();
  share->name(*number);
  const std::uint64_t before = writer_->written();
  const at_end told([&]() noexcept {
    taken = static_cast<std::size_t>(writer_->written() - before);
    if (taken == 0) share->forget();
  });
  if (timeout_ns != 0) {
    return dataflux::detail::interruptible::write_borrowed(
        *writer_, bytes, [share] {}, limits_of(timeout_ns));
  }
  const auto some = writer_->try_write_borrowed(bytes, [share] {});
  if (!some) return some.error();
  return how::all;
}

result<void> writer_state::notify(const std::shared_ptr<queue_state>& queue, std::uint64_t tag) {
  return asked_.ask(queue, tag, [this](dataflux::completion_queue& events, std::uint64_t number) {
    writer_->notify(events, number);
  });
}

void commit_operation::describe(dataflux_record& r) const {
  if (!value_) return;
  r.size = value_->object.size;
  r.generation = value_->object.generation;
  r.crc32c = value_->object.crc32c.value_or(0);
}

std::string commit_operation::make_json() const {
  if (!value_) return {};
  std::string json = "{\"object\":" + json_of(value_->object);
  const auto text = [&json](const char* name, std::string_view value) {
    json.append(",\"").append(name).append("\":");
    dataflux::detail::codec::append_json_string(json, value);
  };
  text("path", to_string(value_->path));
  text("mode", to_string(value_->mode));
  text("fallback", value_->fallback);
  return json += '}';
}

result<dataflux::upload_request> upload_of(const dataflux_writer_options& o) {
  dataflux::upload_request r;
  if (auto good = put_target(o.attributes, o.conditions, r); !good) return std::move(good).error();
  if (o.size_hint != 0) r.size_hint = o.size_hint;
  r.part_size = o.part_size;
  r.limits.timeout = duration_of(o.timeout_ns);
  return r;
}

namespace {

result<dataflux::bytes_view> bytes_of(const void* data, size_t size) {
  if (data == nullptr && size > 0) return missing("data");
  return dataflux::bytes_view(static_cast<const std::byte*>(data), size);
}

/// Runs `body` within the writer's turn; it gives how the call ended.
template <class Body>
dataflux_status in_turn(dataflux_writer* writer, dataflux_error** err, Body body) noexcept {
  auto ended = writer_state::how::all;
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
  const bool interrupted = ended == writer_state::how::interrupted;
  return status == DATAFLUX_OK && interrupted ? DATAFLUX_INTERRUPTED : status;
}

}  // namespace

}  // namespace dataflux_c

using dataflux_c::guarded;
using dataflux_c::missing;
using dataflux_c::result;
using dataflux_c::usable;
using dataflux_c::writer_state;
using write_end = result<writer_state::how>;

void dataflux_writer_options_init(dataflux_writer_options* options, size_t size) {
  dataflux_c::init_options(options, size);
}

dataflux_status dataflux_writer_open(dataflux_client* client,
                                     const dataflux_writer_options* options, dataflux_queue* queue,
                                     uint64_t tag, dataflux_operation** out, dataflux_error** err) {
  return guarded(err, [&]() -> result<void> {
    if (out != nullptr) *out = nullptr;
    if (auto good = usable(client, "client"); !good) return good;
    const auto known = dataflux_c::options_of(options);
    if (!known) return known.error();
    if (known->bucket == nullptr) return missing("bucket");
    if (known->object == nullptr) return missing("object");
    auto request = dataflux_c::upload_of(*known);
    if (!request) return std::move(request).error();
    request->bucket = known->bucket;
    request->object = known->object;
    return dataflux_c::begin_writer(client->state, *std::move(request), queue, tag, out,
                                    [](dataflux_c::client_state& c, dataflux::upload_request r) {
                                      return dataflux::checkpoint_writer::submit_open(c.context,
                                                                                      std::move(r));
                                    });
  });
}

dataflux_status dataflux_operation_take_writer(dataflux_operation* op, dataflux_writer** out,
                                               dataflux_error** err) {
  return guarded(err, [&] {
    return dataflux_c::take_handle<dataflux_c::open_writer>(
        op, "writer", out, [op](dataflux::checkpoint_writer& opened) {
          const auto& state = static_cast<dataflux_c::open_writer&>(*op->state).writer;
          auto made = std::make_unique<dataflux_writer>(state);
          state->begin(std::move(opened));
          return made;
        });
  });
}

dataflux_status dataflux_writer_write(dataflux_writer* writer, const void* data, size_t size,
                                      int64_t timeout_ns, size_t* taken, dataflux_error** err) {
  if (taken != nullptr) *taken = 0;
  return dataflux_c::in_turn(writer, err, [&](writer_state& w) -> write_end {
    if (taken == nullptr) return missing("taken");
    const auto bytes = dataflux_c::bytes_of(data, size);
    if (!bytes) return bytes.error();
    return w.write(*bytes, timeout_ns, *taken);
  });
}

dataflux_status dataflux_writer_lend(dataflux_writer* writer, const void* data, size_t size,
                                     int64_t timeout_ns, size_t* taken, dataflux_queue* queue,
                                     uint64_t tag, dataflux_error** err) {
  if (taken != nullptr) *taken = 0;
  return dataflux_c::in_turn(writer, err, [&](writer_state& w) -> write_end {
    if (taken == nullptr) return missing("taken");
    if (auto good = usable(queue, "queue"); !good) return std::move(good).error();
    const auto bytes = dataflux_c::bytes_of(data, size);
    if (!bytes) return bytes.error();
    return w.lend(*bytes, timeout_ns, *taken, queue->state, tag);
  });
}

dataflux_status dataflux_writer_notify(dataflux_writer* writer, dataflux_queue* queue, uint64_t tag,
                                       dataflux_error** err) {
  return dataflux_c::in_turn(writer, err, [&](writer_state& w) -> write_end {
    if (auto good = usable(queue, "queue"); !good) return std::move(good).error();
    if (auto asked = w.notify(queue->state, tag); !asked) return std::move(asked).error();
    return writer_state::how::all;
  });
}

dataflux_status dataflux_writer_commit(dataflux_writer* writer, dataflux_queue* queue, uint64_t tag,
                                       dataflux_operation** out, dataflux_error** err) {
  if (out != nullptr) *out = nullptr;
  return dataflux_c::in_turn(writer, err, [&](writer_state& w) -> write_end {
    auto begun = dataflux_c::begin_operation<dataflux_c::commit_operation>(
        w.client, queue, tag, out,
        [&](dataflux_c::client_state&) { return w.writer().submit_commit(); });
    if (!begun) return std::move(begun).error();
    return writer_state::how::all;
  });
}

dataflux_status dataflux_writer_abort(dataflux_writer* writer, dataflux_queue* queue, uint64_t tag,
                                      dataflux_operation** out, dataflux_error** err) {
  if (out != nullptr) *out = nullptr;
  return dataflux_c::in_turn(writer, err, [&](writer_state& w) -> write_end {
    auto begun = dataflux_c::begin_operation<dataflux_c::typed_operation<void>>(
        w.client, queue, tag, out,
        [&](dataflux_c::client_state&) { return w.writer().submit_abort(); });
    if (!begun) return std::move(begun).error();
    return writer_state::how::all;
  });
}

void dataflux_writer_free(dataflux_writer* writer) { dataflux_c::free_handle(writer); }
