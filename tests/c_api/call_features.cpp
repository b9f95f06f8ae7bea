#include <c_api/call_player.hpp>

#include <array>
#include <iterator>
#include <string>
#include <vector>

namespace {

/// What is written: more than a part of an upload.
const std::vector<char>& long_text() {
  static const std::vector<char> all(std::size_t{6} << 20U, 'w');
  return all;
}

dataflux_object_options object_of(const char* name) {
  dataflux_object_options o;
  dataflux_object_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.object = name;
  return o;
}

}  // namespace

void call_player::list_stream() {
  if (!room(listers_, dataflux_lister_free)) return;
  dataflux_list_options o;
  dataflux_list_options_init(&o, sizeof o);
  o.bucket = dice_.chance(16) ? "no-such-bucket" : "bkt";
  o.prefix = "o/";
  o.by_name = dice_.chance(2) ? 1 : 0;
  o.partial = dice_.chance(4) ? 1 : 0;
  o.delimiter = dice_.chance(4) ? "/" : nullptr;
  o.timeout_ns = timeout();
  dataflux_lister* made = nullptr;
  given(dataflux_list_stream(any(clients_), odd_listing(o), any(queues_), 11, &made, err()), made,
        listers_);
}

void call_player::ask_lister() {
  if (none(listers_)) return list_stream();
  dataflux_lister* const lister = any(listers_);
  char* json = nullptr;
  switch (dice_.below(4)) {
    case 0:
      text_of(dataflux_lister_json(lister, &json, err()), json);
      break;
    case 1:
      dataflux_lister_cancel(lister);
      break;
    default:
      if (room(listings_, dataflux_listing_free)) {
        dataflux_listing* made = nullptr;
        given(dataflux_lister_take(lister, &made, err()), made, listings_);
      }
  }
}

void call_player::save_manifest() {
  if (none(listings_)) {
    return taken_of(dataflux_operation_take_listing, listings_, dataflux_listing_free);
  }
  const std::string file = path("manifest");
  dataflux_manifest_options o;
  dataflux_manifest_options_init(&o, sizeof o);
  if (dice_.chance(2)) {
    o.path = file.c_str();
  } else {
    o.bucket = "bkt";
    o.object = "made/manifest";
  }
  o.timeout_ns = timeout();
  if (dice_.chance(8)) {
    dataflux_list_options what;
    dataflux_list_options_init(&what, sizeof what);
    what.bucket = "bkt";
    what.prefix = "o/";
    what.timeout_ns = timeout();
    return begin([&](auto* queue, auto** out, auto** err) {
      return dataflux_list_shared(any(clients_), odd_.of(what, dice_), "bkt",
                                  dice_.chance(4) ? "o/" : "board/", nullptr, 0, queue, 19, out,
                                  err);
    });
  }
  const bool saves = dice_.chance(2);
  begin([&](auto* queue, auto** out, auto** err) {
    const dataflux_manifest_options* const where = odd_.of(o, dice_);
    return saves ? dataflux_manifest_save(any(clients_), where, any(listings_), queue, 12, out, err)
                 : dataflux_manifest_open(any(clients_), where, queue, 13, out, err);
  });
}

void call_player::ask_manifest() {
  if (none(manifests_)) {
    return taken_of(dataflux_operation_take_manifest, manifests_, dataflux_manifest_free);
  }
  const dataflux_manifest* const manifest = any(manifests_);
  const char* json = nullptr;
  dataflux_row row;
  switch (dice_.below(5)) {
    case 0:
      lent_text(dataflux_manifest_json(manifest, &json, err()), json);
      require(dataflux_manifest_size(manifest) <= 20);
      break;
    case 3:
      if (said(dataflux_manifest_row(manifest, dice_.below(24), &row, sizeof row, err())) ==
          DATAFLUX_OK) {
        require(row.name_size > 0);
      }
      break;
    case 1:
      taken_of(dataflux_operation_take_manifest, manifests_, dataflux_manifest_free);
      break;
    case 2:
      begin([&](auto* queue, auto** out, auto** err) {
        const std::uint64_t first = dice_.chance(8) ? dice_.number() : dice_.below(24);
        const std::uint64_t count = dice_.chance(4) ? dice_.number() : dice_.below(24);
        return dataflux_manifest_rows(any(clients_), manifest, first, count, queue, 14, out, err);
      });
      break;
    default:
      begin([&](auto* queue, auto** out, auto** err) {
        dataflux_refresh_options o;
        dataflux_refresh_options_init(&o, sizeof o);
        o.timeout_ns = timeout();
        return dataflux_manifest_refresh(any(clients_), manifest, odd_.of(o, dice_), queue, 15, out,
                                         err);
      });
  }
}

/// Null where it cannot be listed.
dataflux_listing* call_player::listed_shards() {
  dataflux_list_options what;
  dataflux_list_options_init(&what, sizeof what);
  what.bucket = "bkt";
  what.prefix = "shards/";
  what.timeout_ns = 100'000'000;
  dataflux_operation* op = nullptr;
  dataflux_listing* made = nullptr;
  if (dataflux_list(any(clients_), &what, nullptr, 0, &op, nullptr) == DATAFLUX_OK &&
      dataflux_operation_wait(op, -1, nullptr) == DATAFLUX_OK) {
    dataflux_operation_take_listing(op, &made, nullptr);
  }
  dataflux_operation_free(op);
  return made;
}

