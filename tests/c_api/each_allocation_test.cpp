#include <c_api/child.hpp>
#include <c_api/sets.hpp>
#include <support/sanitized.hpp>
#include <support/short_memory.hpp>
#include <support/tar_bytes.hpp>
#include <support/temporary_folder.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace c_api_each_allocation_test {

// Every call of the C ABI, with each allocation of each thread failing in turn: it ends with
// success or resource_exhausted, once, and the client serves the next call. Each call has a forked
// child, so that the emulator, which is the parent's, has memory.

using namespace c_api_test;
using dataflux::test::short_memory;
using dataflux::test::short_memory_everywhere;

namespace {

/// Longer than any call here takes.
constexpr std::int64_t too_long = 10'000'000'000;
constexpr dataflux_status hangs = 99;
constexpr dataflux_status twice = 98;
constexpr dataflux_status wrong = 97;

/// Memory as if nothing were short, on this thread and as long as it lives.
class spared {
 public:
  spared() noexcept { short_memory_everywhere::spare_this_thread(true); }
  spared(const spared&) = delete;
  spared& operator=(const spared&) = delete;
  ~spared() { short_memory_everywhere::spare_this_thread(false); }
};

/// What the test itself needs.
template <class Make>
auto with_memory(Make make) {
  const spared now;
  return make();
}

/// A client, and a queue that all calls are told to.
struct place {
  client_ptr client{};
  queue_ptr queue{};
  std::filesystem::path folder{};
  std::uint64_t tag{0};
  /// Ends of what was not waited for yet.
  std::map<std::uint64_t, dataflux_status> ended{};

  std::string path(const char* name) const {
    return with_memory([&] { return (folder / name).string(); });
  }

  /// Waits for the record by which what has this tag ends; `use` gets those before.
  template <class Use>
  dataflux_status end_of(std::uint64_t of, Use use) {
    if (const auto before = ended.extract(of)) return before.mapped();
    dataflux_status end = hangs;
    while (end == hangs) {
      std::array<dataflux_record, 8> records;
      std::size_t count = 0;
      {
        // Whoever waits may be short of memory, too, which says nothing of the call.
        const spared now;
        const dataflux_status got = dataflux_queue_next(
            queue.get(), records.data(), sizeof records[0], records.size(), too_long, &count);
        if (got != DATAFLUX_OK || count == 0) return hangs;
      }
      for (std::size_t i = 0; i < count; ++i) {
        if (records[i].tag != of) {
          const spared now;
          const bool over = (records[i].flags & DATAFLUX_RECORD_END) != 0;
          if (over && !ended.emplace(records[i].tag, records[i].status).second) return twice;
          continue;
        }
        if (end != hangs) return twice;
        if ((records[i].flags & DATAFLUX_RECORD_END) != 0) {
          end = records[i].status;
          if (records[i].slab == 0) continue;
        }
        use(records[i]);
        dataflux_slabs_release(&records[i].slab, 1);
      }
    }
    return end;
  }
  /// A call from its beginning to its end.
  template <class Begin>
  dataflux_status call(Begin begin, operation_ptr* kept = nullptr) {
    dataflux_operation* op = nullptr;
    const std::uint64_t mine = ++tag;
    const dataflux_status begun = begin(queue.get(), mine, &op);
    if (begun != DATAFLUX_OK) return op == nullptr ? begun : wrong;
    operation_ptr owner(op);
    const dataflux_status status = end_of(mine, [](const auto&) {});
    if (status == hangs) static_cast<void>(owner.release());
    if (status == hangs || status == twice) return status;
    if (dataflux_operation_result(op, nullptr) != status) return wrong;
    if (kept != nullptr) *kept = std::move(owner);
    return status;
  }
  /// Nothing more is told.
  bool silent() const {
    if (!ended.empty()) return false;
    const spared now;
    dataflux_record record;
    std::size_t count = 0;
    return dataflux_queue_next(queue.get(), &record, sizeof record, 1, 0, &count) == DATAFLUX_OK &&
           count == 0;
  }
};

/// What is done, with memory before and then with ever less.
struct doing {
  const char* name;
  std::function<dataflux_status(place&)> run;
  std::function<void(place&)> prepare{};
};

#define CHECKED(...)                                                            \
  do {                                                                          \
    if (const dataflux_status is = (__VA_ARGS__); is != DATAFLUX_OK) return is; \
  } while (false)

template <class Options>
Options made(void (*init)(Options*, std::size_t)) {
  Options o;
  init(&o, sizeof o);
  return o;
}

// ---- Objects

dataflux_status stat(place& p, const char* name = "o/000001") {
  const auto o = world::object(name);
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_stat(p.client.get(), &o, queue, tag, out, nullptr);
  });
}
dataflux_status stat_json(place& p) {
  const auto o = world::object("o/000001");
  operation_ptr op;
  CHECKED(
      p.call([&](auto queue, auto tag,
                 auto out) { return dataflux_stat(p.client.get(), &o, queue, tag, out, nullptr); },
             &op));
  const char* json = nullptr;
  return dataflux_operation_json(op.get(), &json, nullptr);
}
dataflux_status waited_for(place& p) {
  const auto o = world::object("o/000001");
  dataflux_operation* op = nullptr;
  CHECKED(dataflux_stat(p.client.get(), &o, nullptr, 0, &op, nullptr));
  const operation_ptr owner(op);
  CHECKED(dataflux_operation_wait(op, too_long, nullptr));
  return dataflux_operation_result(op, nullptr);
}
dataflux_status put(place& p, const char* name = "put") {
  const auto o = world::object(name);
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_put(p.client.get(), &o, "12345", 5, nullptr, queue, tag, out, nullptr);
  });
}
dataflux_status remove(place& p) {
  const auto o = world::object("put");
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_remove(p.client.get(), &o, queue, tag, out, nullptr);
  });
}
dataflux_status get_one(place& p, const char* name = "o/000001", std::size_t size = 2001) {
  const auto o = world::object(name);
  std::string memory = with_memory([&] { return std::string(size, '\0'); });
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_get_one(p.client.get(), &o, 0, memory.data(), memory.size(), queue, tag, out,
                            nullptr);
  });
}
dataflux_status get(place& p, const char* name) {
  const auto o = world::object(name);
  dataflux_operation* op = nullptr;
  const std::uint64_t mine = ++p.tag;
  CHECKED(dataflux_get(p.client.get(), &o, 0, UINT64_MAX, p.queue.get(), mine, &op, nullptr));
  const operation_ptr owner(op);
  return p.end_of(mine, [](const auto&) {});
}
dataflux_status copy(place& p) {
  const auto from = world::object("o/000001");
  const auto to = world::object("copy");
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_copy(p.client.get(), &from, &to, nullptr, queue, tag, out, nullptr);
  });
}
dataflux_status move(place& p) {
  const auto from = world::object("put");
  const auto to = world::object("moved");
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_move(p.client.get(), &from, &to, queue, tag, out, nullptr);
  });
}
dataflux_status compose(place& p) {
  const auto to = world::object("composed");
  const std::array names{"o/000000", "o/000001"};
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_compose(p.client.get(), &to, names.data(), nullptr, names.size(), nullptr,
                            queue, tag, out, nullptr);
  });
}
dataflux_status patch(place& p) {
  const auto o = world::object("o/000002");
  auto a = made(dataflux_attributes_init);
  a.content_type = "text/plain";
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_patch(p.client.get(), &o, &a, queue, tag, out, nullptr);
  });
}

