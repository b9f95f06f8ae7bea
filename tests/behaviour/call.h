/* The call that driver.c plays now: what its line says, and how it ends. */
#ifndef DATAFLUX_BEHAVIOUR_CALL_H
#define DATAFLUX_BEHAVIOUR_CALL_H

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

/* Sorts words and options. Gives how many words there are. */
static int read_words(char* rest) {
  int count = 0;
  memset(&call, 0, sizeof call);
  dataflux_conditions_init(&call.conditions, sizeof call.conditions);
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
  dataflux_object_options_init(&o, sizeof o);
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

#endif