void call_player::index_shards() {
  const std::string file = path("index");
  dataflux_index_shards_options o;
  dataflux_index_shards_options_init(&o, sizeof o);
  o.bucket = dice_.chance(16) ? nullptr : "bkt";
  o.path = dice_.chance(16) ? "" : file.c_str();
  o.parallelism = static_cast<std::uint32_t>(dice_.below(3));
  o.progress = dice_.chance(4) ? 1 : 0;
  o.timeout_ns = timeout();
  const dataflux_shard_index* const part = any(shard_indexes_);
  if (dice_.chance(4)) {
    o.parts = &part;
    o.part_count = dice_.below(2);
  }
  if (dice_.chance(4)) o.board_bucket = dice_.chance(8) ? "" : "bkt";
  if (dice_.chance(4)) o.board_prefix = "board/";
  // That of other objects finds no shards.
  dataflux_listing* const shards = dice_.chance(8) ? nullptr : listed_shards();
  const dataflux_listing* const listing = shards == nullptr ? any(listings_) : shards;
  begin([&](auto* queue, auto** out, auto** err) {
    return dataflux_index_shards(any(clients_), odd_.of(o, dice_), listing, queue, 22, out, err);
  });
  dataflux_listing_free(shards);
}

void call_player::verify_shards() {
  const std::string file = path("verified");
  const char* const foreign = file.c_str();
  dataflux_index_shards_options how;
  dataflux_index_shards_options_init(&how, sizeof how);
  how.bucket = "bkt";
  dataflux_shard_index* imported = nullptr;
  said(dataflux_shard_index_import(odd_.of(how, dice_), any(listings_), &foreign, dice_.below(2),
                                   &imported, err()));
  dataflux_shard_index_free(imported);
  dataflux_verify_shards_options o;
  dataflux_verify_shards_options_init(&o, sizeof o);
  o.path = dice_.chance(2) ? nullptr : file.c_str();
  o.return_wrong = dice_.chance(2) ? 1 : 0;
  o.progress = dice_.chance(4) ? 1 : 0;
  o.timeout_ns = timeout();
  begin([&](auto* queue, auto** out, auto** err) {
    return dataflux_verify_shards(any(clients_), any(shard_indexes_), odd_.of(o, dice_), queue, 23,
                                  out, err);
  });
}

void call_player::ask_shard_index() {
  const std::string file = path("index");
  dataflux_shard_index* made = nullptr;
  if (none(shard_indexes_)) {
    return given(dataflux_shard_index_open(dice_.chance(8) ? nullptr : file.c_str(), &made, err()),
                 made, shard_indexes_);
  }
  const dataflux_shard_index* const index = any(shard_indexes_);
  const std::uint64_t number = dice_.below(4);
  std::array<std::uint64_t, 4> numbers{number, number, number, number};
  std::array<dataflux_sample_field, 2> fields{};
  dataflux_indexed_shard shard;
  std::size_t count = 77;
  std::size_t key_size = 77;
  switch (dice_.below(7)) {
    case 5: {
      dataflux_join_options o;
      dataflux_join_options_init(&o, sizeof o);
      o.left_outer = static_cast<std::uint32_t>(dice_.below(2));
      o.all_pairs = static_cast<std::uint32_t>(dice_.below(2));
      dataflux_shard_join* join = nullptr;
      said(dataflux_shard_index_join(index, any(shard_indexes_), odd_.of(o, dice_), &join, err()));
      dataflux_join_rows rows;
      said(dataflux_shard_join_rows(join, &rows, sizeof rows, err()));
      dataflux_shard_join_free(join);
      break;
    }
    case 0:
      said(dataflux_shard_index_shard(index, number, &shard, sizeof shard, err()));
      break;
    case 1: {
      dataflux_sample_columns columns;
      dataflux_sample_columns_init(&columns, sizeof columns);
      columns.sizes = dice_.chance(4) ? nullptr : numbers.data();
      const std::array<std::uint64_t, 2> wanted{number, dice_.below(4)};
      said(dataflux_shard_index_samples(index, wanted.data(), 2, odd_.of(columns, dice_), err()));
      break;
    }
    case 2:
      said(
          dataflux_shard_index_fields(index, number, fields.data(), dice_.below(3), &count, err()));
      break;
    case 3:
      said(dataflux_shard_index_find(index, "a", 1, numbers.data(), dice_.below(5), &count, err()));
      break;
    case 4:
      // Bytes of samples are not what getters of this file are to give.
      said(dataflux_getter_push_samples(any(getters_), index, numbers.data(), 0, &count, err()));
      require(count == 0);
      break;
    default:
      said(dataflux_shard_index_split(index, number, put_bytes, sizeof put_bytes, fields.data(),
                                      fields.size(), &count, memory(), 256, &key_size, err()));
      require(count == 0 && key_size == 0);
  }
}

void call_player::stream_shard() {
  dataflux_shard_stream* made = nullptr;
  if (none(shard_streams_)) {
    dataflux_shard_stream_options o;
    dataflux_shard_stream_options_init(&o, sizeof o);
    o.end_at_damage = dice_.chance(4) ? 0 : 1;
    return given(dataflux_shard_stream_new(odd_.of(o, dice_), &made, err()), made, shard_streams_);
  }
  dataflux_shard_stream* const stream = any(shard_streams_);
  dataflux_streamed_sample sample;
  const char* json = nullptr;
  switch (dice_.below(5)) {
    case 0:
      said(dataflux_shard_stream_feed(stream, dice_.chance(8) ? nullptr : put_bytes,
                                      sizeof put_bytes, err()));
      break;
    case 1:
      said(dataflux_shard_stream_finish(stream, err()));
      break;
    case 2:
      said(dataflux_shard_stream_counts(stream, &json, err()));
      break;
    default:
      said(dataflux_shard_stream_next(stream, &sample, dice_.chance(8) ? 3 : sizeof sample, err()));
  }
}