// ---- Buckets

dataflux_status bucket(place& p) {
  auto o = made(dataflux_bucket_options_init);
  o.bucket = "bkt";
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_bucket(p.client.get(), &o, queue, tag, out, nullptr);
  });
}
dataflux_status test_permissions(place& p) {
  auto o = made(dataflux_bucket_options_init);
  o.bucket = "bkt";
  const char* const asked = "storage.objects.get";
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_test_permissions(p.client.get(), &o, &asked, 1, queue, tag, out, nullptr);
  });
}
dataflux_status list_buckets(place& p) {
  auto o = made(dataflux_list_buckets_options_init);
  o.project = "p";
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_list_buckets(p.client.get(), &o, queue, tag, out, nullptr);
  });
}

// ---- Listings

dataflux_list_options listed() {
  auto o = made(dataflux_list_options_init);
  o.bucket = "bkt";
  o.prefix = "o/";
  return o;
}
dataflux_status list(place& p, listing_ptr& into) {
  const auto o = listed();
  operation_ptr op;
  CHECKED(
      p.call([&](auto queue, auto tag,
                 auto out) { return dataflux_list(p.client.get(), &o, queue, tag, out, nullptr); },
             &op));
  dataflux_listing* taken = nullptr;
  CHECKED(dataflux_operation_take_listing(op.get(), &taken, nullptr));
  into.reset(taken);
  return dataflux_listing_size(taken) == 5 ? DATAFLUX_OK : wrong;
}
dataflux_status list(place& p) {
  listing_ptr rows;
  CHECKED(list(p, rows));
  const char* json = nullptr;
  CHECKED(dataflux_listing_json(rows.get(), &json, nullptr));
  dataflux_chunk chunk;
  return dataflux_listing_chunk(rows.get(), 0, &chunk, sizeof chunk, nullptr);
}
dataflux_status list_stream(place& p) {
  const auto o = listed();
  dataflux_lister* made = nullptr;
  const std::uint64_t mine = ++p.tag;
  CHECKED(dataflux_list_stream(p.client.get(), &o, p.queue.get(), mine, &made, nullptr));
  const lister_ptr lister(made);
  dataflux_status took = DATAFLUX_OK;
  std::uint64_t rows = 0;
  const dataflux_status end = p.end_of(mine, [&](const auto&) {
    dataflux_listing* batch = nullptr;
    // One that could not be taken can be asked for again.
    for (int i = 0; i < 3 && batch == nullptr; ++i) {
      took = dataflux_lister_take(lister.get(), &batch, nullptr);
    }
    if (batch == nullptr) return dataflux_lister_cancel(lister.get());
    const listing_ptr owner(batch);
    rows += dataflux_listing_size(batch);
  });
  if (took != DATAFLUX_OK) return end == hangs || end == twice ? end : took;
  return end == DATAFLUX_OK && rows != 5 ? wrong : end;
}

// ---- Very many objects

