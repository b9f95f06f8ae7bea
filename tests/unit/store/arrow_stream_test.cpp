#include <dataflux/store/arrow_stream.hpp>

#include <support/catch.hpp>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arrow_stream_test {

using dataflux::object_columns;
using dataflux::object_extras;

namespace {

/// A consumer as the specification describes one; shares nothing with the exporter.
struct schema {
  schema() = default;
  schema(const schema&) = delete;
  schema& operator=(const schema&) = delete;
  ~schema() {
    if (c.release != nullptr) c.release(&c);
  }
  ArrowSchema c{};
};
struct array {
  array() = default;
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  ~array() { drop(); }
  void drop() {
    if (c.release != nullptr) c.release(&c);
  }
  ArrowArray c{};
};
struct stream {
  explicit stream(object_columns rows) {
    std::memset(static_cast<void*>(&c), 0xA5, sizeof c);  // the exporter must not read it
    dataflux::export_arrow(std::move(rows), c);
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() {
    if (c.release != nullptr) c.release(&c);
  }
  ArrowArrayStream c;
};

bool is_valid(const ArrowArray& a, std::int64_t row) {
  const auto at = static_cast<std::size_t>(row + a.offset);
  const auto* bits = static_cast<const std::uint8_t*>(a.buffers[0]);
  return bits == nullptr || (bits[at / 8] >> (at % 8) & 1) != 0;
}
template <class T>
T value(const ArrowArray& a, std::int64_t row) {
  return static_cast<const T*>(a.buffers[1])[row + a.offset];
}
std::string_view text(const ArrowArray& a, std::int64_t row) {
  const auto from = value<std::int32_t>(a, row);
  const auto to = value<std::int32_t>(a, row + 1);
  REQUIRE(from >= 0);
  REQUIRE(from <= to);
  return {static_cast<const char*>(a.buffers[2]) + from, static_cast<std::size_t>(to - from)};
}

/// Checks one array against its schema by the rules of the C data interface.
void check_array(const ArrowArray& a, const ArrowSchema& s) {
  REQUIRE(a.release != nullptr);
  CHECK(a.offset >= 0);
  CHECK(a.dictionary == nullptr);
  REQUIRE(a.n_children == s.n_children);
  const std::string_view format{s.format};
  REQUIRE(a.n_buffers == (format == "+s" ? 1 : format == "u" ? 3 : 2));
  std::int64_t nulls = 0;
  for (std::int64_t row = 0; row < a.length; ++row) nulls += is_valid(a, row) ? 0 : 1;
  CHECK((a.null_count == -1 || a.null_count == nulls));
  CHECK((nulls == 0 || (s.flags & ARROW_FLAG_NULLABLE) != 0));
  for (std::int64_t i = 1; i < a.n_buffers; ++i) {
    REQUIRE(a.buffers[i] != nullptr);
    if (i == 1) CHECK(reinterpret_cast<std::uintptr_t>(a.buffers[i]) % 4 == 0);
  }
  for (std::int64_t i = 0; i < a.n_children; ++i) {
    CHECK(a.children[i]->length >= a.length);
    check_array(*a.children[i], *s.children[i]);
  }
}

void check_row(const ArrowArray& batch, std::int64_t row, const object_columns& truth,
               std::size_t at) {
  REQUIRE(text(*batch.children[0], row) == truth.name(at));
  REQUIRE(value<std::uint64_t>(*batch.children[1], row) == truth.object_size(at));
  REQUIRE(value<std::int64_t>(*batch.children[2], row) == truth.generation(at));
  REQUIRE(is_valid(*batch.children[3], row) == truth.crc32c(at).has_value());
  REQUIRE(value<std::uint32_t>(*batch.children[3], row) == truth.crc32c(at).value_or(0));
}

/// Reads the whole stream, as far as the four basic columns go.
void check_stream(ArrowArrayStream& c, const object_columns& truth) {
  schema fields;
  REQUIRE(c.get_schema(&c, &fields.c) == 0);
  std::size_t rows = 0;
  while (true) {
    array batch;
    REQUIRE(c.get_next(&c, &batch.c) == 0);
    if (batch.c.release == nullptr) break;
    REQUIRE(batch.c.length > 0);
    check_array(batch.c, fields.c);
    for (std::int64_t row = 0; row < batch.c.length; ++row) check_row(batch.c, row, truth, rows++);
  }
  CHECK(rows == truth.size());
  array behind;
  REQUIRE(c.get_next(&c, &behind.c) == 0);
  CHECK(behind.c.release == nullptr);
}

void fill(object_columns& columns, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    columns.append("train/" + std::to_string(i), i * 3, static_cast<std::int64_t>(i),
                   i % 977 == 5 ? std::nullopt : std::optional{static_cast<std::uint32_t>(~i)});
  }
}

}  // namespace

TEST_CASE("arrow_stream: the fields of a listing", "[store]") {
  const stream s{object_columns{dataflux::all_extra_columns}};
  ArrowArrayStream c = s.c;
  for (int again = 0; again < 2; ++again) {
    schema fields;
    REQUIRE(c.get_schema(&c, &fields.c) == 0);
    CHECK(std::string_view{fields.c.format} == "+s");
    CHECK(fields.c.metadata == nullptr);
    std::string seen;
    for (std::int64_t i = 0; i < fields.c.n_children; ++i) {
      const ArrowSchema& field = *fields.c.children[i];
      REQUIRE(field.release != nullptr);
      seen.append(field.name).append(":").append(field.format);
      seen.append((field.flags & ARROW_FLAG_NULLABLE) != 0 ? "? " : " ");
    }
    CHECK(seen ==
          "name:u size:L generation:l crc32c:I? md5:w:16? created:tsn:UTC? updated:tsn:UTC? "
          "content_type:u? storage_class:u? metadata:u? ");
  }
  CHECK(c.get_last_error(&c) == nullptr);
  array none;
  REQUIRE(c.get_next(&c, &none.c) == 0);
  CHECK(none.c.release == nullptr);
}