void call_player::ask_changes() {
  const dataflux_changes* const changes = any(changes_);
  dataflux_changes* made = nullptr;
  dataflux_listing* listing = nullptr;
  dataflux_changed_rows rows{};
  switch (dice_.below(4)) {
    case 0:
      if (room(changes_, dataflux_changes_free)) {
        given(dataflux_listing_compare(any(listings_), any(listings_), &made, err()), made,
              changes_);
      }
      break;
    case 1:
      taken_of(dataflux_operation_take_changes, changes_, dataflux_changes_free);
      break;
    case 2:
      if (room(listings_, dataflux_listing_free)) {
        given(dataflux_changes_listing(changes, &listing, err()), listing, listings_);
      }
      break;
    default:
      if (said(dataflux_changes_rows(changes, &rows, dice_.chance(8) ? 16 : sizeof rows, err())) ==
          DATAFLUX_OK) {
        require(rows.added_count + rows.changed_count + rows.unchanged_count <= 20);
      }
  }
}

void call_player::change_object() {
  static constexpr const char* sources[]{"o/000003", "mine", "not-there", "", nullptr};
  const std::array names{"o/000001", dice_.chance(8) ? nullptr : "o/000002"};
  dataflux_attributes attributes;
  dataflux_attributes_init(&attributes, sizeof attributes);
  attributes.content_type = dice_.chance(2) ? "text/plain" : nullptr;
  attributes.storage_class = dice_.chance(4) ? "NEARLINE" : nullptr;
  const dataflux_object_options source = object_of(sources[dice_.below(std::size(sources))]);
  dataflux_object_options target = object(true);
  begin([&](auto* queue, auto** out, auto** err) {
    const dataflux_object_options* const to = odd_.of(target, dice_);
    const dataflux_attributes* const with = more_odd_.of(attributes, dice_);
    odd_options from;
    dataflux_client* const client = any(clients_);
    switch (dice_.below(4)) {
      case 0:
        return dataflux_copy(client, from.of(source, dice_), to, with, queue, 16, out, err);
      case 1: {
        // What items are of must stay where it is.
        const dataflux_object_options moved = object_of("mine");
        return dataflux_move(client, from.of(moved, dice_), to, queue, 17, out, err);
      }
      case 2:
        return dataflux_compose(client, to, names.data(), nullptr, dice_.below(3), with, queue, 18,
                                out, err);
      default:
        return dataflux_patch(client, to, with, queue, 19, out, err);
    }
  });
}

void call_player::ask_bucket() {
  const std::array permissions{"storage.objects.get", dice_.chance(8) ? nullptr : "a.b"};
  dataflux_bucket_options o;
  dataflux_bucket_options_init(&o, sizeof o);
  o.bucket = dice_.chance(8) ? nullptr : "bkt";
  o.timeout_ns = timeout();
  dataflux_list_buckets_options list;
  dataflux_list_buckets_options_init(&list, sizeof list);
  list.project = dice_.chance(4) ? nullptr : "p";
  const std::array globs{"a/**", dice_.chance(8) ? nullptr : "b"};
  dataflux_bulk_restore_options restore;
  dataflux_bulk_restore_options_init(&restore, sizeof restore);
  restore.bucket = o.bucket;
  restore.match_globs = dice_.chance(4) ? nullptr : globs.data();
  restore.match_glob_count = dice_.below(3);
  restore.timeout_ns = timeout();
  begin([&](auto* queue, auto** out, auto** err) {
    dataflux_client* const client = any(clients_);
    switch (dice_.below(4)) {
      case 0:
        return dataflux_bucket(client, odd_.of(o, dice_), queue, 20, out, err);
      case 1:
        return dataflux_test_permissions(client, odd_.of(o, dice_), permissions.data(),
                                         dice_.below(3), queue, 21, out, err);
      case 2:
        return dataflux_bulk_restore(client, odd_.of(restore, dice_), queue, 23, out, err);
      default:
        return dataflux_list_buckets(client, odd_.of(list, dice_), queue, 22, out, err);
    }
  });
}

void call_player::sign() {
  dataflux_sign_options o;
  dataflux_sign_options_init(&o, sizeof o);
  o.bucket = dice_.chance(8) ? nullptr : "bkt";
  o.object = dice_.chance(8) ? nullptr : "o/000000";
  o.life_ns = dice_.chance(8) ? -1 : 0;
  o.style = static_cast<std::uint32_t>(dice_.below(4));
  o.access_key_id = dice_.chance(8) ? nullptr : "GOOG1";
  o.secret_access_key = dice_.chance(8) ? nullptr : "secret";
  o.timeout_ns = timeout();
  const std::array names{"a", dice_.chance(8) ? nullptr : "b"};
  const std::array values{"1", dice_.chance(8) ? nullptr : "2"};
  dataflux_signed_request r;
  dataflux_signed_request_init(&r, sizeof r);
  r.header_names = dice_.chance(8) ? nullptr : names.data();
  r.header_values = values.data();
  r.header_count = dice_.below(3);
  const std::array<dataflux_form_condition, 2> conditions{
      dataflux_form_condition{"c", "v", 0, 0, static_cast<std::uint32_t>(dice_.below(4)), 0},
      dataflux_form_condition{nullptr, nullptr, 0, 1, DATAFLUX_FORM_SIZE, 0}};
  begin([&](auto* queue, auto** out, auto** err) {
    dataflux_client* const client = any(clients_);
    if (dice_.chance(2)) {
      return dataflux_sign_url(client, odd_.of(o, dice_), more_odd_.of(r, dice_), queue, 27, out,
                               err);
    }
    return dataflux_sign_form(client, odd_.of(o, dice_), names.data(), values.data(),
                              dice_.below(3), dice_.chance(8) ? nullptr : conditions.data(),
                              dice_.below(3), queue, 28, out, err);
  });
}