/// To the end of a stream. The items of those that did not fail are whole.
dataflux_status read_all(place& p, std::uint64_t mine, std::uint64_t items) {
  dataflux_status worst = DATAFLUX_OK;
  std::uint64_t count = 0;
  const dataflux_status end = p.end_of(mine, [&](const dataflux_record& r) {
    ++count;
    if (r.status != DATAFLUX_OK) worst = r.status;
    const auto body = with_memory([&] { return world::body_of(static_cast<int>(r.index)); });
    if (r.status == DATAFLUX_OK && bytes_of(r) != body) worst = wrong;
  });
  if (end != DATAFLUX_OK) return end;
  return worst == DATAFLUX_OK && count != items ? wrong : worst;
}
dataflux_status get_many(place& p) {
  listing_ptr rows;
  CHECKED(list(p, rows));
  auto o = made(dataflux_get_many_options_init);
  o.bucket = "bkt";
  dataflux_getter* made = nullptr;
  const std::uint64_t mine = ++p.tag;
  CHECKED(dataflux_get_many(p.client.get(), &o, rows.get(), nullptr, 0, p.queue.get(), mine, &made,
                            nullptr));
  const getter_ptr owner(made);
  return read_all(p, mine, 5);
}
dataflux_status get_pushed(place& p) {
  auto o = made(dataflux_get_many_options_init);
  o.bucket = "bkt";
  o.feed = 1;
  dataflux_getter* getter = nullptr;
  const std::uint64_t mine = ++p.tag;
  CHECKED(dataflux_get_many(p.client.get(), &o, nullptr, nullptr, 0, p.queue.get(), mine, &getter,
                            nullptr));
  const getter_ptr owner(getter);
  auto c = made(dataflux_get_columns_init);
  c.names = "o/000000o/000001o/000002";
  const std::array<std::uint64_t, 4> offsets{0, 8, 16, 24};
  c.name_offsets = offsets.data();
  std::size_t taken = 0;
  const dataflux_status pushed = dataflux_getter_push(getter, &c, 3, &taken, nullptr);
  dataflux_getter_finish(getter);
  const dataflux_status end = read_all(p, mine, pushed == DATAFLUX_OK ? 3 : taken);
  return pushed == DATAFLUX_OK ? end : pushed;
}
dataflux_status get_batches(place& p) {
  listing_ptr rows;
  CHECKED(list(p, rows));
  auto o = made(dataflux_get_many_options_init);
  o.bucket = "bkt";
  dataflux_batch_getter* made_batches = nullptr;
  const std::uint64_t mine = ++p.tag;
  CHECKED(dataflux_get_batches(p.client.get(), &o, rows.get(), p.queue.get(), mine, &made_batches,
                               nullptr));
  std::string memory = with_memory([] { return std::string(std::size_t{5} * 3'000, '#'); });
  const std::unique_ptr<dataflux_batch_getter, freer<dataflux_batch_getter_free>> owner(
      made_batches);
  const std::array<std::uint64_t, 5> numbers{0, 1, 2, 3, 4};
  const std::array<std::uint64_t, 5> offsets{0, 3'000, 6'000, 9'000, 12'000};
  auto b = made(dataflux_batch_init);
  b.count = numbers.size();
  b.numbers = numbers.data();
  b.data = memory.data();
  b.size = memory.size();
  b.offsets = offsets.data();
  const dataflux_status pushed = dataflux_batch_getter_push(made_batches, &b, nullptr, nullptr);
  dataflux_batch_getter_finish(made_batches);
  dataflux_status worst = DATAFLUX_OK;
  std::size_t count = 0;
  const dataflux_status end = p.end_of(mine, [&](const dataflux_record& r) {
    if (r.status != DATAFLUX_OK) worst = r.status;
    if ((r.flags & DATAFLUX_RECORD_ROW) == 0) ++count;
  });
  if (end == hangs || end == twice) return end;
  if (pushed != DATAFLUX_OK) return pushed;
  if (end != DATAFLUX_OK || worst != DATAFLUX_OK) return end != DATAFLUX_OK ? end : worst;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto body = with_memory([&] { return world::body_of(static_cast<int>(i)); });
    if (std::string_view(memory).substr(offsets[i], body.size()) != body) return wrong;
  }
  return count == 1 ? DATAFLUX_OK : wrong;
}
dataflux_status get_composed(place& p) {
  listing_ptr rows;
  CHECKED(list(p, rows));
  auto o = made(dataflux_get_many_options_init);
  o.bucket = "bkt";
  o.compose = 1;
  dataflux_getter* made = nullptr;
  const std::uint64_t mine = ++p.tag;
  CHECKED(dataflux_get_many(p.client.get(), &o, rows.get(), nullptr, 0, p.queue.get(), mine, &made,
                            nullptr));
  const getter_ptr owner(made);
  return read_all(p, mine, 5);
}

// ---- Manifests

dataflux_manifest_options file_of(const std::string& path) {
  auto o = made(dataflux_manifest_options_init);
  o.path = path.c_str();
  return o;
}
dataflux_status save(place& p, const dataflux_manifest_options& o) {
  listing_ptr rows;
  CHECKED(list(p, rows));
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_manifest_save(p.client.get(), &o, rows.get(), queue, tag, out, nullptr);
  });
}
dataflux_status open(place& p, const dataflux_manifest_options& o, manifest_ptr& into) {
  operation_ptr op;
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_manifest_open(p.client.get(), &o, queue, tag, out, nullptr);
      },
      &op));
  dataflux_manifest* taken = nullptr;
  CHECKED(dataflux_operation_take_manifest(op.get(), &taken, nullptr));
  into.reset(taken);
  return DATAFLUX_OK;
}
dataflux_status use_manifest(place& p, const dataflux_manifest_options& o) {
  manifest_ptr m;
  CHECKED(open(p, o, m));
  const char* json = nullptr;
  CHECKED(dataflux_manifest_json(m.get(), &json, nullptr));
  dataflux_row row;
  CHECKED(dataflux_manifest_row(m.get(), 1, &row, sizeof row, nullptr));
  operation_ptr op;
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_manifest_rows(p.client.get(), m.get(), 0, 5, queue, tag, out, nullptr);
      },
      &op));
  dataflux_listing* taken = nullptr;
  CHECKED(dataflux_operation_take_listing(op.get(), &taken, nullptr));
  dataflux_listing_free(taken);
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_manifest_refresh(p.client.get(), m.get(), nullptr, queue, tag, out,
                                         nullptr);
      },
      &op));
  dataflux_changes* made = nullptr;
  CHECKED(dataflux_operation_take_changes(op.get(), &made, nullptr));
  const changes_ptr changes(made);
  dataflux_changed_rows rows;
  return dataflux_changes_rows(made, &rows, sizeof rows, nullptr);
}
// ---- Shards

