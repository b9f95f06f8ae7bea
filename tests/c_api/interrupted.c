/* A program that waits for a service which does not answer, in one of the functions that wait, and
 * gets SIGINT.
 *
 *     interrupted FUNCTION ENDPOINT handled|default
 *
 * It says "waits" before it does. With a handler it says "interrupted" when the function has said
 * so. When the service answers again it is to be told by a line: then the handles are used once
 * more. Status 0: all was as the header says.
 */
#include <dataflux.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { least_part = 5 << 20 };

#define CHECK(holds)                                      \
  do {                                                    \
    if (!(holds)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #holds); \
      return 1;                                           \
    }                                                     \
  } while (0)

static volatile sig_atomic_t handled;
static void handle(int number) {
  (void)number;
  ++handled;
}

static dataflux_client* client;
static dataflux_queue* queue;
static dataflux_operation* op;
static dataflux_writer* writer;
static dataflux_shard_writer* shard_writer;
static dataflux_error* err;
static char bytes[2 * least_part];

static dataflux_status stat_object(uint64_t tag, dataflux_operation** out) {
  dataflux_object_options o;
  dataflux_object_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.object = "o/000000";
  return dataflux_stat(client, &o, queue, tag, out, &err);
}

/* Waits on, whatever signals still come. */
static dataflux_status to_the_end(dataflux_operation* which) {
  dataflux_status status = DATAFLUX_INTERRUPTED;
  while (status == DATAFLUX_INTERRUPTED) status = dataflux_operation_wait(which, -1, &err);
  return status == DATAFLUX_OK ? dataflux_operation_result(which, &err) : status;
}

static int begin_stat(void) {
  CHECK(stat_object(1, &op) == DATAFLUX_OK);
  return 0;
}

static dataflux_status next(void) {
  dataflux_record r;
  size_t count = 7;
  const dataflux_status status = dataflux_queue_next(queue, &r, sizeof r, 1, -1, &count);
  return count == 0 ? status : DATAFLUX_INTERNAL;
}
/* The queue brings what comes later, and what was waited for can be cancelled. */
static int next_again(void) {
  int later = 0, first = 0;
  CHECK(stat_object(2, NULL) == DATAFLUX_OK);
  dataflux_operation_cancel(op);
  while (!later || !first) {
    dataflux_record r;
    size_t count = 0;
    const dataflux_status status = dataflux_queue_next(queue, &r, sizeof r, 1, -1, &count);
    if (status == DATAFLUX_INTERRUPTED) continue;
    CHECK(status == DATAFLUX_OK && count == 1);
    CHECK(r.status == (r.tag == 1 ? DATAFLUX_CANCELLED : DATAFLUX_OK));
    if (r.tag == 1) first = 1;
    if (r.tag == 2) later = 1;
  }
  return 0;
}

static dataflux_status wait_for_operation(void) { return dataflux_operation_wait(op, -1, &err); }
/* It is still under way, and can be cancelled; another one of the client does well. */
static int operation_again(void) {
  dataflux_operation* other = NULL;
  CHECK(dataflux_operation_wait(op, 0, NULL) == DATAFLUX_DEADLINE_EXCEEDED);
  CHECK(stat_object(2, &other) == DATAFLUX_OK);
  CHECK(to_the_end(other) == DATAFLUX_OK);
  dataflux_operation_free(other);
  dataflux_operation_cancel(op);
  CHECK(to_the_end(op) == DATAFLUX_CANCELLED);
  return 0;
}