void call_player::open_writer() {
  if (dice_.chance(2)) {
    taken_of(dataflux_operation_take_writer, writers_, dataflux_writer_free);
    return;
  }
  const bool member = dice_.chance(2);
  dataflux_conditions conditions;
  dataflux_conditions_init(&conditions, sizeof conditions);
  conditions.has = static_cast<std::uint32_t>(dice_.below(3));
  dataflux_writer_options o;
  dataflux_writer_options_init(&o, sizeof o);
  if (!member) {
    o.bucket = "bkt";
    o.object = dice_.chance(8) ? nullptr : "made/written";
    o.conditions = dice_.chance(4) ? &conditions : nullptr;
  }
  o.part_size = dice_.chance(2) ? std::uint64_t{5} << 20U : 0;
  o.timeout_ns = timeout();
  begin([&](auto* queue, auto** out, auto** err) {
    if (!member) {
      return dataflux_writer_open(any(clients_), odd_.of(o, dice_), queue, 23, out, err);
    }
    const char* const name = dice_.chance(2) ? "first" : "second";
    return dataflux_set_open_member(any(sets_), name, odd_.of(o, dice_), queue, 24, out, err);
  });
}

void call_player::write() {
  if (none(writers_)) return open_writer();
  dataflux_writer* const writer = any(writers_);
  const std::size_t size = dice_.chance(16) ? long_text().size() : 1000 * dice_.below(256);
  const std::int64_t limit = dice_.chance(2) ? little : 0;
  std::size_t taken = 77;
  switch (dice_.below(3)) {
    case 0:
      said(dataflux_writer_write(writer, long_text().data(), size, limit, &taken, err()));
      require(taken <= size);
      break;
    case 1:
      said(dataflux_writer_lend(writer, long_text().data(), size, limit, &taken, any(queues_), 25,
                                err()));
      require(taken <= size);
      break;
    default:
      said(dataflux_writer_notify(writer, any(queues_), 26, err()));
  }
}

void call_player::end_writer() {
  if (none(writers_)) return open_writer();
  const bool commits = !dice_.chance(4);
  begin([&](auto* queue, auto** out, auto** err) {
    return commits ? dataflux_writer_commit(any(writers_), queue, 27, out, err)
                   : dataflux_writer_abort(any(writers_), queue, 28, out, err);
  });
}

void call_player::open_shard_writer() {
  if (dice_.chance(2)) {
    taken_of(dataflux_operation_take_shard_writer, shard_writers_, dataflux_shard_writer_free);
    return;
  }
  dataflux_shard_writer_options o;
  dataflux_shard_writer_options_init(&o, sizeof o);
  o.bucket = dice_.chance(8) ? nullptr : "bkt";
  o.pattern = dice_.chance(8) ? "no number" : "made/shards/%03d.tar";
  o.count = dice_.below(3);
  o.bytes = dice_.chance(2) ? 1000 * dice_.below(100) : 0;
  o.first = dice_.chance(8) ? dice_.number() : 0;
  o.rank = static_cast<std::uint32_t>(dice_.below(3));
  o.ranks = static_cast<std::uint32_t>(dice_.below(4));
  o.resume = static_cast<std::uint32_t>(dice_.below(2));
  begin([&](auto* queue, auto** out, auto** err) {
    return dataflux_shard_writer_open(any(clients_), odd_.of(o, dice_), queue, 50, out, err);
  });
}

void call_player::write_shards() {
  if (none(shard_writers_)) return open_shard_writer();
  dataflux_shard_writer* const writer = any(shard_writers_);
  const std::string key = std::to_string(dice_.below(20)) + (dice_.chance(8) ? "." : "");
  const std::string_view data{long_text().data(), 100 * dice_.below(999)};
  const std::array<dataflux_field_bytes, 2> fields{
      {{"x", 1, data.data(), data.size()},
       {dice_.chance(8) ? "X" : "y", 1, dice_.chance(8) ? nullptr : data.data(), data.size() / 2}}};
  std::int32_t done = 77;
  switch (dice_.below(4)) {
    case 0:
      said(dataflux_shard_writer_notify(writer, any(queues_), 51, err()));
      return;
    case 1:
      said(dataflux_shard_writer_end(writer, 0, &done, err()));
      break;
    default:
      said(dataflux_shard_writer_write(writer, key.data(), key.size(), fields.data(),
                                       dice_.below(3), 0, &done, err()));
  }
  require(done == 0 || done == 1);
}

void call_player::end_shard_writer() {
  if (none(shard_writers_)) return open_shard_writer();
  const bool finishes = !dice_.chance(4);
  begin([&](auto* queue, auto** out, auto** err) {
    return finishes ? dataflux_shard_writer_finish(any(shard_writers_), queue, 52, out, err)
                    : dataflux_shard_writer_abort(any(shard_writers_), queue, 53, out, err);
  });
}

void call_player::open_reader() {
  if (dice_.chance(2)) {
    taken_of(dataflux_operation_take_reader, readers_, dataflux_reader_free);
    return;
  }
  const bool member = dice_.chance(4);
  dataflux_reader_options o;
  dataflux_reader_options_init(&o, sizeof o);
  if (!member) {
    o.bucket = "bkt";
    o.object = dice_.chance(4) ? "mine" : "o/000005";
  }
  o.block = dice_.below(3) * 100;
  o.timeout_ns = timeout();
  begin([&](auto* queue, auto** out, auto** err) {
    if (!member) {
      return dataflux_reader_open(any(clients_), odd_.of(o, dice_), queue, 29, out, err);
    }
    const char* const name = dice_.chance(2) ? "first" : ".dataflux-complete";
    return dataflux_set_reader_open(any(set_readers_), name, odd_.of(o, dice_), queue, 30, out,
                                    err);
  });
}