dataflux_status index_shards(place& p, const std::string& path) {
  auto l = made(dataflux_list_options_init);
  l.bucket = "bkt";
  l.prefix = "shards/";
  operation_ptr op;
  CHECKED(
      p.call([&](auto queue, auto tag,
                 auto out) { return dataflux_list(p.client.get(), &l, queue, tag, out, nullptr); },
             &op));
  dataflux_listing* taken = nullptr;
  CHECKED(dataflux_operation_take_listing(op.get(), &taken, nullptr));
  const listing_ptr listing(taken);
  auto o = made(dataflux_index_shards_options_init);
  o.bucket = "bkt";
  o.path = path.c_str();
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_index_shards(p.client.get(), &o, taken, queue, tag, out, nullptr);
      },
      &op));
  const char* json = nullptr;
  return dataflux_operation_json(op.get(), &json, nullptr);
}
dataflux_status read_samples(place& p, const dataflux_shard_index* index) {
  auto o = made(dataflux_get_many_options_init);
  o.bucket = "bkt";
  o.feed = 1;
  dataflux_getter* getter = nullptr;
  const std::uint64_t mine = ++p.tag;
  CHECKED(dataflux_get_many(p.client.get(), &o, nullptr, nullptr, 0, p.queue.get(), mine, &getter,
                            nullptr));
  const getter_ptr owner(getter);
  const std::array<std::uint64_t, 2> numbers{1, 0};
  std::size_t taken = 0;
  const dataflux_status pushed =
      dataflux_getter_push_samples(getter, index, numbers.data(), 2, &taken, nullptr);
  dataflux_getter_finish(getter);
  dataflux_status worst = DATAFLUX_OK;
  std::size_t count = 0;
  const dataflux_status end = p.end_of(mine, [&](const dataflux_record& r) {
    ++count;
    if (r.status != DATAFLUX_OK) worst = r.status;
    const bool whole = r.size == 1024 && (r.flags & DATAFLUX_RECORD_VERIFIED) != 0;
    if (r.status == DATAFLUX_OK && !whole) worst = wrong;
  });
  if (pushed != DATAFLUX_OK) return pushed;
  if (end != DATAFLUX_OK) return end;
  return worst == DATAFLUX_OK && count != taken ? wrong : worst;
}
dataflux_status use_shard_index(place& p) {
  const std::string path = p.path("index");
  dataflux_shard_index* opened = nullptr;
  CHECKED(dataflux_shard_index_open(path.c_str(), &opened, nullptr));
  const shard_index_ptr index(opened);
  std::array<std::uint64_t, 2> found{};
  std::size_t count = 0;
  CHECKED(dataflux_shard_index_find(opened, "b", 1, found.data(), found.size(), &count, nullptr));
  std::size_t key_size = 0;
  const std::string bytes =
      with_memory([] { return dataflux::test::tar_members({{.name = "b.txt", .data = "of b"}}); });
  CHECKED(dataflux_shard_index_split(opened, 1, bytes.data(), bytes.size(), nullptr, 0, &count,
                                     nullptr, 0, &key_size, nullptr));
  return read_samples(p, opened);
}

dataflux_status verify_shards(place& p) {
  const std::string path = p.path("index");
  dataflux_shard_index* opened = nullptr;
  CHECKED(dataflux_shard_index_open(path.c_str(), &opened, nullptr));
  const shard_index_ptr index(opened);
  auto o = made(dataflux_verify_shards_options_init);
  const std::string to = p.path("verified");
  o.path = to.c_str();
  operation_ptr op;
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_verify_shards(p.client.get(), opened, &o, queue, tag, out, nullptr);
      },
      &op));
  const char* json = nullptr;
  return dataflux_operation_json(op.get(), &json, nullptr);
}

dataflux_manifest_options object_manifest() {
  auto o = made(dataflux_manifest_options_init);
  o.bucket = "bkt";
  o.object = "manifest";
  return o;
}
dataflux_status list_shared(place& p) {
  const auto o = listed();
  const std::string board = with_memory([&] { return "a-board/" + std::to_string(p.tag) + "/"; });
  const std::string path = p.path("shared");
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_list_shared(p.client.get(), &o, "bkt", board.c_str(), path.c_str(), 0, queue,
                                tag, out, nullptr);
  });
}

// ---- Writers and readers

