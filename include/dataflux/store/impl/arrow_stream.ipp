#pragma once

#include <dataflux/store/arrow_stream.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace dataflux::inline DATAFLUX_ABI::detail {

struct arrow_field {
  const char* name;
  const char* format;
  std::int64_t flags;
};
inline constexpr std::size_t arrow_basic_fields = 4;
inline constexpr std::array<arrow_field, arrow_basic_fields + extra_column_count> arrow_fields{
    {{"name", "u", 0},
     {"size", "L", 0},
     {"generation", "l", 0},
     {"crc32c", "I", ARROW_FLAG_NULLABLE},
     {"md5", "w:16", ARROW_FLAG_NULLABLE},
     {"created", "tsn:UTC", ARROW_FLAG_NULLABLE},
     {"updated", "tsn:UTC", ARROW_FLAG_NULLABLE},
     {"content_type", "u", ARROW_FLAG_NULLABLE},
     {"storage_class", "u", ARROW_FLAG_NULLABLE},
     {"metadata", "u", ARROW_FLAG_NULLABLE}}};

/// The structs of a parent's children, and what ArrowSchema and ArrowArray point to them by.
template <class Node>
struct arrow_children {
  explicit arrow_children(std::size_t count) : nodes(count), pointers(count) {
    for (std::size_t i = 0; i < count; ++i) pointers[i] = &nodes[i];
  }
  arrow_children(const arrow_children&) = delete;
  arrow_children& operator=(const arrow_children&) = delete;
  /// A consumer may have moved a child out, which leaves it released.
  ~arrow_children() {
    for (Node& child : nodes) {
      if (child.release != nullptr) child.release(&child);
    }
  }
  std::vector<Node> nodes;
  std::vector<Node*> pointers;
};

inline void release_arrow_field(ArrowSchema* schema) noexcept { schema->release = nullptr; }
inline void release_arrow_schema(ArrowSchema* schema) noexcept {
  delete static_cast<arrow_children<ArrowSchema>*>(schema->private_data);
  schema->release = nullptr;
}

inline void make_arrow_schema(extra_columns kept, ArrowSchema& out) {
  std::vector<const arrow_field*> fields;
  for (std::size_t k = 0; k < arrow_fields.size(); ++k) {
    if (k < arrow_basic_fields || has(kept, extra_column(k - arrow_basic_fields))) {
      fields.push_back(&arrow_fields[k]);
    }
  }
  auto children = std::make_unique<arrow_children<ArrowSchema>>(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    children->nodes[i] = {.format = fields[i]->format,
                          .name = fields[i]->name,
                          .metadata = nullptr,
                          .flags = fields[i]->flags,
                          .n_children = 0,
                          .children = nullptr,
                          .dictionary = nullptr,
                          .release = release_arrow_field,
                          .private_data = nullptr};
  }
  out = {.format = "+s",
         .name = "",
         .metadata = nullptr,
         .flags = 0,
         .n_children = static_cast<std::int64_t>(fields.size()),
         .children = children->pointers.data(),
         .dictionary = nullptr,
         .release = release_arrow_schema,
         .private_data = children.get()};
  static_cast<void>(children.release());
}

/// What an array's struct points to. Each has a share of the rows, so that a child lives on when
/// its parent is released.
struct arrow_array {
  arrow_array(std::shared_ptr<const object_columns> shared, std::size_t children)
      : rows(std::move(shared)), parts(children) {}
  std::shared_ptr<const object_columns> rows;
  std::array<const void*, 3> buffers{};
  std::vector<std::uint64_t> made{};
  arrow_children<ArrowArray> parts;
};

inline void release_arrow_array(ArrowArray* array) noexcept {
  delete static_cast<arrow_array*>(array->private_data);
  array->release = nullptr;
}

inline void give_arrow_array(std::unique_ptr<arrow_array> from, std::size_t length,
                             std::size_t buffers, bool nulls, ArrowArray& out) {
  out = {.length = static_cast<std::int64_t>(length),
         .null_count = nulls ? -1 : 0,
         .offset = 0,
         .n_buffers = static_cast<std::int64_t>(buffers),
         .n_children = static_cast<std::int64_t>(from->parts.nodes.size()),
         .buffers = from->buffers.data(),
         .children = from->parts.nodes.empty() ? nullptr : from->parts.pointers.data(),
         .dictionary = nullptr,
         .release = release_arrow_array,
         .private_data = from.get()};
  static_cast<void>(from.release());
}

/// One column: its bitmap (empty: no nulls) and its one or two other buffers.
struct arrow_column {
  std::span<const std::uint8_t> validity{};
  const void* first{nullptr};
  const void* second{nullptr};  ///< null for a fixed width
};