void call_player::read() {
  if (none(readers_)) return open_reader();
  dataflux_reader* const reader = any(readers_);
  require(dataflux_reader_generation(reader) >= 0);
  require(dataflux_reader_verified(reader) <= 1);
  const std::uint64_t size = dataflux_reader_size(reader);
  const std::array<std::uint64_t, 2> offsets{dice_.chance(8) ? size : dice_.below(100),
                                             dice_.chance(8) ? dice_.number() : dice_.below(256)};
  const std::array<std::uint64_t, 2> sizes{dice_.below(256), dice_.below(100)};
  begin([&](auto* queue, auto** out, auto** err) {
    if (dice_.chance(2)) {
      return dataflux_reader_read(reader, offsets[1], memory(), sizes[0], queue, 31, out, err);
    }
    const std::array<void*, 2> into{memory(), dice_.chance(8) ? nullptr : memory()};
    dataflux_range_columns c;
    dataflux_range_columns_init(&c, sizeof c);
    c.offsets = offsets.data();
    c.sizes = sizes.data();
    c.into = into.data();
    return dataflux_reader_read_ranges(reader, odd_.of(c, dice_), dice_.below(3), queue, 32, out,
                                       err);
  });
}

void call_player::ask_records(const dataflux_set* set) {
  for (dataflux_operation* const op : operations_) {
    char* record = nullptr;
    const dataflux_status status = said(dataflux_set_record(set, op, &record, err()));
    require((status == DATAFLUX_OK) == (record != nullptr));
    if (record != nullptr) set_records_.assign(1, record);
    dataflux_text_free(record);
  }
}

/// The text of a save over a set, if one has begun; else of nothing.
std::string call_player::ask_save() {
  for (dataflux_operation* const op : operations_) {
    const char* json = nullptr;
    lent_text(dataflux_operation_json(op, &json, err()), json);
    if (json == nullptr) continue;
    std::string text(json);
    if (text.starts_with("{\"dataflux-save-over\"")) return text;
  }
  return "{}";
}

void call_player::save_set() {
  dataflux_set_options o;
  dataflux_set_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.prefix = dice_.chance(2) ? "sets/a" : "sets/b/";
  o.timeout_ns = timeout();
  dataflux_set* made = nullptr;
  switch (none(sets_) ? 0 : dice_.below(6)) {
    case 0:
      if (room(sets_, dataflux_set_free)) {
        given(dataflux_set_create(any(clients_), odd_.of(o, dice_), &made, err()), made, sets_);
      }
      break;
    case 1:
      ask_records(any(sets_));
      break;
    case 2:
      begin([&](auto* queue, auto** out, auto** err) {
        const auto unfinished = static_cast<std::uint32_t>(dice_.below(3));
        return dataflux_set_begin(any(sets_), unfinished, queue, 33, out, err);
      });
      break;
    case 3:
      begin([&](auto* queue, auto** out, auto** err) {
        return dataflux_set_begin_over(any(sets_), queue, 47, out, err);
      });
      break;
    case 4:
      if (room(sets_, dataflux_set_free)) {
        const std::string save = ask_save();
        given(
            dataflux_set_over(any(sets_), dice_.chance(16) ? nullptr : save.c_str(), &made, err()),
            made, sets_);
      }
      break;
    default: {
      dataflux_set* const set = any(sets_);
      if (!dice_.chance(4)) ask_records(set);
      begin([&](auto* queue, auto** out, auto** err) {
        std::vector<const char*> records;
        for (const std::string& each : set_records_) records.push_back(each.c_str());
        if (dice_.chance(16)) records.push_back("{}");
        dataflux_set_commit_options c;
        dataflux_set_commit_options_init(&c, sizeof c);
        c.records = records.data();
        c.record_count = records.size();
        c.data = put_bytes;
        c.size = dice_.below(sizeof put_bytes);
        c.kms_key_name = dice_.chance(8) ? "a key" : nullptr;
        return dataflux_set_commit(set, odd_.of(c, dice_), queue, 34, out, err);
      });
    }
  }
}

void call_player::load_set() {
  const char* json = nullptr;
  dataflux_set_options o;
  dataflux_set_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.prefix = "sets";
  switch (dice_.below(4)) {
    case 0:
      taken_of(dataflux_operation_take_set_reader, set_readers_, dataflux_set_reader_free);
      break;
    case 1:
      lent_text(dataflux_set_reader_json(any(set_readers_), &json, err()), json);
      break;
    case 2:
      begin([&](auto* queue, auto** out, auto** err) {
        return dataflux_latest_set(any(clients_), odd_.of(o, dice_), queue, 35, out, err);
      });
      break;
    default:
      begin([&](auto* queue, auto** out, auto** err) {
        const char* const last = dice_.chance(4) ? "other" : nullptr;
        return dataflux_set_open(any(sets_), last, queue, 36, out, err);
      });
  }
}

