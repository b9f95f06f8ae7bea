#pragma once

#include <dataflux/store/object_columns.hpp>

#include <cstdint>

// The structures of the Arrow C data and C stream interfaces, word for word, as the specification
// asks of programs without Arrow's headers. The first declaration that a program meets counts.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
}
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

extern "C" {
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
}
#endif

namespace dataflux::inline DATAFLUX_ABI {

/// Gives a listing to any Arrow library of the process (pyarrow, polars, DuckDB, arrow-rs) as a
/// stream of record batches, one for each chunk, without copying a column.
///
/// | field | Arrow type | null |
/// |---|---|---|
/// | name | utf8 | never |
/// | size | uint64 | never |
/// | generation | int64 | never |
/// | crc32c | uint32 | where the service gave none |
/// | md5 | fixed_size_binary(16) | the extra columns, in this order; only those of |
/// | created, updated | timestamp(ns, UTC) | `rows.kept()`; null where there is no value |
/// | content_type, storage_class, metadata | utf8 | |
///
/// `metadata` is the JSON text of object_extras. `out` is written, and what it held is ignored. To
/// keep the listing as well, give a slice of it.
///
/// Errors: throws std::bad_alloc, `out` unchanged. The callbacks of the stream fail only for want
/// of memory: ENOMEM.
///
/// Lifetime: the listing's memory lives until the stream, every array from it, and every child that
/// was moved out of one have been released, in any order.
///
/// Threads: one thread at a time calls a stream, as the specification allows. Any thread may
/// release.
///
/// Cost: no column is copied; bitmaps are, where a slice does not begin at a whole byte of them.
void export_arrow(object_columns rows, ArrowArrayStream& out);

}  // namespace dataflux::inline DATAFLUX_ABI

#if !defined(DATAFLUX_COMPILED)
#include <dataflux/store/impl/arrow_stream.ipp>
#endif
