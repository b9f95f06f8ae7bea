#include <c_api/call_player.hpp>
#include <c_api/call_sequence.hpp>
#include <support/tar_bytes.hpp>
#include <support/temporary_folder.hpp>

#include <iterator>

void call_player::make_client() {
  if (clients_.size() == 2) return;
  dataflux_client_options o;
  dataflux_client_options_init(&o, sizeof o);
  o.endpoint = endpoint_.c_str();
  o.emulator = 1;
  o.io_threads = 1;
  o.credentials = dice_.chance(8) ? DATAFLUX_CREDENTIALS_TOKEN : DATAFLUX_CREDENTIALS_DEFAULT;
  o.memory_cap = std::uint64_t{1} << 20U;
  o.upload_memory = std::uint64_t{10} << 20U;
  o.event_capacity = dice_.chance(2) ? 0 : 16;
  dataflux_client* made = nullptr;
  given(dataflux_client_create(&o, &made, err()), made, clients_);
}

void call_player::make_queue() {
  if (queues_.size() == 3) return;
  dataflux_queue* made = nullptr;
  given(dataflux_queue_create(&made, err()), made, queues_);
}

dataflux_object_options call_player::object(bool changes) {
  dataflux_object_options o;
  dataflux_object_options_init(&o, sizeof o);
  o.bucket = dice_.chance(16) ? "no-such-bucket" : "bkt";
  static constexpr const char* names[]{"mine", "not-there", "", nullptr, "o/000003", "o/000007"};
  o.object = names[dice_.below(changes ? 4 : std::size(names))];
  if (dice_.chance(16)) o.generation = static_cast<std::int64_t>(dice_.number());
  if (dice_.chance(8)) o.timeout_ns = static_cast<std::int64_t>(dice_.below(200)) * 1'000'000;
  if (dice_.chance(16)) o.member = dice_.chance(4) ? "" : "member";
  return o;
}

void call_player::call() {
  const std::size_t which = dice_.below(6);
  const dataflux_object_options good = object(which == 1 || which == 2);
  begin([&](auto* queue, auto** out, auto** err) {
    const dataflux_object_options* const o = odd_.of(good, dice_);
    dataflux_client* const client = any(clients_);
    switch (which) {
      case 0:
        return dataflux_stat(client, o, queue, 1, out, err);
      case 1:
        return dataflux_put(client, o, put_bytes, dice_.below(sizeof put_bytes), nullptr, queue, 2,
                            out, err);
      case 2:
        return dataflux_remove(client, o, queue, 3, out, err);
      case 3:
        return dataflux_get_one(client, o, dice_.below(256), memory(), dice_.below(256), queue, 4,
                                out, err);
      case 4:
        return dataflux_get(client, o, dice_.below(256),
                            dice_.chance(2) ? dice_.below(256) : UINT64_MAX, queue, get_tag, out,
                            err);
      default: {
        dataflux_list_options list;
        dataflux_list_options_init(&list, sizeof list);
        list.bucket = "bkt";
        list.prefix = "o/";
        list.regex = dice_.chance(8) ? "(" : nullptr;
        return dataflux_list(client, odd_listing(list), queue, 5, out, err);
      }
    }
  });
}

void call_player::ask_operation() {
  dataflux_operation* const op = any(operations_);
  const char* json = nullptr;
  switch (dice_.below(5)) {
    case 0:
      said(dataflux_operation_wait(op, dice_.chance(4) ? 0 : 10 * little, err()));
      break;
    case 1:
      said(dataflux_operation_result(op, err()));
      break;
    case 2:
      lent_text(dataflux_operation_json(op, &json, err()), json);
      break;
    case 3:
      taken_of(dataflux_operation_take_listing, listings_, dataflux_listing_free);
      break;
    default:
      dataflux_operation_cancel(op);
  }
}

void call_player::read_many() {
  if (!room(getters_, dataflux_getter_free)) return;
  dataflux_get_many_options o;
  dataflux_get_many_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.order = static_cast<std::uint32_t>(dice_.below(3));
  o.on_error = static_cast<std::uint32_t>(dice_.below(3));
  o.feed = dice_.chance(3) ? 1 : 0;
  o.compose = dice_.chance(4) ? 1 : 0;
  const std::uint64_t rows[]{dice_.below(24), dice_.below(24), dice_.below(24)};
  dataflux_getter* made = nullptr;
  given(dataflux_get_many(any(clients_), odd_.of(o, dice_), any(listings_),
                          dice_.chance(2) ? rows : nullptr, dice_.below(4), any(queues_), item_tag,
                          &made, err()),
        made, getters_);
}