void call_player::ask_sets() {
  dataflux_set_options o;
  dataflux_set_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.prefix = dice_.chance(8) ? nullptr : "sets";
  dataflux_keep_last_options keep;
  dataflux_keep_last_options_init(&keep, sizeof keep);
  keep.bucket = "bkt";
  keep.prefix = dice_.chance(8) ? "" : "sets";
  keep.remove_unfinished_older_than_ns = dice_.chance(2) ? 1 : 0;
  begin([&](auto* queue, auto** out, auto** err) {
    dataflux_client* const client = any(clients_);
    switch (dice_.below(3)) {
      case 0:
        return dataflux_list_sets(client, odd_.of(o, dice_), queue, 37, out, err);
      case 1:
        return dataflux_keep_last_sets(client, odd_.of(keep, dice_), queue, 38, out, err);
      default:
        return dataflux_remove_sets(client, odd_.of(o, dice_), queue, 39, out, err);
    }
  });
}

void call_player::copy_file() {
  const std::string file = path(dice_.chance(8) ? "no-folder/file" : "file");
  dataflux_download_file_options down;
  dataflux_download_file_options_init(&down, sizeof down);
  down.bucket = "bkt";
  down.object = dice_.chance(4) ? "mine" : "o/000004";
  down.path = dice_.chance(16) ? nullptr : file.c_str();
  down.offset = dice_.chance(4) ? dice_.below(256) : 0;
  down.length = dice_.chance(4) ? dice_.number() : 0;
  down.timeout_ns = timeout();
  down.resume = dice_.chance(2) ? 1 : 0;
  down.no_flush = 1;
  down.progress = dice_.chance(4) ? 1 : 0;
  dataflux_upload_file_options up;
  dataflux_upload_file_options_init(&up, sizeof up);
  up.bucket = "bkt";
  up.object = "made/file";
  up.path = file.c_str();
  up.timeout_ns = timeout();
  up.resume = down.resume;
  up.progress = down.progress;
  const bool downwards = dice_.chance(2);
  begin([&](auto* queue, auto** out, auto** err) {
    dataflux_client* const client = any(clients_);
    return downwards ? dataflux_download_file(client, odd_.of(down, dice_), queue, 40, out, err)
                     : dataflux_upload_file(client, odd_.of(up, dice_), queue, 41, out, err);
  });
}

void call_player::copy_folder() {
  const bool downwards = dice_.chance(2);
  const std::string folder = path("folder");
  dataflux_folder_options o;
  dataflux_folder_options_init(&o, sizeof o);
  o.path = dice_.chance(16) ? nullptr : folder.c_str();
  o.bucket = "bkt";
  // Nothing below "o/" is ever changed.
  o.prefix = downwards ? "o" : "made/folder";
  o.max_failures = dice_.below(3);
  o.timeout_ns = timeout();
  o.resume = dice_.chance(2) ? 1 : 0;
  o.dry_run = dice_.chance(4) ? 1 : 0;
  o.delete_extra = dice_.chance(4) ? 1 : 0;
  o.on_error = static_cast<std::uint32_t>(dice_.below(3));
  o.progress = dice_.chance(4) ? 1 : 0;
  const char* const texts[]{"*", dice_.chance(8) ? nullptr : "**"};
  dataflux_selection select;
  dataflux_selection_init(&select, sizeof select);
  select.match = select.exclude = texts;
  select.match_count = dice_.below(3);
  select.exclude_count = dice_.below(2);
  select.min_size = dice_.below(3);
  select.max_size = dice_.below(3);
  if (dice_.chance(4)) o.select = odd_.of(select, dice_);
  o.by_time = dice_.chance(4) ? 1 : 0;
  o.no_clobber = dice_.chance(4) ? 1 : 0;
  dataflux_copy_objects_options between;
  dataflux_copy_objects_options_init(&between, sizeof between);
  between.source_bucket = between.bucket = "bkt";
  between.source_prefix = dice_.chance(8) ? nullptr : "o";
  between.prefix = "made/copied";
  between.select = o.select;
  between.timeout_ns = o.timeout_ns;
  between.only_changed = o.resume;
  between.no_clobber = o.no_clobber;
  between.dry_run = o.dry_run;
  between.delete_extra = o.delete_extra;
  between.on_error = o.on_error;
  between.progress = o.progress;
  const bool copies = dice_.chance(3);
  begin([&](auto* queue, auto** out, auto** err) {
    dataflux_client* const client = any(clients_);
    if (copies) return dataflux_copy_objects(client, &between, queue, 47, out, err);
    // Not by options of another version: without its prefix it would be the whole bucket.
    if (downwards) return dataflux_download_folder(client, &o, queue, 42, out, err);
    return dataflux_upload_folder(client, &o, queue, 43, out, err);
  });
}

void call_player::sweep() {
  dataflux_remove_prefix_options remove;
  dataflux_remove_prefix_options_init(&remove, sizeof remove);
  remove.bucket = "bkt";
  remove.prefix = dice_.chance(8) ? nullptr : "made/";
  remove.older_than_ns = dice_.chance(4) ? 1'000'000'000 : 0;
  remove.dry_run = dice_.chance(4) ? 1 : 0;
  remove.timeout_ns = timeout();
  dataflux_leftovers_options o;
  dataflux_leftovers_options_init(&o, sizeof o);
  o.bucket = dice_.chance(8) ? nullptr : "bkt";
  o.kinds = static_cast<std::uint32_t>(dice_.below(5));
  o.older_than_ns = dice_.chance(2) ? -1 : 0;
  o.timeout_ns = timeout();
  begin([&](auto* queue, auto** out, auto** err) {
    dataflux_client* const client = any(clients_);
    switch (dice_.below(3)) {
      case 0:
        return dataflux_remove_prefix(client, &remove, queue, 44, out, err);
      case 1:
        return dataflux_find_leftovers(client, odd_.of(o, dice_), queue, 45, out, err);
      default:
        return dataflux_remove_leftovers(client, odd_.of(o, dice_), queue, 46, out, err);
    }
  });
}