dataflux_status take(operation_ptr& op, writer_ptr& into) {
  dataflux_writer* made = nullptr;
  const dataflux_status status = dataflux_operation_take_writer(op.get(), &made, nullptr);
  into.reset(made);
  return status;
}
dataflux_status take(operation_ptr& op, reader_ptr& into) {
  dataflux_reader* made = nullptr;
  const dataflux_status status = dataflux_operation_take_reader(op.get(), &made, nullptr);
  into.reset(made);
  return status;
}
dataflux_status fill(const writer_ptr& writer, std::string_view bytes) {
  std::size_t taken = 0;
  CHECKED(
      dataflux_writer_write(writer.get(), bytes.data(), bytes.size(), too_long, &taken, nullptr));
  return taken == bytes.size() ? DATAFLUX_OK : wrong;
}
dataflux_status commit(place& p, const writer_ptr& writer, operation_ptr* kept = nullptr) {
  return p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_writer_commit(writer.get(), queue, tag, out, nullptr);
      },
      kept);
}
dataflux_status open_writer(place& p, writer_ptr& into) {
  const auto o = writer_of("written");
  operation_ptr op;
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_writer_open(p.client.get(), &o, queue, tag, out, nullptr);
      },
      &op));
  return take(op, into);
}
dataflux_status write_small(place& p) {
  writer_ptr writer;
  CHECKED(open_writer(p, writer));
  CHECKED(fill(writer, "12345"));
  return commit(p, writer);
}
const std::string& long_text() {
  static const std::string text(2 * least_part + 9, 'x');
  return text;
}
dataflux_status write_parts(place& p) {
  auto o = writer_of("parts");
  o.part_size = least_part;
  operation_ptr op;
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_writer_open(p.client.get(), &o, queue, tag, out, nullptr);
      },
      &op));
  writer_ptr writer;
  CHECKED(take(op, writer));
  const std::uint64_t mine = ++p.tag;
  std::size_t taken = 0;
  const dataflux_status lent =
      dataflux_writer_lend(writer.get(), long_text().data(), long_text().size(), too_long, &taken,
                           p.queue.get(), mine, nullptr);
  const dataflux_status end = lent == DATAFLUX_OK ? commit(p, writer) : lent;
  writer.reset();
  if (taken > 0 && p.end_of(mine, [](const auto&) {}) != DATAFLUX_OK) return hangs;
  return end;
}
dataflux_status abort_writer(place& p) {
  writer_ptr writer;
  CHECKED(open_writer(p, writer));
  CHECKED(fill(writer, "12345"));
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_writer_abort(writer.get(), queue, tag, out, nullptr);
  });
}
dataflux_status write_shards(place& p) {
  auto o = made(dataflux_shard_writer_options_init);
  o.bucket = "bkt";
  // Of this run alone: what one before it has sent may be carried out late.
  const std::string pattern =
      with_memory([&] { return "tmp/" + std::to_string(p.tag) + "-%03d.tar"; });
  o.pattern = pattern.c_str();
  o.count = 1;
  operation_ptr op;
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_shard_writer_open(p.client.get(), &o, queue, tag, out, nullptr);
      },
      &op));
  dataflux_shard_writer* opened = nullptr;
  const dataflux_status taken = dataflux_operation_take_shard_writer(op.get(), &opened, nullptr);
  const shard_writer_ptr writer(opened);
  CHECKED(taken);
  const dataflux_field_bytes field{"x", 1, "12345", 5};
  std::int32_t done = 0;
  for (const char* key : {"a", "b"}) {
    CHECKED(dataflux_shard_writer_write(opened, key, 1, &field, 1, 1, &done, nullptr));
  }
  CHECKED(dataflux_shard_writer_end(opened, 1, &done, nullptr));
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_shard_writer_finish(opened, queue, tag, out, nullptr);
  });
}
dataflux_status read(place& p, const reader_ptr& reader) {
  const std::size_t size = dataflux_reader_size(reader.get());
  std::string memory = with_memory([&] { return std::string(size, '\0'); });
  CHECKED(p.call([&](auto queue, auto tag, auto out) {
    return dataflux_reader_read(reader.get(), 0, memory.data(), size, queue, tag, out, nullptr);
  }));
  const std::array<std::uint64_t, 2> offsets{0, 1000};
  const std::array<std::uint64_t, 2> sizes{100, 100};
  const std::array<void*, 2> into{memory.data(), memory.data() + 1000};
  auto c = made(dataflux_range_columns_init);
  c.offsets = offsets.data();
  c.sizes = sizes.data();
  c.into = into.data();
  CHECKED(p.call([&](auto queue, auto tag, auto out) {
    return dataflux_reader_read_ranges(reader.get(), &c, 2, queue, tag, out, nullptr);
  }));
  return DATAFLUX_OK;
}
dataflux_status read(place& p) {
  auto o = made(dataflux_reader_options_init);
  o.bucket = "bkt";
  o.object = "o/000001";
  operation_ptr op;
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_reader_open(p.client.get(), &o, queue, tag, out, nullptr);
      },
      &op));
  reader_ptr reader;
  CHECKED(take(op, reader));
  return read(p, reader);
}

// ---- Sets