void call_player::feed() {
  dataflux_getter* const getter = any(getters_);
  std::size_t taken = 0;
  switch (dice_.below(4)) {
    case 0: {
      const std::uint64_t rows[]{dice_.below(24), dice_.below(24)};
      said(dataflux_getter_push_rows(getter, rows, 2, &taken, err()));
      require(taken <= 2);
      break;
    }
    case 1: {
      const std::uint64_t ends[]{0, 8, 16};
      dataflux_get_columns c;
      dataflux_get_columns_init(&c, sizeof c);
      c.names = "o/000001o/000002";
      c.name_offsets = dice_.chance(8) ? nullptr : ends;
      if (dice_.chance(8)) {
        c.members = "a/1.jpg a/2.jpg ";
        c.member_offsets = dice_.chance(8) ? nullptr : ends;
      }
      said(dataflux_getter_push(getter, odd_.of(c, dice_), 2, &taken, err()));
      require(taken <= 2);
      break;
    }
    case 2:
      dataflux_getter_finish(getter);
      break;
    default:
      dataflux_getter_cancel(getter);
  }
}

void call_player::read_batches() {
  if (!room(batch_getters_, dataflux_batch_getter_free)) return;
  dataflux_get_many_options o;
  dataflux_get_many_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.order = static_cast<std::uint32_t>(dice_.below(3));
  o.on_error = static_cast<std::uint32_t>(dice_.below(3));
  dataflux_batch_getter* made = nullptr;
  given(dataflux_get_batches(any(clients_), odd_.of(o, dice_), any(listings_), any(queues_),
                             batch_tag, &made, err()),
        made, batch_getters_);
}