void call_player::ask_events() {
  if (!room(events_, dataflux_events_free)) return;
  dataflux_events* made = nullptr;
  given(dataflux_client_events(any(clients_), any(queues_), events_tag, &made, err()), made,
        events_);
}

void call_player::free_feature() {
  switch (dice_.below(12)) {
    case 8:
      return free_one(shard_streams_, dataflux_shard_stream_free);
    case 9:
      return free_one(shard_writers_, dataflux_shard_writer_free);
    case 10:
      return free_one(mixers_, dataflux_mixer_free);
    case 7:
      return free_one(shard_indexes_, dataflux_shard_index_free);
    case 0:
      return free_one(listers_, dataflux_lister_free);
    case 1:
      return free_one(manifests_, dataflux_manifest_free);
    case 2:
      return free_one(changes_, dataflux_changes_free);
    case 3:
      return free_one(writers_, dataflux_writer_free);
    case 4:
      return free_one(readers_, dataflux_reader_free);
    case 5:
      return free_one(sets_, dataflux_set_free);
    case 6:
      return free_one(set_readers_, dataflux_set_reader_free);
    default:
      return free_one(events_, dataflux_events_free);
  }
}

void call_player::ask_sampler() {
  dataflux_sampler_options o;
  dataflux_sampler_options_init(&o, sizeof o);
  o.count = dice_.chance(4) ? dice_.number() : dice_.below(100);
  o.seed = dice_.number();
  o.epoch = dice_.below(3);
  o.shuffle = static_cast<std::uint32_t>(dice_.below(5));
  o.equalize = static_cast<std::uint32_t>(dice_.below(3));
  o.world_size = static_cast<std::uint32_t>(dice_.below(5));
  o.rank = static_cast<std::uint32_t>(dice_.below(5));
  if (dice_.chance(2)) o.block = dice_.number() % 9;
  if (dice_.chance(2)) o.window = dice_.chance(4) ? dice_.number() : dice_.below(5);
  const dataflux_sampler_options* const options = odd_.of(o, dice_);
  std::uint64_t size = 0;
  std::array<std::uint64_t, 16> rows{};
  const bool good = said(dataflux_sampler_size(options, &size, err())) == DATAFLUX_OK;
  require(good || size == 0);
  const std::size_t most = dice_.below(rows.size() + 1);
  const std::uint64_t first = dice_.chance(4) ? dice_.number() : dice_.below(100);
  const auto status = said(dataflux_sampler_rows(options, first, rows.data(), most, err()));
  const bool there = good && first <= size && most <= size - first;
  require((status == DATAFLUX_OK) == there);
  rows.fill(first);
  const auto apart = said(dataflux_sampler_rows_at(options, rows.data(), most, err()));
  require((apart == DATAFLUX_OK) == (good && (most == 0 || first < size)));
  std::uint64_t end = 0;
  said(dataflux_sampler_window_end(options, first, &end, err()));
  require(end <= size);
  dataflux_epoch_reads reads;
  dataflux_epoch_reads_init(&reads, sizeof reads);
  reads.sample_bytes = static_cast<double>(dice_.number());
  reads.shard_samples = static_cast<double>(dice_.below(100));
  reads.batch = dice_.number();
  reads.memory = dice_.number();
  reads.workers = dice_.number();
  dataflux_order_cost cost;
  said(dataflux_sampler_cost(options, more_odd_.of(reads, dice_), &cost, sizeof cost, err()));
}

