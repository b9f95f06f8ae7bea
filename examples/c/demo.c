/* The main job through the C interface alone: list a bucket, read every object with its bytes
 * checked, write a checkpoint in parallel parts, read it back in parallel ranges. It writes only
 * below a name of its own, which it removes.
 *
 *     demo BUCKET PREFIX [FOLDER]
 *
 * Credentials are the usual ones, or STORAGE_EMULATOR_HOST names an emulator. With FOLDER every
 * object is compared with the file of its name there. ./dev demo --c runs it. */
#include <dataflux.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { batch = 64, piece = 4 << 20, pieces = 64, ranges = 32 };

typedef struct job {
  const char* bucket;
  const char* prefix;
  const char* folder; /* NULL: nothing to compare with but checksums */
  char checkpoint[512];
  dataflux_client* client;
  dataflux_queue* queue;
  dataflux_listing* listing;
  dataflux_writer* writer;
  dataflux_reader* reader;
  unsigned char* made;     /* the checkpoint */
  unsigned char* restored; /* what came back */
} job;

static int failed(dataflux_error* why) {
  fprintf(stderr, "demo: %s\n", dataflux_error_text(why));
  dataflux_error_free(why);
  return 0;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void row(const char* step, uint64_t objects, uint64_t bytes, double seconds) {
  const double mib = (double)bytes / 1048576;
  printf("  %-20s %10llu %12.1f %9.2f %11.1f\n", step, (unsigned long long)objects, mib, seconds,
         seconds > 0 ? mib / seconds : 0);
}

/* Waits until an operation has ended, and says whether it did well. */
static int done(dataflux_operation* op) {
  dataflux_error* why = NULL;
  dataflux_status status = DATAFLUX_INTERRUPTED;
  while (status == DATAFLUX_INTERRUPTED) status = dataflux_operation_wait(op, -1, &why);
  if (status == DATAFLUX_OK) status = dataflux_operation_result(op, &why);
  return status == DATAFLUX_OK ? 1 : failed(why);
}

static int list(job* j) {
  dataflux_error* why = NULL;
  dataflux_operation* op = NULL;
  dataflux_list_options options;
  const double begun = now();
  int good;
  dataflux_list_options_init(&options, sizeof options);
  options.bucket = j->bucket;
  options.prefix = j->prefix;
  options.keep_markers = 1;
  if (dataflux_list(j->client, &options, NULL, 0, &op, &why) != DATAFLUX_OK) return failed(why);
  good = done(op);
  if (good && dataflux_operation_take_listing(op, &j->listing, &why) != DATAFLUX_OK) {
    good = failed(why);
  }
  dataflux_operation_free(op);
  if (good) row("list", dataflux_listing_size(j->listing), 0, now() - begun);
  return good;
}

/* The name of a row: those of a chunk lie one behind the other. */
static int name_of(const job* j, uint64_t wanted, char* out, size_t size) {
  uint64_t i;
  for (i = 0; i < dataflux_listing_chunks(j->listing); ++i) {
    dataflux_chunk c;
    if (dataflux_listing_chunk(j->listing, i, &c, sizeof c, NULL) != DATAFLUX_OK) return 0;
    if (wanted < c.first_row || wanted >= c.first_row + c.rows) continue;
    {
      const int32_t* at = c.name_offsets + (wanted - c.first_row);
      const size_t length = (size_t)(at[1] - at[0]);
      if (length >= size) return 0;
      memcpy(out, c.names + at[0], length);
      out[length] = '\0';
      return 1;
    }
  }
  return 0;
}

static int same_as_file(const job* j, const dataflux_record* r) {
  char name[1100];
  char path[2200];
  char memory[4096];
  uint64_t at = 0;
  FILE* file;
  int same = 1;
  if (!name_of(j, r->index, name, sizeof name)) return 0;
  snprintf(path, sizeof path, "%s/%s", j->folder, name);
  file = fopen(path, "rb");
  if (file == NULL) return 0;
  while (same) {
    const size_t n = fread(memory, 1, sizeof memory, file);
    if (n == 0) break;
    same = at + n <= r->size && memcmp(memory, (const char*)r->data + at, n) == 0;
    at += n;
  }
  fclose(file);
  if (!same || at != r->size) fprintf(stderr, "demo: object and file differ: %s\n", path);
  return same && at == r->size;
}

static int read_all(job* j) {
  dataflux_error* why = NULL;
  dataflux_getter* getter = NULL;
  dataflux_get_many_options options;
  const double begun = now();
  uint64_t objects = 0;
  uint64_t bytes = 0;
  int good = 1;
  int ended = 0;
  dataflux_get_many_options_init(&options, sizeof options);
  options.bucket = j->bucket;
  if (dataflux_get_many(j->client, &options, j->listing, NULL, 0, j->queue, 0, &getter, &why) !=
      DATAFLUX_OK) {
    return failed(why);
  }
  while (!ended && good) {
    dataflux_record records[batch];
    uint64_t slabs[batch];
    size_t count = 0;
    size_t i;
    const dataflux_status status =
        dataflux_queue_next(j->queue, records, sizeof records[0], batch, -1, &count);
    if (status != DATAFLUX_OK && status != DATAFLUX_INTERRUPTED) good = 0;
    for (i = 0; i < count; ++i) {
      const dataflux_record* r = &records[i];
      slabs[i] = r->slab;
      if (r->error != 0) good = failed(dataflux_queue_error(j->queue, r->error));
      if ((r->flags & DATAFLUX_RECORD_END) != 0) {
        ended = 1;
      } else if (good && r->status == DATAFLUX_OK) {
        ++objects;
        bytes += r->size;
        if ((r->flags & DATAFLUX_RECORD_VERIFIED) == 0) good = 0;
        if (j->folder != NULL && !same_as_file(j, r)) good = 0;
      }
    }
    dataflux_slabs_release(slabs, count);
  }
  dataflux_getter_free(getter);
  if (good && objects != dataflux_listing_size(j->listing)) good = 0;
  if (good) row("read, all checked", objects, bytes, now() - begun);
  return good;
}

static int write_checkpoint(job* j) {
  dataflux_error* why = NULL;
  dataflux_operation* op = NULL;
  dataflux_writer_options options;
  const double begun = now();
  size_t at = 0;
  const size_t size = (size_t)piece * pieces;
  int good;
  dataflux_writer_options_init(&options, sizeof options);
  options.bucket = j->bucket;
  options.object = j->checkpoint;
  options.size_hint = size;
  if (dataflux_writer_open(j->client, &options, NULL, 0, &op, &why) != DATAFLUX_OK) {
    return failed(why);
  }
  good = done(op);
  if (good && dataflux_operation_take_writer(op, &j->writer, &why) != DATAFLUX_OK) {
    good = failed(why);
  }
  dataflux_operation_free(op);
  while (good && at < size) {
    size_t taken = 0;
    const dataflux_status status =
        dataflux_writer_write(j->writer, j->made + at, piece, -1, &taken, &why);
    at += taken;
    if (status != DATAFLUX_OK && status != DATAFLUX_INTERRUPTED) good = failed(why);
  }
  if (!good) return 0;
  op = NULL;
  if (dataflux_writer_commit(j->writer, NULL, 0, &op, &why) != DATAFLUX_OK) return failed(why);
  good = done(op);
  dataflux_operation_free(op);
  if (good) row("write checkpoint", 1, size, now() - begun);
  return good;
}

static int read_checkpoint(job* j) {
  dataflux_error* why = NULL;
  dataflux_operation* op = NULL;
  dataflux_reader_options options;
  dataflux_range_columns columns;
  uint64_t offsets[ranges];
  uint64_t sizes[ranges];
  void* into[ranges];
  const double begun = now();
  const uint64_t size = (uint64_t)piece * pieces;
  int i;
  int good;
  dataflux_reader_options_init(&options, sizeof options);
  options.bucket = j->bucket;
  options.object = j->checkpoint;
  if (dataflux_reader_open(j->client, &options, NULL, 0, &op, &why) != DATAFLUX_OK) {
    return failed(why);
  }
  good = done(op);
  if (good && dataflux_operation_take_reader(op, &j->reader, &why) != DATAFLUX_OK) {
    good = failed(why);
  }
  dataflux_operation_free(op);
  if (!good || dataflux_reader_size(j->reader) != size) return 0;
  for (i = 0; i < ranges; ++i) {
    offsets[i] = size / ranges * (uint64_t)i;
    sizes[i] = size / ranges;
    into[i] = j->restored + offsets[i];
  }
  dataflux_range_columns_init(&columns, sizeof columns);
  columns.offsets = offsets;
  columns.sizes = sizes;
  columns.into = into;
  op = NULL;
  if (dataflux_reader_read_ranges(j->reader, &columns, ranges, NULL, 0, &op, &why) != DATAFLUX_OK) {
    return failed(why);
  }
  good = done(op);
  dataflux_operation_free(op);
  if (!good) return 0;
  row("read checkpoint", 1, size, now() - begun);
  if (memcmp(j->made, j->restored, size) == 0) return 1;
  fprintf(stderr, "demo: the checkpoint read back differs from the one written\n");
  return 0;
}

static int remove_checkpoint(const job* j) {
  dataflux_error* why = NULL;
  dataflux_operation* op = NULL;
  dataflux_object_options options;
  int good;
  dataflux_object_options_init(&options, sizeof options);
  options.bucket = j->bucket;
  options.object = j->checkpoint;
  if (dataflux_remove(j->client, &options, NULL, 0, &op, &why) != DATAFLUX_OK) return failed(why);
  good = done(op);
  dataflux_operation_free(op);
  return good;
}

static int run(job* j) {
  dataflux_error* why = NULL;
  const size_t size = (size_t)piece * pieces;
  uint64_t state = 88172645463325252u;
  size_t i;
  int good;
  j->made = malloc(size);
  j->restored = malloc(size);
  if (j->made == NULL || j->restored == NULL) return 0;
  for (i = 0; i < size; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    j->made[i] = (unsigned char)(state >> 56u);
  }
  if (dataflux_client_create(NULL, &j->client, &why) != DATAFLUX_OK) return failed(why);
  if (dataflux_queue_create(&j->queue, &why) != DATAFLUX_OK) return failed(why);
  printf("\n  %-20s %10s %12s %9s %11s\n", "step", "objects", "MiB", "seconds", "MiB/s");
  if (!list(j) || !read_all(j) || !write_checkpoint(j)) return 0;
  good = read_checkpoint(j);
  if (!remove_checkpoint(j) || !good) return 0;
  printf("\n  every byte read was compared%s\n",
         j->folder != NULL ? " with the files and by CRC32C" : " by CRC32C");
  printf("\nAll of it worked. Next: docs/c.md, and the programs of examples/c.\n");
  return 1;
}

int main(int argc, char** argv) {
  job j;
  int good;
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: demo BUCKET PREFIX [FOLDER]\n");
    return 2;
  }
  memset(&j, 0, sizeof j);
  j.bucket = argv[1];
  j.prefix = argv[2];
  j.folder = argc == 4 ? argv[3] : NULL;
  snprintf(j.checkpoint, sizeof j.checkpoint, "%sdataflux-demo-%lx-%lx/checkpoint", j.prefix,
           (unsigned long)getpid(), (unsigned long)time(NULL));
  good = run(&j);
  dataflux_reader_free(j.reader);
  dataflux_writer_free(j.writer);
  dataflux_listing_free(j.listing);
  dataflux_queue_free(j.queue);
  dataflux_client_free(j.client);
  free(j.made);
  free(j.restored);
  return good ? 0 : 1;
}
