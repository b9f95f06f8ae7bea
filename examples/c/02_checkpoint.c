/* 02: saves 64 MiB by a writer, and reads them back by ranges into other memory.
 *
 *     c_02_checkpoint BUCKET OBJECT */
#include <dataflux.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { tensors = 16, size = 64 << 20 };

/* Waits for an operation; not 0 if it failed. */
static int failed(dataflux_operation* op, dataflux_error** why) {
  dataflux_status status = DATAFLUX_INTERRUPTED; /* that is: a signal handler has run */
  while (status == DATAFLUX_INTERRUPTED) status = dataflux_operation_wait(op, -1, why);
  return status != DATAFLUX_OK || dataflux_operation_result(op, why) != DATAFLUX_OK;
}

/* Writes all of it, as fast as there is room. */
static int write_all(dataflux_writer* writer, const char* state, dataflux_error** why) {
  size_t done = 0;
  while (done < size) {
    size_t taken = 0;
    const dataflux_status status =
        dataflux_writer_write(writer, state + done, size - done, -1, &taken, why);
    done += taken;
    if (status != DATAFLUX_OK && status != DATAFLUX_INTERRUPTED) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  dataflux_error* why = NULL;
  dataflux_client* client = NULL;
  dataflux_operation *open = NULL, *commit = NULL, *open_again = NULL, *read = NULL;
  dataflux_writer* writer = NULL;
  dataflux_reader* reader = NULL;
  dataflux_writer_options to;
  dataflux_reader_options from;
  dataflux_range_columns ranges;
  uint64_t offsets[tensors], sizes[tensors];
  void* into[tensors];
  char *saved = malloc(size), *loaded = calloc(1, size);
  int bad;
  if (argc != 3 || saved == NULL || loaded == NULL) return 2;
  for (size_t i = 0; i < size; ++i) saved[i] = (char)(i * 7 + i / 251);
  for (size_t i = 0; i < tensors; ++i) {
    sizes[i] = size / tensors;
    offsets[i] = i * sizes[i];
    into[i] = loaded + offsets[i];
  }
  dataflux_writer_options_init(&to, sizeof to);
  dataflux_reader_options_init(&from, sizeof from);
  dataflux_range_columns_init(&ranges, sizeof ranges);
  to.bucket = from.bucket = argv[1];
  to.object = from.object = argv[2];
  ranges.offsets = offsets, ranges.sizes = sizes, ranges.into = into;
  bad = dataflux_client_create(NULL, &client, &why) ||
        dataflux_writer_open(client, &to, NULL, 0, &open, &why) || failed(open, &why) ||
        dataflux_operation_take_writer(open, &writer, &why) || write_all(writer, saved, &why) ||
        dataflux_writer_commit(writer, NULL, 0, &commit, &why) || failed(commit, &why) ||
        dataflux_reader_open(client, &from, NULL, 0, &open_again, &why) ||
        failed(open_again, &why) || dataflux_operation_take_reader(open_again, &reader, &why) ||
        dataflux_reader_read_ranges(reader, &ranges, tensors, NULL, 0, &read, &why) ||
        failed(read, &why);
  if (bad) fprintf(stderr, "%s\n", dataflux_error_text(why));
  if (!bad) bad = memcmp(saved, loaded, size) != 0;
  puts(bad ? "failed" : "64 MiB, the same");
  dataflux_error_free(why);
  dataflux_operation_free(read);
  dataflux_reader_free(reader);
  dataflux_operation_free(open_again);
  dataflux_operation_free(commit);
  dataflux_writer_free(writer); /* what was not committed is removed */
  dataflux_operation_free(open);
  dataflux_client_free(client);
  free(saved);
  free(loaded);
  return bad;
}
