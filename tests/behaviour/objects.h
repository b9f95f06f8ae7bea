/* Calls of table.txt for single objects, but writers. */
#ifndef DATAFLUX_BEHAVIOUR_OBJECTS_H
#define DATAFLUX_BEHAVIOUR_OBJECTS_H

#include "call.h"

static int put(char** w) {
  const dataflux_object_options o = object_of(w[0]);
  unsigned char* bytes = pattern(number(w[1]), 0);
  const int good =
      say_object(dataflux_put(client, &o, bytes, number(w[1]), NULL, queue, 0, NULL, &err));
  free(bytes);
  return good;
}
static int get(char** w) {
  const dataflux_object_options o = object_of(w[0]);
  if (!ended(dataflux_get(client, &o, number(w[1]), number(w[2]), queue, 0, NULL, &err))) return 0;
  say_sum(last.size, crc32c(last.data, last.size));
  dataflux_slabs_release(&last.slab, 1);
  return 1;
}
static int into(char** w) {
  const dataflux_object_options o = object_of(w[0]);
  const uint64_t size = number(w[2]);
  void* memory = memory_of(size);
  const int good =
      ended(dataflux_get_one(client, &o, number(w[1]), memory, size, queue, 0, NULL, &err));
  if (good) say_sum(size, crc32c(memory, size));
  free(memory);
  return good;
}
static int stat_object(char** w) {
  const dataflux_object_options o = object_of(w[0]);
  return say_object(dataflux_stat(client, &o, queue, 0, NULL, &err));
}
static int remove_object(char** w) {
  const dataflux_object_options o = object_of(w[0]);
  return ended(dataflux_remove(client, &o, queue, 0, NULL, &err));
}
static int copy(char** w) {
  const dataflux_object_options from = source_of(w[0]), to = object_of(w[1]);
  return say_object(dataflux_copy(client, &from, &to, NULL, queue, 0, NULL, &err));
}
static int move(char** w) {
  const dataflux_object_options from = source_of(w[0]), to = object_of(w[1]);
  return say_object(dataflux_move(client, &from, &to, queue, 0, NULL, &err));
}
static int compose(char** w) {
  const dataflux_object_options to = object_of(w[0]);
  const char* names[most_items];
  size_t count = 0;
  for (char *rest = w[1], *word; (word = cut(&rest, ',')) != NULL;) names[count++] = text(word);
  return say_object(dataflux_compose(client, &to, names, NULL, count, NULL, queue, 0, NULL, &err));
}

static int cancel(char** w) {
  const dataflux_object_options o = object_of(w[0]);
  dataflux_operation* op = NULL;
  const dataflux_status begun = dataflux_get(client, &o, 0, UINT64_MAX, queue, 0, &op, &err);
  if (begun == DATAFLUX_OK) dataflux_operation_cancel(op);
  const int good = ended(begun);
  dataflux_operation_free(op);
  return good;
}

#endif
