/* Calls of table.txt for many ranges, objects or names. */
#ifndef DATAFLUX_BEHAVIOUR_STREAMS_H
#define DATAFLUX_BEHAVIOUR_STREAMS_H

#include "call.h"

static int ranges(char** w) {
  dataflux_reader_options o;
  dataflux_range_columns columns;
  dataflux_operation* op = NULL;
  dataflux_reader* reader = NULL;
  uint64_t offsets[most_items], sizes[most_items];
  void* memory[most_items];
  size_t count = 0;
  int good;
  dataflux_reader_options_init(&o, sizeof o);
  dataflux_range_columns_init(&columns, sizeof columns);
  o.bucket = call.bucket, o.object = text(w[0]);
  o.generation = call.generation, o.timeout_ns = call.timeout_ns;
  columns.offsets = offsets, columns.sizes = sizes, columns.into = memory;
  for (char *rest = w[1], *word; (word = cut(&rest, ',')) != NULL; ++count) {
    offsets[count] = number(cut(&word, ':'));
    sizes[count] = number(word);
    memory[count] = memory_of(sizes[count]);
  }
  good = ended(dataflux_reader_open(client, &o, queue, 0, &op, &err)) &&
         dataflux_operation_take_reader(op, &reader, &err) == DATAFLUX_OK;
  dataflux_operation_free(op);
  good = good && ended(dataflux_reader_read_ranges(reader, &columns, count, queue, 0, NULL, &err));
  for (size_t i = 0; i < count; ++i) {
    if (good) say_sum(sizes[i], crc32c(memory[i], sizes[i]));
    free(memory[i]);
  }
  dataflux_reader_free(reader);
  return good;
}

static int many(char** w) {
  dataflux_get_many_options o;
  dataflux_get_columns columns;
  dataflux_getter* getter = NULL;
  uint64_t name_offsets[most_items + 1] = {0}, offsets[most_items], lengths[most_items];
  char* names = memory_of(longest_line);
  size_t count = 0, taken = 0;
  int good;
  dataflux_get_many_options_init(&o, sizeof o);
  dataflux_get_columns_init(&columns, sizeof columns);
  o.bucket = call.bucket, o.feed = 1, o.timeout_ns = call.timeout_ns;
  o.on_error = call.stop ? DATAFLUX_ON_ERROR_STOP : DATAFLUX_ON_ERROR_ITEM;
  columns.names = names, columns.name_offsets = name_offsets;
  columns.offsets = offsets, columns.lengths = lengths;
  for (char *rest = w[0], *word; (word = cut(&rest, ',')) != NULL; ++count) {
    const char* name = text(cut(&word, ':'));
    const char* offset = cut(&word, ':');
    memcpy(names + name_offsets[count], name, strlen(name) + 1);
    name_offsets[count + 1] = name_offsets[count] + strlen(name);
    offsets[count] = offset == NULL ? 0 : number(offset);
    lengths[count] = offset == NULL ? UINT64_MAX : number(word);
  }
  good = dataflux_get_many(client, &o, NULL, NULL, 0, queue, 0, &getter, &err) == DATAFLUX_OK &&
         dataflux_getter_push(getter, &columns, count, &taken, &err) == DATAFLUX_OK;
  if (good) dataflux_getter_finish(getter);
  for (; good; dataflux_slabs_release(&last.slab, 1)) {
    next();
    if ((last.flags & DATAFLUX_RECORD_END) != 0) break;
    if (last.status == DATAFLUX_OK) {
      say_sum(last.size, crc32c(last.data, last.size));
    } else {
      say(" - ");
      say(dataflux_status_name(last.status));
    }
  }
  if (good && last.status != DATAFLUX_OK) err = dataflux_queue_error(queue, last.error);
  good = good && last.status == DATAFLUX_OK;
  dataflux_getter_free(getter);
  free(names);
  return good;
}

static int list(char** w) {
  dataflux_list_options o;
  dataflux_operation* op = NULL;
  dataflux_listing* listing = NULL;
  dataflux_chunk chunk;
  int good;
  dataflux_list_options_init(&o, sizeof o);
  o.bucket = call.bucket, o.prefix = text(w[0]), o.timeout_ns = call.timeout_ns;
  good = ended(dataflux_list(client, &o, queue, 0, &op, &err)) &&
         dataflux_operation_take_listing(op, &listing, &err) == DATAFLUX_OK;
  for (uint64_t i = 0; good && i < dataflux_listing_chunks(listing); ++i) {
    good = dataflux_listing_chunk(listing, i, &chunk, sizeof chunk, &err) == DATAFLUX_OK;
    for (uint64_t row = 0; good && row < chunk.rows; ++row) {
      const int32_t* at = chunk.name_offsets + row;
      say_name(chunk.names + at[0], (size_t)(at[1] - at[0]));
    }
  }
  dataflux_listing_free(listing);
  dataflux_operation_free(op);
  return good;
}

#endif