void call_player::push_batch() {
  dataflux_batch_getter* const batches = any(batch_getters_);
  switch (dice_.below(6)) {
    case 0:
      return dataflux_batch_getter_finish(batches);
    case 1:
      return dataflux_batch_getter_cancel(batches);
    default:
      break;
  }
  const std::uint64_t numbers[]{dice_.below(24), dice_.below(24)};
  const std::uint64_t lengths[]{dice_.below(200), dice_.below(200)};
  const std::uint64_t ends[]{0, 8, 16};
  dataflux_get_columns c;
  dataflux_get_columns_init(&c, sizeof c);
  c.names = "o/000001o/000002";
  c.name_offsets = ends;
  c.lengths = lengths;
  const std::uint64_t offsets[]{dice_.below(100), dice_.below(100) + 90};
  dataflux_batch b;
  dataflux_batch_init(&b, sizeof b);
  b.count = dice_.below(3);
  b.numbers = dice_.chance(2) ? numbers : nullptr;
  b.requests = b.numbers == nullptr || dice_.chance(8) ? &c : nullptr;
  b.data = dice_.chance(8) ? nullptr : memory();
  b.size = dice_.below(256);
  b.offsets = dice_.chance(2) ? nullptr : offsets;
  b.stride = dice_.below(150);
  std::uint64_t sizes[]{1'000, 1'000};
  b.sizes = sizes;
  if (said(dataflux_batch_getter_push(batches, odd_.of(b, dice_), nullptr, err())) == DATAFLUX_OK) {
    for (std::size_t i = 0; i < b.count; ++i) require(sizes[i] <= b.size || sizes[i] == 1'000);
  }
}

void call_player::take_records() {
  dataflux_queue* const queue = any(queues_);
  std::array<dataflux_record, 8> records{};
  std::size_t count = 77;
  const std::size_t capacity = dice_.below(records.size() + 1);
  const std::size_t size = dice_.chance(16) ? dice_.below(65) : sizeof records[0];
  const dataflux_status status =
      dataflux_queue_next(queue, records.data(), size, capacity, little, &count);
  require(count <= capacity);
  require(status == DATAFLUX_OK || count == 0);
  for (std::size_t i = 0; i < count; ++i) take(queue, records[i]);
}

void call_player::take(dataflux_queue* queue, const dataflux_record& r) {
  if (r.error != 0) {
    dataflux_error* const why = dataflux_queue_error(queue, r.error);
    require(why != nullptr && dataflux_error_status(why) == r.status);
    dataflux_error_free(why);
  }
  require(r.status == DATAFLUX_OK || r.data == nullptr);
  if (r.slab == 0) return;
  require((r.tag == item_tag || r.tag == events_tag || r.tag == get_tag) && r.data != nullptr);
  const auto* const bytes = static_cast<const unsigned char*>(r.data);
  void* slab = nullptr;
  std::uint64_t slab_size = 0;
  dataflux_slab_memory(r.slab, &slab, &slab_size);
  const auto* const begin = static_cast<const unsigned char*>(slab);
  require(bytes >= begin && bytes + r.size <= begin + slab_size);
  if (r.tag == events_tag) {
    require(r.size > 2 && bytes[0] == '{' && bytes[r.size - 2] == '}' && bytes[r.size - 1] == '\n');
  } else if (r.tag == item_tag) {
    // Bytes tell whose they are and where; all of an object has come.
    for (std::size_t i = 1; i < r.size; ++i) {
      require(bytes[i] == static_cast<unsigned char>(bytes[0] + i));
    }
  }
  slabs_.push_back(r.slab);
  if (slabs_.size() > 8 || dice_.chance(2)) release();
}

void call_player::release() {
  dataflux_slabs_release(slabs_.data(), slabs_.size());
  slabs_.clear();
}

void call_player::ask_client() {
  dataflux_client* const client = any(clients_);
  char* text_out = nullptr;
  switch (dice_.below(6)) {
    case 3: {
      std::int64_t expires = 0;
      said(dataflux_client_token(client, dice_.chance(4) ? nullptr : &text_out, &expires, err()));
      dataflux_text_free(text_out);
      break;
    }
    case 4:
      said(dataflux_client_forget(client, dice_.chance(8) ? nullptr : "bkt", "o/1",
                                  dice_.chance(2) ? 1 : 0, err()));
      break;
    case 0:
      text_of(dice_.chance(2) ? dataflux_client_prometheus(client, &text_out, err())
                              : dataflux_client_metrics(client, &text_out, err()),
              text_out);
      break;
    case 1:
      said(dataflux_client_set_token(client, dice_.chance(4) ? nullptr : "secret", 0, err()));
      break;
    case 2:
      said(dataflux_client_fail_token(client, dice_.chance(4) ? 99 : DATAFLUX_UNAUTHENTICATED,
                                      dice_.chance(4) ? nullptr : "none", err()));
      break;
    default:
      if (dice_.chance(4)) dataflux_client_close(client);
  }
}

void call_player::ask_listing() {
  const dataflux_listing* const listing = any(listings_);
  dataflux_chunk chunk;
  const std::uint64_t chunks = dataflux_listing_chunks(listing);
  const std::uint64_t index = dice_.below(4);
  const dataflux_status status = said(
      dataflux_listing_chunk(listing, index, &chunk, dice_.chance(8) ? 16 : sizeof chunk, err()));
  require(status != DATAFLUX_OK || index < chunks);
  require(dataflux_listing_size(listing) <= 20);
  const char* json = nullptr;
  lent_text(dataflux_listing_json(listing, &json, err()), json);
}

void call_player::free_some() {
  switch (dice_.below(12)) {
    case 0:
      return free_one(clients_, dataflux_client_free);
    case 1:
      return free_one(queues_, dataflux_queue_free);
    case 2:
      return free_one(listings_, dataflux_listing_free);
    case 3:
      return dataflux_queue_close(any(queues_));
    case 4:
    case 5:
      return free_one(getters_, dataflux_getter_free);
    case 6:
      return free_one(batch_getters_, dataflux_batch_getter_free);
    default:
      return free_one(operations_, dataflux_operation_free);
  }
}

void call_player::free_all() {
  const bool client_first = dice_.chance(2);
  if (client_first) free_each(clients_, dataflux_client_free);
  const bool features_first = dice_.chance(2);
  if (features_first) free_features();
  free_each(queues_, dataflux_queue_free);
  free_each(operations_, dataflux_operation_free);
  free_each(getters_, dataflux_getter_free);
  free_each(batch_getters_, dataflux_batch_getter_free);
  free_each(listings_, dataflux_listing_free);
  free_features();
  free_each(clients_, dataflux_client_free);
  release();
}

void call_player::step() {
  switch (dice_.below(22)) {
    case 0:
      return make_client();
    case 1:
      return make_queue();
    case 2:
      return ask_client();
    case 3:
      return ask_listing();
    case 4:
      return free_some();
    case 5:
    case 6:
    case 7:
      return ask_operation();
    case 8:
    case 9:
    case 10:
      return read_many();
    case 11:
    case 12:
      return feed();
    case 13:
    case 14:
    case 15:
      return call();
    case 16:
      return read_batches();
    case 17:
      return push_batch();
    default:
      return take_records();
  }
}

void fill_for_calls(emulator::server& server) {
  for (int i = 0; i < 20; ++i) {
    std::string body(300, '\0');
    for (std::size_t k = 0; k < body.size(); ++k) {
      body[k] = static_cast<char>(k + static_cast<std::size_t>(i));
    }
    server.put("bkt", (i < 10 ? "o/00000" : "o/0000") + std::to_string(i), body);
  }
  server.put("bkt", "shards/a.tar",
             dataflux::test::tar_of({{.name = "a.txt", .data = "of a"},
                                     {.name = "a.png", .data = "picture of a"},
                                     {.name = "b.txt", .data = "of b"}}));
}

void play_calls(const std::string& endpoint, std::span<const std::byte> input) {
  static const temporary_folder folder;
  static const std::string path = folder.path.string();
  call_player(endpoint, path, input).play();
}