/* Parts that nobody takes fill all memory of uploads. */
static int fill_writer(void) {
  dataflux_writer_options o;
  dataflux_conditions create;
  size_t written = 0;
  dataflux_writer_options_init(&o, sizeof o);
  dataflux_conditions_init(&create, sizeof create);
  create.has = DATAFLUX_IF_GENERATION_MATCH;
  o.bucket = "bkt";
  o.object = "written";
  o.conditions = &create;
  o.part_size = least_part;
  CHECK(dataflux_writer_open(client, &o, NULL, 0, &op, &err) == DATAFLUX_OK);
  CHECK(to_the_end(op) == DATAFLUX_OK);
  CHECK(dataflux_operation_take_writer(op, &writer, &err) == DATAFLUX_OK);
  while (written < sizeof bytes) {
    size_t taken = 0;
    const dataflux_status status =
        dataflux_writer_write(writer, bytes + written, sizeof bytes - written, -1, &taken, &err);
    CHECK(status == DATAFLUX_OK || status == DATAFLUX_INTERRUPTED);
    written += taken;
  }
  return 0;
}
/* Nobody answers what it asks of the first shard. */
static int open_shard_writer(void) {
  dataflux_shard_writer_options o;
  dataflux_shard_writer_options_init(&o, sizeof o);
  o.bucket = "bkt";
  o.pattern = "%03d.tar";
  o.count = 1;
  CHECK(dataflux_shard_writer_open(client, &o, NULL, 0, &op, &err) == DATAFLUX_OK);
  CHECK(to_the_end(op) == DATAFLUX_OK);
  CHECK(dataflux_operation_take_shard_writer(op, &shard_writer, &err) == DATAFLUX_OK);
  return 0;
}
static dataflux_status write_shard(uint32_t wait, int32_t* done) {
  dataflux_field_bytes field = {"x", 1, NULL, 0};
  *done = 7;
  return dataflux_shard_writer_write(shard_writer, "k", 1, &field, 1, wait, done, &err);
}
static dataflux_status write_sample(void) {
  int32_t done;
  const dataflux_status status = write_shard(1, &done);
  return done == 0 ? status : DATAFLUX_INTERNAL;
}
/* It waits still for the same, and can be given up. */
static int write_sample_again(void) {
  int32_t done;
  dataflux_operation* abort = NULL;
  CHECK(write_shard(0, &done) == DATAFLUX_OK && done == 0);
  CHECK(dataflux_shard_writer_abort(shard_writer, NULL, 0, &abort, &err) == DATAFLUX_OK);
  CHECK(to_the_end(abort) == DATAFLUX_OK);
  dataflux_operation_free(abort);
  return 0;
}
static dataflux_status write_more(void) {
  size_t taken = 7;
  const dataflux_status status = dataflux_writer_write(writer, bytes, 100, -1, &taken, &err);
  return taken == 0 ? status : DATAFLUX_INTERNAL;
}
static dataflux_status lend_more(void) {
  size_t taken = 7;
  const dataflux_status status =
      dataflux_writer_lend(writer, bytes, sizeof bytes, -1, &taken, queue, 3, &err);
  return taken == 0 ? status : DATAFLUX_INTERNAL;
}
/* Nothing was lent, so nobody is told; the writer has no room still, and can be given up. */
static int write_again(void) {
  dataflux_record r;
  size_t taken = 7, count = 7;
  dataflux_operation* abort = NULL;
  CHECK(dataflux_queue_next(queue, &r, sizeof r, 1, 0, &count) == DATAFLUX_OK && count == 0);
  CHECK(dataflux_writer_write(writer, bytes, 100, 0, &taken, &err) == DATAFLUX_OK && taken == 0);
  CHECK(dataflux_writer_abort(writer, NULL, 0, &abort, &err) == DATAFLUX_OK);
  CHECK(to_the_end(abort) == DATAFLUX_OK);
  dataflux_operation_free(abort);
  return 0;
}

/* header.py looks that these are all that wait. */
static const struct {
  const char* name;
  int (*prepare)(void);
  dataflux_status (*wait)(void);
  int (*again)(void);
} functions[] = {
    {"dataflux_queue_next", begin_stat, next, next_again},
    {"dataflux_operation_wait", begin_stat, wait_for_operation, operation_again},
    {"dataflux_writer_write", fill_writer, write_more, write_again},
    {"dataflux_writer_lend", fill_writer, lend_more, write_again},
    {"dataflux_shard_writer_write", open_shard_writer, write_sample, write_sample_again},
};

static int set_signal(const char* how) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  /* Without SA_RESTART. */
  action.sa_handler = strcmp(how, "handled") == 0 ? handle : SIG_DFL;
  return sigaction(SIGINT, &action, NULL);
}

static int begin(const char* endpoint) {
  dataflux_client_options o;
  dataflux_client_options_init(&o, sizeof o);
  o.endpoint = endpoint;
  o.emulator = 1;
  o.upload_memory = sizeof bytes;
  o.stall_timeout_ns = 3600ll * 1000 * 1000 * 1000;
  CHECK(dataflux_client_create(&o, &client, &err) == DATAFLUX_OK);
  CHECK(dataflux_queue_create(&queue, &err) == DATAFLUX_OK);
  return 0;
}

static int play(size_t i) {
  char line[16];
  CHECK(functions[i].prepare() == 0);
  puts("waits");
  fflush(stdout);
  CHECK(functions[i].wait() == DATAFLUX_INTERRUPTED);
  CHECK(handled > 0 && err == NULL);
  puts("interrupted");
  fflush(stdout);
  CHECK(read(STDIN_FILENO, line, sizeof line) > 0);
  return functions[i].again();
}

int main(int argc, char** argv) {
  size_t i;
  int status = 2;
  if (argc != 4 || set_signal(argv[3]) != 0 || begin(argv[2]) != 0) return 2;
  for (i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
    if (strcmp(argv[1], functions[i].name) == 0) status = play(i);
  }
  if (status != 0 && err != NULL) fprintf(stderr, "%s\n", dataflux_error_text(err));
  dataflux_error_free(err);
  dataflux_writer_free(writer);
  dataflux_shard_writer_free(shard_writer);
  dataflux_operation_free(op);
  dataflux_queue_free(queue);
  dataflux_client_free(client);
  return status;
}