TEST_CASE("arrow_stream: batches are the rows, in the listing's own memory", "[store]") {
  object_columns columns;
  fill(columns, 0, 20'000);
  columns.shrink_to_fit();
  const stream s{columns.slice(0, columns.size())};
  ArrowArrayStream c = s.c;
  array first;
  REQUIRE(c.get_next(&c, &first.c) == 0);
  CHECK(first.c.children[0]->buffers[1] == columns.chunk(0).offsets.data());
  CHECK(first.c.children[0]->buffers[2] == columns.chunk(0).names.data());
  CHECK(first.c.children[1]->buffers[1] == columns.chunk(0).sizes.data());
  CHECK(first.c.children[2]->buffers[1] == columns.chunk(0).generations.data());
  CHECK(first.c.children[3]->buffers[1] == columns.chunk(0).crc32c.data());
  stream whole{columns.slice(0, columns.size())};
  check_stream(whole.c, columns);
}

TEST_CASE("arrow_stream: a slice begins at any row", "[store]") {
  object_columns columns;
  fill(columns, 0, 3000);
  for (const std::size_t first : {1UL, 3UL, 8UL, 255UL, 977UL, 1500UL}) {
    for (const std::size_t count : {1UL, 7UL, 64UL, 65UL, 1000UL}) {
      const object_columns part = columns.slice(first, count);
      stream s{columns.slice(first, count)};
      check_stream(s.c, part);
    }
  }
}

TEST_CASE("arrow_stream: extra columns, and rows that have none of them", "[store]") {
  object_columns columns;
  fill(columns, 0, 10);
  object_columns more{dataflux::all_extra_columns};
  const std::string pairs = R"({"k":"v"})";
  for (std::size_t i = 0; i < 100; ++i) {
    object_extras extras;
    if (i % 2 == 0) extras.md5.emplace().fill(static_cast<std::byte>(i));
    if (i % 3 == 0) extras.updated = dataflux::timestamp{std::chrono::nanoseconds{i}};
    extras.created = dataflux::timestamp{std::chrono::nanoseconds{i + 7}};
    if (i % 5 == 0) extras.content_type = "text/plain";
    if (i % 7 == 0) extras.metadata = pairs;
    more.append({"z" + std::to_string(i), i, 1, 7}, extras);
  }
  columns.append(more.slice(3, 90));
  const stream s{columns.slice(0, columns.size())};
  ArrowArrayStream c = s.c;
  schema fields;
  REQUIRE(c.get_schema(&c, &fields.c) == 0);
  std::size_t at = 0;
  while (true) {
    array batch;
    REQUIRE(c.get_next(&c, &batch.c) == 0);
    if (batch.c.release == nullptr) break;
    check_array(batch.c, fields.c);
    ArrowArray** child = batch.c.children;
    for (std::int64_t row = 0; row < batch.c.length; ++row, ++at) {
      check_row(batch.c, row, columns, at);
      const object_extras truth = columns.extras(at);
      REQUIRE(is_valid(*child[4], row) == truth.md5.has_value());
      if (truth.md5) {
        REQUIRE(std::memcmp(static_cast<const char*>(child[4]->buffers[1]) + row * 16,
                            truth.md5->data(), 16) == 0);
      }
      REQUIRE(is_valid(*child[5], row) == truth.created.has_value());
      REQUIRE(is_valid(*child[6], row) == truth.updated.has_value());
      if (truth.updated) {
        REQUIRE(value<std::int64_t>(*child[6], row) == truth.updated->time_since_epoch().count());
      }
      REQUIRE(is_valid(*child[7], row) != truth.content_type.empty());
      REQUIRE(text(*child[7], row) == truth.content_type);
      REQUIRE_FALSE(is_valid(*child[8], row));
      REQUIRE(text(*child[9], row) == truth.metadata);
    }
  }
  CHECK(at == 100);
}

TEST_CASE("arrow_stream: arrays and children outlive stream, listing and parent", "[store]") {
  array batch;
  ArrowArray names{};
  object_columns truth;
  fill(truth, 0, 50);
  {
    object_columns columns;
    fill(columns, 0, 50);
    const stream s{std::move(columns)};
    ArrowArrayStream c = s.c;
    REQUIRE(c.get_next(&c, &batch.c) == 0);
  }
  for (std::int64_t row = 0; row < 50; ++row) {
    check_row(batch.c, row, truth, static_cast<std::size_t>(row));
  }
  // Moved as the specification says: the struct is copied, the source marked as released.
  names = *batch.c.children[0];
  batch.c.children[0]->release = nullptr;
  batch.drop();
  CHECK(batch.c.release == nullptr);
  for (std::int64_t row = 0; row < 50; ++row) {
    CHECK(text(names, row) == truth.name(static_cast<std::size_t>(row)));
  }
  names.release(&names);
  CHECK(names.release == nullptr);
}

}  // namespace arrow_stream_test