dataflux_status make(place& p, const char* prefix, set_ptr& into) {
  const auto o = below(prefix);
  dataflux_set* made = nullptr;
  CHECKED(dataflux_set_create(p.client.get(), &o, &made, nullptr));
  into.reset(made);
  return DATAFLUX_OK;
}
dataflux_status save_member(place& p, const set_ptr& set, std::string& record) {
  operation_ptr op;
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_set_open_member(set.get(), "rank-0", nullptr, queue, tag, out, nullptr);
      },
      &op));
  writer_ptr writer;
  CHECKED(take(op, writer));
  CHECKED(fill(writer, with_memory([] { return world::body_of(1); })));
  CHECKED(commit(p, writer, &op));
  char* text = nullptr;
  CHECKED(dataflux_set_record(set.get(), op.get(), &text, nullptr));
  const spared now;
  record = text;
  dataflux_text_free(text);
  return DATAFLUX_OK;
}
dataflux_status commit(place& p, const set_ptr& set, const std::string& record) {
  const char* const text = record.c_str();
  auto o = made(dataflux_set_commit_options_init);
  o.records = &text;
  o.record_count = 1;
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_set_commit(set.get(), &o, queue, tag, out, nullptr);
  });
}
dataflux_status save_set(place& p, const char* prefix) {
  set_ptr set;
  std::string record;
  CHECKED(make(p, prefix, set));
  CHECKED(p.call([&](auto queue, auto tag, auto out) {
    return dataflux_set_begin(set.get(), DATAFLUX_UNFINISHED_REPLACE, queue, tag, out, nullptr);
  }));
  CHECKED(save_member(p, set, record));
  return commit(p, set, record);
}
dataflux_status save_over(place& p) {
  set_ptr set;
  CHECKED(make(p, "over/a", set));
  operation_ptr op;
  CHECKED(
      p.call([&](auto queue, auto tag,
                 auto out) { return dataflux_set_begin_over(set.get(), queue, tag, out, nullptr); },
             &op));
  const char* text = nullptr;
  CHECKED(dataflux_operation_json(op.get(), &text, nullptr));
  dataflux_set* made = nullptr;
  CHECKED(dataflux_set_over(set.get(), text, &made, nullptr));
  const set_ptr over(made);
  std::string record;
  CHECKED(save_member(p, over, record));
  return commit(p, over, record);
}
dataflux_status use_set(place& p, operation_ptr& op) {
  dataflux_set_reader* made = nullptr;
  CHECKED(dataflux_operation_take_set_reader(op.get(), &made, nullptr));
  const set_reader_ptr members(made);
  const char* json = nullptr;
  CHECKED(dataflux_set_reader_json(made, &json, nullptr));
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_set_reader_open(made, "rank-0", nullptr, queue, tag, out, nullptr);
      },
      &op));
  reader_ptr reader;
  CHECKED(take(op, reader));
  return read(p, reader);
}
dataflux_status open_set(place& p) {
  set_ptr set;
  CHECKED(make(p, "runs/a", set));
  operation_ptr op;
  CHECKED(p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_set_open(set.get(), nullptr, queue, tag, out, nullptr);
      },
      &op));
  return use_set(p, op);
}
dataflux_status latest_set(place& p) {
  const auto o = below("runs/");
  operation_ptr op;
  return p.call(
      [&](auto queue, auto tag, auto out) {
        return dataflux_latest_set(p.client.get(), &o, queue, tag, out, nullptr);
      },
      &op);
}
dataflux_status list_sets(place& p) {
  const auto o = below("runs/");
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_list_sets(p.client.get(), &o, queue, tag, out, nullptr);
  });
}
dataflux_status keep_last(place& p) {
  auto o = made(dataflux_keep_last_options_init);
  o.bucket = "bkt";
  o.prefix = "gone/";
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_keep_last_sets(p.client.get(), &o, queue, tag, out, nullptr);
  });
}
dataflux_status remove_sets(place& p) {
  const auto o = below("gone/");
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_remove_sets(p.client.get(), &o, queue, tag, out, nullptr);
  });
}

// ---- Files and folders

dataflux_status download_file(place& p, bool resume, const char* object = "o/000001") {
  auto o = made(dataflux_download_file_options_init);
  const std::string path = p.path("down");
  o.bucket = "bkt";
  o.object = object;
  o.path = path.c_str();
  o.resume = resume ? 1 : 0;
  o.progress = 1;
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_download_file(p.client.get(), &o, queue, tag, out, nullptr);
  });
}
dataflux_status upload_file(place& p, bool resume, const char* name = "files/a") {
  auto o = made(dataflux_upload_file_options_init);
  const std::string path = p.path(name);
  o.bucket = "bkt";
  o.object = "up";
  o.path = path.c_str();
  o.resume = resume ? 1 : 0;
  o.progress = 1;
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_upload_file(p.client.get(), &o, queue, tag, out, nullptr);
  });
}
using copying = dataflux_status (*)(dataflux_client*, const dataflux_folder_options*,
                                    dataflux_queue*, std::uint64_t, dataflux_operation**,
                                    dataflux_error**);
