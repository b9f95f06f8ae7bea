/* Calls of table.txt for writers, and for the sets that are made by them. */
#ifndef DATAFLUX_BEHAVIOUR_WRITERS_H
#define DATAFLUX_BEHAVIOUR_WRITERS_H

#include "objects.h"

/* Takes the writer of an operation that opens one, and frees that. */
static dataflux_writer* opened(dataflux_status begun, dataflux_operation** op) {
  dataflux_writer* writer = NULL;
  if (ended(begun)) dataflux_operation_take_writer(*op, &writer, &err);
  dataflux_operation_free(*op);
  *op = NULL;
  return writer;
}
static int write_pieces(dataflux_writer* writer, char* sizes) {
  uint64_t at = 0;
  int good = 1;
  for (char* word; good && (word = cut(&sizes, ',')) != NULL; at += number(word)) {
    size_t taken = 0;
    unsigned char* bytes = pattern(number(word), at);
    good = dataflux_writer_write(writer, bytes, number(word), -1, &taken, &err) == DATAFLUX_OK;
    free(bytes);
  }
  return good;
}
static dataflux_writer* writer_of(char* name) {
  dataflux_writer_options o;
  dataflux_operation* op = NULL;
  dataflux_writer_options_init(&o, sizeof o);
  o.bucket = call.bucket, o.object = text(name), o.timeout_ns = call.timeout_ns;
  o.conditions = &call.conditions;
  return opened(dataflux_writer_open(client, &o, queue, 0, &op, &err), &op);
}
static int write_object(char** w) {
  dataflux_writer* writer = writer_of(w[0]);
  const dataflux_object_options o = object_of(w[0]);
  const int overtaken = strcmp(call.verb, "overtaken") == 0;
  int good = writer != NULL;
  if (overtaken) good = good && ended(dataflux_put(client, &o, "", 1, NULL, queue, 0, NULL, &err));
  good = good && write_pieces(writer, text(w[1]));
  if (strcmp(call.verb, "abandon") == 0) {
    good = good && ended(dataflux_writer_abort(writer, queue, 0, NULL, &err));
  } else {
    good = good && say_object(dataflux_writer_commit(writer, queue, 0, NULL, &err));
  }
  dataflux_writer_free(writer);
  return good;
}

static dataflux_set* set_of(char* prefix) {
  dataflux_set_options o;
  dataflux_set* set = NULL;
  dataflux_set_options_init(&o, sizeof o);
  o.bucket = call.bucket, o.prefix = text(prefix);
  dataflux_set_create(client, &o, &set, &err);
  return set;
}
/* Writes a member; gives its record, NULL where that fails. */
static char* member(dataflux_set* set, char* name, char* size) {
  dataflux_operation* op = NULL;
  char* record = NULL;
  dataflux_writer* writer =
      opened(dataflux_set_open_member(set, text(name), NULL, queue, 0, &op, &err), &op);
  if (writer != NULL && write_pieces(writer, size) &&
      ended(dataflux_writer_commit(writer, queue, 0, &op, &err))) {
    dataflux_set_record(set, op, &record, &err);
  }
  dataflux_operation_free(op);
  dataflux_writer_free(writer);
  return record;
}
static int commit_set(char** w) {
  dataflux_set_commit_options o;
  char* records[most_items];
  size_t count = 0;
  dataflux_set* set = set_of(w[0]);
  int good = set != NULL &&
             ended(dataflux_set_begin(set, DATAFLUX_UNFINISHED_REFUSE, queue, 0, NULL, &err));
  for (char *rest = w[1], *word; good && (word = cut(&rest, ',')) != NULL;) {
    char* name = cut(&word, ':');
    records[count] = member(set, name, word);
    good = records[count] != NULL;
    count += (size_t)good;
  }
  dataflux_set_commit_options_init(&o, sizeof o);
  o.records = (const char* const*)records, o.record_count = count;
  good = good && ended(dataflux_set_commit(set, &o, queue, 0, NULL, &err));
  if (good) say_size(last.size);
  while (count > 0) dataflux_text_free(records[--count]);
  dataflux_set_free(set);
  return good;
}
static int open_set(char** w) {
  dataflux_operation* op = NULL;
  dataflux_set* set = set_of(w[0]);
  const int good = set != NULL && ended(dataflux_set_open(set, NULL, queue, 0, &op, &err));
  if (good) say_size(last.size);
  dataflux_operation_free(op);
  dataflux_set_free(set);
  return good;
}

#endif