void call_player::simulate_epoch() {
  const std::array<std::uint64_t, 2> sizes{dice_.below(10'000),
                                           dice_.chance(8) ? dice_.number() : 7};
  const std::array<std::uint64_t, 2> counts{dice_.below(200), dice_.chance(8) ? dice_.number() : 3};
  dataflux_epoch_model m;
  dataflux_epoch_model_init(&m, sizeof m);
  m.sizes = dice_.chance(9) ? nullptr : sizes.data();
  m.counts = dice_.chance(2) ? nullptr : counts.data();
  m.size_count = dice_.below(3);
  m.link = dice_.chance(8) ? -1.0 : 1e6 * static_cast<double>(dice_.below(1000));
  m.spread = dice_.chance(2) ? -1 : 0;
  m.round_trip_ns = static_cast<std::int64_t>(dice_.below(50'000'000));
  m.batch = dice_.chance(8) ? dice_.number() : dice_.below(20);
  m.step_ns = static_cast<std::int64_t>(dice_.below(2'000'000));
  m.workers = dice_.below(3);
  m.decode_ns = dice_.chance(3) ? 1000 : 0;
  m.order = static_cast<std::uint32_t>(dice_.below(3));
  dataflux_epoch_forecast told;
  const auto status = said(dataflux_simulate_epoch(odd_.of(m, dice_), &told, sizeof told, err()));
  require(status != DATAFLUX_OK || (told.seconds >= 0 && told.samples > 0));
  require(dataflux_epoch_bound_text(told.bound) != nullptr);
}

void call_player::ask_mixer() {
  if (none(mixers_)) {
    const std::array<std::uint64_t, 3> sizes{dice_.below(50), dice_.number(), dice_.below(9)};
    const std::array<std::uint64_t, 2> froms{0, dice_.below(40)};
    std::array<std::uint32_t, 6> parts{};
    for (auto& part : parts) part = static_cast<std::uint32_t>(dice_.below(9));
    dataflux_mixer_options o;
    dataflux_mixer_options_init(&o, sizeof o);
    if (!dice_.chance(8)) o.sizes = sizes.data();
    if (!dice_.chance(4)) o.froms = froms.data();
    if (!dice_.chance(8)) o.parts = parts.data();
    if (dice_.chance(4)) o.counts = sizes.data();
    o.sources = dice_.chance(8) ? dice_.number() | 512 : dice_.below(4);
    o.stages = static_cast<std::uint32_t>(dice_.below(3));
    o.ended = static_cast<std::uint32_t>(dice_.below(4));
    dataflux_mixer* made = nullptr;
    return given(dataflux_mixer_create(odd_.of(o, dice_), &made, err()), made, mixers_);
  }
  const dataflux_mixer* const mixer = any(mixers_);
  std::array<std::uint32_t, 16> sources{};
  std::array<std::uint64_t, 256> numbers{};
  std::size_t taken = 0;
  said(dataflux_mixer_draws(mixer, dice_.chance(4) ? dice_.number() : dice_.below(100),
                            dice_.chance(4) ? dice_.number() : dice_.below(5), sources.data(),
                            numbers.data(), dice_.below(sources.size() + 1), &taken, err()));
  require(taken <= sources.size());
  said(dataflux_mixer_counts(mixer, dice_.number(), numbers.data(), err()));
  said(dataflux_mixer_end(mixer, numbers.data(), err()));
}

void call_player::ask_cache() {
  dataflux_cache_options o;
  dataflux_cache_options_init(&o, sizeof o);
  if (dice_.chance(2)) o.bytes = dice_.number();
  if (dice_.chance(2)) o.min_free = dice_.number();
  const std::string folder = dice_.chance(8) ? "" : folder_ + "/cache";
  dataflux_cache* made = nullptr;
  said(dataflux_cache_open(dice_.chance(8) ? nullptr : folder.c_str(), odd_.of(o, dice_),
                           dice_.chance(8) ? nullptr : &made, err()));
  char* text = nullptr;
  said(dataflux_cache_counters(made, dice_.chance(8) ? nullptr : &text, err()));
  dataflux_text_free(text);
  said(dataflux_cache_flush(made, err()));
  dataflux_cache_free(made);
}

void call_player::ask_job() {
  dataflux_job_options o;
  dataflux_job_options_init(&o, sizeof o);
  o.processes = static_cast<std::uint32_t>(dice_.below(4));
  o.rank = static_cast<std::uint32_t>(dice_.below(3));
  if (dice_.chance(4)) o.reads = static_cast<double>(dice_.number());
  if (dice_.chance(4)) o.lease_ns = static_cast<std::int64_t>(dice_.number());
  dataflux_job* made = nullptr;
  said(dataflux_job_create(odd_.of(o, dice_), dice_.chance(8) ? nullptr : &made, err()));
  const char* const records[] = {"1;0;7;bkt,r,5000000,m,100,0", "1;1;3", "no record", nullptr};
  dataflux_client* const client = any(clients_);
  char* text = nullptr;
  said(dataflux_job_beat(made, client, dice_.chance(8) ? nullptr : records, dice_.below(5),
                         dice_.chance(8) ? nullptr : &text, err()));
  dataflux_text_free(text);
  std::uint32_t count = 0;
  std::uint32_t lowest = 0;
  said(dataflux_job_living(made, dice_.chance(8) ? nullptr : &count, &lowest, err()));
  said(dataflux_job_leave(made, client, err()));
  dataflux_job_free(made);
}

void call_player::free_features() {
  free_each(events_, dataflux_events_free);
  free_each(set_readers_, dataflux_set_reader_free);
  free_each(sets_, dataflux_set_free);
  free_each(readers_, dataflux_reader_free);
  free_each(writers_, dataflux_writer_free);
  free_each(shard_writers_, dataflux_shard_writer_free);
  free_each(shard_indexes_, dataflux_shard_index_free);
  free_each(shard_streams_, dataflux_shard_stream_free);
  free_each(mixers_, dataflux_mixer_free);
  free_each(changes_, dataflux_changes_free);
  free_each(manifests_, dataflux_manifest_free);
  free_each(listers_, dataflux_lister_free);
}

void call_player::feature() {
  static constexpr void (call_player::*all[])(){&call_player::list_stream,
                                                &call_player::ask_lister,
                                                &call_player::ask_lister,
                                                &call_player::save_manifest,
                                                &call_player::save_manifest,
                                                &call_player::ask_manifest,
                                                &call_player::ask_manifest,
                                                &call_player::ask_changes,
                                                &call_player::change_object,
                                                &call_player::ask_bucket,
                                                &call_player::sign,
                                                &call_player::open_writer,
                                                &call_player::open_writer,
                                                &call_player::write,
                                                &call_player::write,
                                                &call_player::end_writer,
                                                &call_player::open_reader,
                                                &call_player::open_reader,
                                                &call_player::read,
                                                &call_player::read,
                                                &call_player::save_set,
                                                &call_player::save_set,
                                                &call_player::load_set,
                                                &call_player::ask_sets,
                                                &call_player::copy_file,
                                                &call_player::copy_folder,
                                                &call_player::sweep,
                                                &call_player::ask_events,
                                                &call_player::ask_sampler,
                                                &call_player::ask_mixer,
                                                &call_player::index_shards,
                                                &call_player::index_shards,
                                                &call_player::verify_shards,
                                                &call_player::ask_shard_index,
                                                &call_player::stream_shard,
                                                &call_player::ask_shard_index,
                                                &call_player::open_shard_writer,
                                                &call_player::write_shards,
                                                &call_player::write_shards,
                                                &call_player::end_shard_writer,
                                                &call_player::ask_cache,
                                                &call_player::ask_job,
                                                &call_player::simulate_epoch,
                                                &call_player::free_feature};
  (this->*all[dice_.below(std::size(all))])();
}