dataflux_status folder(place& p, copying copy, const char* name, const char* prefix) {
  auto o = made(dataflux_folder_options_init);
  const std::string path = p.path(name);
  o.path = path.c_str();
  o.bucket = "bkt";
  o.prefix = prefix;
  o.on_error = DATAFLUX_ON_ERROR_STOP;
  o.delete_extra = 1;
  return p.call([&](auto queue, auto tag, auto out) {
    return copy(p.client.get(), &o, queue, tag, out, nullptr);
  });
}
dataflux_status copy_objects(place& p) {
  const char* const texts[]{"**"};
  auto select = made(dataflux_selection_init);
  select.match = texts;
  select.match_count = 1;
  auto o = made(dataflux_copy_objects_options_init);
  o.source_bucket = o.bucket = "bkt";
  o.source_prefix = "tmp";
  o.prefix = "copied";
  o.select = &select;
  o.on_error = DATAFLUX_ON_ERROR_STOP;
  o.only_changed = 1;
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_copy_objects(p.client.get(), &o, queue, tag, out, nullptr);
  });
}
dataflux_status remove_prefix(place& p) {
  auto o = made(dataflux_remove_prefix_options_init);
  o.bucket = "bkt";
  o.prefix = "tmp/";
  return p.call([&](auto queue, auto tag, auto out) {
    return dataflux_remove_prefix(p.client.get(), &o, queue, tag, out, nullptr);
  });
}
using looking = dataflux_status (*)(dataflux_client*, const dataflux_leftovers_options*,
                                    dataflux_queue*, std::uint64_t, dataflux_operation**,
                                    dataflux_error**);
dataflux_status leftovers(place& p, looking look) {
  auto o = made(dataflux_leftovers_options_init);
  o.bucket = "bkt";
  o.older_than_ns = -1;
  return p.call([&](auto queue, auto tag, auto out) {
    return look(p.client.get(), &o, queue, tag, out, nullptr);
  });
}

// ---- Clients

dataflux_status texts(place& p) {
  char* text = nullptr;
  CHECKED(dataflux_client_metrics(p.client.get(), &text, nullptr));
  dataflux_text_free(text);
  CHECKED(dataflux_client_prometheus(p.client.get(), &text, nullptr));
  dataflux_text_free(text);
  return DATAFLUX_OK;
}
dataflux_status beat(place& p) {
  dataflux_job* job = nullptr;
  CHECKED(dataflux_job_create(nullptr, &job, nullptr));
  const std::unique_ptr<dataflux_job, freer<dataflux_job_free>> owner(job);
  const char* const record = "1;0;1;bkt,r,5000000,m,100,0";
  char* text = nullptr;
  CHECKED(dataflux_job_beat(job, p.client.get(), &record, 1, &text, nullptr));
  dataflux_text_free(text);
  return dataflux_job_leave(job, p.client.get(), nullptr);
}
dataflux_status events(place& p) {
  dataflux_events* made = nullptr;
  const std::uint64_t mine = ++p.tag;
  CHECKED(dataflux_client_events(p.client.get(), p.queue.get(), mine, &made, nullptr));
  const events_ptr owner(made);
  return stat(p);
}
/// Of a client that nothing was asked of yet.
dataflux_status fresh(place& p, const std::string& endpoint) {
  place mine;
  mine.client = lean_client(endpoint, 100);
  if (mine.client == nullptr) return DATAFLUX_RESOURCE_EXHAUSTED;
  dataflux_queue* queue = nullptr;
  CHECKED(dataflux_queue_create(&queue, nullptr));
  mine.queue.reset(queue);
  const dataflux_status status = stat(mine);
  const spared now;
  p.tag += 1;
  mine.client.reset();
  return status;
}

std::vector<doing> all_of(const std::string& endpoint) {
  const auto before = [](auto&&... each) {
    return [=](place& p) { (static_cast<void>(each(p)), ...); };
  };
  const auto put_first = [](place& p) { put(p); };
  const auto saved = [](place& p) {
    const std::string path = p.path("manifest");
    save(p, file_of(path));
    save(p, object_manifest());
  };
  const auto sets_gone = [](place& p) {
    if (stat(p, "gone/a/.dataflux-complete") != DATAFLUX_OK) save_set(p, "gone/a");
    if (stat(p, "gone/b/.dataflux-complete") != DATAFLUX_OK) save_set(p, "gone/b");
  };
  return {
      {"a fresh client", [endpoint](place& p) { return fresh(p, endpoint); }},
      {"stat", stat_json},
      {"a wait", waited_for},
      {"a missing object",
       [](place& p) {
         const dataflux_status status = stat(p, "missing");
         return status == DATAFLUX_NOT_FOUND ? DATAFLUX_OK : status;
       }},
      {"put", [](place& p) { return put(p); }},
      {"remove", remove, put_first},
      {"get_one", [](place& p) { return get_one(p); }},
      {"get_one, long", [](place& p) { return get_one(p, "long", 20'000'000); }},
      {"get", [](place& p) { return get(p, "o/000001"); }},
      {"get, long", [](place& p) { return get(p, "long"); }},
      {"copy", copy},
      {"move", move, put_first},
      {"compose", compose},
      {"patch", patch},
      {"bucket", bucket},
      {"test_permissions", test_permissions},
      {"list_buckets", list_buckets},
      {"list", [](place& p) { return list(p); }},
      {"list_stream", list_stream},
      {"get_many", get_many},
      {"get_many, pushed", get_pushed},
      {"get_batches", get_batches},
      {"get_many, composed", get_composed},
      {"manifest of a file", [](place& p) { return use_manifest(p, file_of(p.path("manifest"))); },
       saved},
      {"manifest of an object", [](place& p) { return use_manifest(p, object_manifest()); }, saved},
      {"manifest_save, file", [](place& p) { return save(p, file_of(p.path("saved"))); }},
      {"index_shards", [](place& p) { return index_shards(p, p.path("index")); }},
      {"shard_index", use_shard_index, [](place& p) { index_shards(p, p.path("index")); }},
      {"verify_shards", verify_shards, [](place& p) { index_shards(p, p.path("index")); }},
      {"list_sets", list_sets},
      {"remove_sets", remove_sets, sets_gone},
      {"copy_objects", copy_objects, [](place& p) { put(p, "tmp/a"); }},
      {"remove_prefix", remove_prefix,
       [](place& p) {
         put(p, "tmp/a");
         put(p, "tmp/b");
       }},
      {"find_leftovers", [](place& p) { return leftovers(p, dataflux_find_leftovers); }},
      {"remove_leftovers", [](place& p) { return leftovers(p, dataflux_remove_leftovers); }},
      {"metrics", texts},
      {"a job's beat", beat},
      {"events", events},
      {"manifest_save, object", [](place& p) { return save(p, object_manifest()); }},
      {"list_shared", list_shared, [](place& p) { ++p.tag; }},
      {"a small writer", write_small},
      {"a writer of parts", write_parts},
      {"abort", abort_writer},
      {"shards", write_shards, before([](place& p) { return remove_prefix(p); })},
      {"read", [](place& p) { return read(p); }},
      {"set", [](place& p) { return save_set(p, "sets/a"); },
       [](place& p) {
         const auto o = below("sets/");
         p.call([&](auto queue, auto tag, auto out) {
           return dataflux_remove_sets(p.client.get(), &o, queue, tag, out, nullptr);
         });
       }},
      {"set over", save_over, before([](place& p) { return save_set(p, "over/a"); })},
      {"set_open", open_set},
      {"latest_set", latest_set},
      {"keep_last_sets", keep_last, sets_gone},
      {"download_file", [](place& p) { return download_file(p, false); }},
      {"download_file, resume", [](place& p) { return download_file(p, true, "long"); }},
      {"upload_file", [](place& p) { return upload_file(p, false); }},
      {"upload_file, resume", [](place& p) { return upload_file(p, true, "long"); }},
      {"upload_folder",
       [](place& p) { return folder(p, dataflux_upload_folder, "files", "folder"); }},
      {"download_folder",
       [](place& p) { return folder(p, dataflux_download_folder, "into", "o"); }},
  };
}