/// A bitmap whose first bit counts, from one where it is `shift` bits further on.
inline void shift_bits(std::span<const std::uint8_t> from, std::size_t shift, std::size_t rows,
                       std::vector<std::uint64_t>& to) {
  to.assign(rows / 64 + 1, 0);
  auto* bytes = reinterpret_cast<std::uint8_t*>(to.data());
  for (std::size_t row = 0; row < rows; ++row) {
    const unsigned bit = (unsigned{from[(row + shift) / 8]} >> ((row + shift) % 8)) & 1U;
    bytes[row / 8] = static_cast<std::uint8_t>(bytes[row / 8] | bit << (row % 8));
  }
}

inline void give_arrow_column(const std::shared_ptr<const object_columns>& rows,
                              const object_chunk& chunk, const arrow_column& column,
                              ArrowArray& out) {
  auto array = std::make_unique<arrow_array>(rows, 0);
  array->buffers = {column.validity.data(), column.first, column.second};
  if (!column.validity.empty() && chunk.first_bit != 0) {
    shift_bits(column.validity, chunk.first_bit, chunk.rows, array->made);
    array->buffers[0] = array->made.data();
  }
  if (column.first == nullptr) {  // a column that this chunk has not: zeros are all it needs
    array->made.assign((chunk.rows + 1) * 2, 0);
    array->buffers = {array->made.data(), array->made.data(), column.second};
  }
  const bool nulls = array->buffers[0] != nullptr;
  const std::size_t buffers = column.second == nullptr ? 2 : 3;
  give_arrow_array(std::move(array), chunk.rows, buffers, nulls, out);
}

inline arrow_column arrow_extra(const extra_chunk& from, std::size_t k) noexcept {
  if (extra_column_width(k) != 0) return {from.validity, from.values.data(), nullptr};
  static constexpr char nothing = 0;
  return {from.validity, from.offsets.data(), from.kept() ? from.values.data() : &nothing};
}

/// The only chunk of `rows`; `kept` is the stream's, so that all batches have the same fields.
inline void make_arrow_batch(object_columns rows, extra_columns kept, ArrowArray& out) {
  const auto shared = std::make_shared<const object_columns>(std::move(rows));
  const object_chunk chunk = shared->chunk(0);
  std::vector<arrow_column> columns{{{}, chunk.offsets.data(), chunk.names.data()},
                                    {{}, chunk.sizes.data(), nullptr},
                                    {{}, chunk.generations.data(), nullptr},
                                    {chunk.crc32c_validity, chunk.crc32c.data(), nullptr}};
  for (std::size_t k = 0; k < extra_column_count; ++k) {
    if (has(kept, extra_column(k))) columns.push_back(arrow_extra(chunk.extras[k], k));
  }
  auto batch = std::make_unique<arrow_array>(nullptr, columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    give_arrow_column(shared, chunk, columns[i], batch->parts.nodes[i]);
  }
  give_arrow_array(std::move(batch), chunk.rows, 1, false, out);
}

struct arrow_source {
  object_columns rows;
  std::size_t next_chunk{0};
  bool failed{false};
};

/// The body of a callback of the stream; nothing may be thrown through C.
template <class Make>
int arrow_step(ArrowArrayStream* stream, Make&& make) noexcept {
  auto& source = *static_cast<arrow_source*>(stream->private_data);
  try {
    make(source);
    source.failed = false;
    return 0;
  } catch (const std::bad_alloc&) {
    source.failed = true;
    return ENOMEM;
  }
}

inline int arrow_get_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept {
  return arrow_step(stream,
                    [out](arrow_source& from) { make_arrow_schema(from.rows.kept(), *out); });
}

inline int arrow_get_next(ArrowArrayStream* stream, ArrowArray* out) noexcept {
  return arrow_step(stream, [out](arrow_source& from) {
    if (from.next_chunk == from.rows.chunk_count()) {
      *out = {};
      return;
    }
    const object_chunk chunk = from.rows.chunk(from.next_chunk);
    make_arrow_batch(from.rows.slice(chunk.first_row, chunk.rows), from.rows.kept(), *out);
    ++from.next_chunk;
  });
}

inline const char* arrow_get_last_error(ArrowArrayStream* stream) noexcept {
  return static_cast<arrow_source*>(stream->private_data)->failed ? "out of memory" : nullptr;
}

inline void arrow_release(ArrowArrayStream* stream) noexcept {
  delete static_cast<arrow_source*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace dataflux::inline DATAFLUX_ABI::detail

namespace dataflux::inline DATAFLUX_ABI {

DATAFLUX_INLINE void export_arrow(object_columns rows, ArrowArrayStream& out) {
  rows.shrink_to_fit();
  auto source = std::make_unique<detail::arrow_source>();
  source->rows = std::move(rows);
  out = {.get_schema = detail::arrow_get_schema,
         .get_next = detail::arrow_get_next,
         .get_last_error = detail::arrow_get_last_error,
         .release = detail::arrow_release,
         .private_data = source.get()};
  static_cast<void>(source.release());
}

}  // namespace dataflux::inline DATAFLUX_ABI
