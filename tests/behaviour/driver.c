/* Plays calls of the table of behaviour (table.txt, which says what they are) by the C ABI.
 *
 *     driver ENDPOINT       calls from standard input, answers to standard output
 *
 * Each call is begun with the queue, and ended by its last record. */
#include "words.h"

#include <dataflux.h>

enum { longest_line = 1 << 16, most_words = 3, most_items = 64 };

static dataflux_client* client;
static dataflux_queue* queue;
static dataflux_error* err; /* of the function that has failed */

/* A line that was read, and its options. */
static struct {
  char* bucket;
  char* verb;
  char* words[most_words];
  dataflux_conditions conditions;
  int64_t generation;
  int64_t timeout_ns;
  int stop;
} call;

/* ---- Calls ---- */

static dataflux_record last;

/* Takes the next record of what was begun. */
static void next(void) {
  size_t count = 0;
  while (count == 0) dataflux_queue_next(queue, &last, sizeof last, 1, -1, &count);
}
/* Not 0: what was begun has ended well, and `last` is its last record. */
static int ended(dataflux_status begun) {
  if (begun != DATAFLUX_OK) return 0;
  do next();
  while ((last.flags & DATAFLUX_RECORD_END) == 0);
  if (last.status != DATAFLUX_OK) err = dataflux_queue_error(queue, last.error);
  return last.status == DATAFLUX_OK;
}

static dataflux_object_options object_of(char* word) {
  dataflux_object_options o;
  dataflux_object_options_init(&o);
  o.bucket = call.bucket;
  o.object = text(word);
  o.generation = call.generation;
  o.timeout_ns = call.timeout_ns;
  o.conditions = call.conditions.has != 0 ? &call.conditions : NULL;
  return o;
}
/* What a call reads from: conditions and time limit are those of what it makes. */
static dataflux_object_options source_of(char* word) {
  dataflux_object_options o = object_of(word);
  o.timeout_ns = 0;
  o.conditions = NULL;
  return o;
}

static int say_object(dataflux_status begun) {
  if (!ended(begun)) return 0;
  say_sum(last.size, last.crc32c);
  return 1;
}

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

static int ranges(char** w) {
  dataflux_reader_options o;
  dataflux_range_columns columns;
  dataflux_operation* op = NULL;
  dataflux_reader* reader = NULL;
  uint64_t offsets[most_items], sizes[most_items];
  void* memory[most_items];
  size_t count = 0;
  int good;
  dataflux_reader_options_init(&o);
  dataflux_range_columns_init(&columns);
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
  dataflux_get_many_options_init(&o);
  dataflux_get_columns_init(&columns);
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
  dataflux_list_options_init(&o);
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
  dataflux_writer_options_init(&o);
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

static int cancel(char** w) {
  const dataflux_object_options o = object_of(w[0]);
  dataflux_operation* op = NULL;
  const dataflux_status begun = dataflux_get(client, &o, 0, UINT64_MAX, queue, 0, &op, &err);
  if (begun == DATAFLUX_OK) dataflux_operation_cancel(op);
  const int good = ended(begun);
  dataflux_operation_free(op);
  return good;
}

/* ---- Sets ---- */

static dataflux_set* set_of(char* prefix) {
  dataflux_set_options o;
  dataflux_set* set = NULL;
  dataflux_set_options_init(&o);
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
  dataflux_set_commit_options_init(&o);
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

/* ---- The program ---- */

static const struct {
  const char* name;
  int words;
  int (*play)(char** words);
} verbs[] = {
    {"put", 2, put},
    {"get", 3, get},
    {"into", 3, into},
    {"stat", 1, stat_object},
    {"remove", 1, remove_object},
    {"copy", 2, copy},
    {"move", 2, move},
    {"compose", 2, compose},
    {"ranges", 2, ranges},
    {"many", 1, many},
    {"list", 1, list},
    {"write", 2, write_object},
    {"abandon", 2, write_object},
    {"overtaken", 2, write_object},
    {"cancel", 1, cancel},
    {"commit_set", 2, commit_set},
    {"open_set", 1, open_set},
};

/* Sorts words and options. Gives how many words there are. */
static int read_words(char* rest) {
  int count = 0;
  memset(&call, 0, sizeof call);
  dataflux_conditions_init(&call.conditions);
  call.bucket = text(cut(&rest, ' '));
  call.verb = cut(&rest, ' ');
  for (char* word; (word = cut(&rest, ' ')) != NULL;) {
    if (strncmp(word, "if=", 3) == 0) {
      call.conditions.has = DATAFLUX_IF_GENERATION_MATCH;
      call.conditions.generation_match = strtoll(word + 3, NULL, 10);
    } else if (strncmp(word, "gen=", 4) == 0) {
      call.generation = strtoll(word + 4, NULL, 10);
    } else if (strncmp(word, "ms=", 3) == 0) {
      call.timeout_ns = strtoll(word + 3, NULL, 10) * 1000000;
    } else if (strcmp(word, "stop") == 0) {
      call.stop = 1;
    } else if (count < most_words) {
      call.words[count++] = word;
    }
  }
  return count;
}

static void play(char* line) {
  /* No text of C has a NUL. */
  const int words = strstr(line, "%00") == NULL ? read_words(line) : -1;
  said = 0;
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; ++i) {
    if (words != verbs[i].words || strcmp(verbs[i].name, call.verb) != 0) continue;
    if (verbs[i].play(call.words)) {
      printf("ok%.*s\n", (int)said, answer);
    } else {
      printf("error %s %d%s # %s\n", dataflux_status_name(dataflux_error_status(err)),
             (int)dataflux_error_http_status(err),
             dataflux_error_outcome_unknown(err) != 0 ? " maybe" : "", dataflux_error_text(err));
    }
    dataflux_error_free(err);
    err = NULL;
    return;
  }
  puts("none");
}

int main(int argc, char** argv) {
  static char line[longest_line];
  dataflux_client_options o;
  if (argc != 2) return 2;
  dataflux_client_options_init(&o);
  o.endpoint = argv[1];
  o.emulator = 1;
  if (dataflux_client_create(&o, &client, &err) != DATAFLUX_OK ||
      dataflux_queue_create(&queue, &err) != DATAFLUX_OK) {
    fprintf(stderr, "%s\n", dataflux_error_text(err));
    return 1;
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = 0;
    play(line);
    fflush(stdout);
  }
  dataflux_queue_free(queue);
  dataflux_client_free(client);
  return 0;
}