using how = short_memory_everywhere::how;

/// Which allocations fail: the first of them all, the others as many as there is time for.
std::vector<std::int64_t> chosen(std::int64_t all) {
  constexpr std::int64_t first = 40;
  constexpr std::int64_t others = 60;
  std::vector<std::int64_t> out;
  const std::int64_t stride = std::max<std::int64_t>(1, (all - first) / others);
  for (std::int64_t k = 0; k < all; k += k < first ? 1 : stride) out.push_back(k);
  return out;
}

/// With memory for `k` allocations. What is wrong with it is told.
bool try_with(child& in, const doing& what, place& p, std::int64_t k, how lasts) {
  if (what.prepare) what.prepare(p);
  in.tell(what.name, k);
  ::alarm(30);
  dataflux_status status = DATAFLUX_OK;
  bool felt = false;
  {
    const short_memory_everywhere now(k, lasts);
    status = what.run(p);
    felt = short_memory_everywhere::felt();
  }
  bool good = status == DATAFLUX_OK || (felt && status == DATAFLUX_RESOURCE_EXHAUSTED);
  if (good && !p.silent()) good = what.name == std::string_view("events");
  const dataflux_status after = good ? stat(p) : hangs;
  if (good && after == DATAFLUX_OK) return true;
  in.tell(std::string(what.name) + " gave " + std::to_string(status) + ", and stat " +
              std::to_string(after) + " after",
          k);
  return false;
}

void fail_each_allocation() {
  if (!short_memory::works() || sanitized) return;
  world w(2);
  w.fill(5);
  w.server.put("bkt", "long", std::string(20'000'000, 'x'));
  w.server.put("bkt", "shards/a.tar",
               dataflux::test::tar_of(
                   {{.name = "a.txt", .data = "of a"}, {.name = "b.txt", .data = "of b"}}));
  const temporary_folder folder;
  std::filesystem::create_directories(folder.path / "files" / "below");
  for (const char* name : {"files/a", "files/b", "files/below/c"}) {
    std::ofstream(folder.path / name, std::ios::binary) << world::body_of(3);
  }
  std::ofstream(folder.path / "long", std::ios::binary) << std::string(12'000'000, 'x');
  {
    place p{w.make_client(), make_queue(), folder.path};
    save_set(p, "runs/a");
  }
  child in;
  for (const doing& each : all_of(w.server.endpoint())) {
    for (const how lasts : {how::once, how::from_then_on}) {
      const int end = in.run([&] {
        place p{lean_client(w.server.endpoint(), 100), make_queue(), folder.path};
        // A first time for all that is made once, and to see how many there are.
        if (!try_with(in, each, p, short_memory_everywhere::plenty, lasts)) return false;
        const std::int64_t all = short_memory_everywhere::counted();
        for (const std::int64_t k : chosen(all)) {
          if (!try_with(in, each, p, k, lasts)) return false;
        }
        return true;
      });
      INFO(in.told() << (lasts == how::once ? " once" : " and all after"));
      CHECK(end == 0);
    }
  }
}

}  // namespace

TEST_CASE(
    "c_api: whichever allocation fails, on whatever thread, the call ends once and the client "
    "lives",
    "[c_api]") {
  fail_each_allocation();
}

}  // namespace c_api_each_allocation_test
