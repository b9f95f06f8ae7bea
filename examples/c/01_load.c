/* 01: lists a prefix and reads every object below it, as a training loop does.
 *
 *     c_01_load BUCKET PREFIX */
#include <dataflux.h>

#include <stdio.h>

enum { batch = 64 };

static int fail(dataflux_error* why) {
  fprintf(stderr, "%s\n", dataflux_error_text(why));
  dataflux_error_free(why);
  return 1;
}

/* Takes records until the last one, and gives how many objects could not be read. */
static int read_all(dataflux_queue* queue) {
  dataflux_record records[batch];
  uint64_t slabs[batch];
  size_t count = 0;
  int failed = 0;
  int ended = 0;
  while (!ended) {
    const dataflux_status status =
        dataflux_queue_next(queue, records, sizeof records[0], batch, -1, &count);
    if (status == DATAFLUX_INTERRUPTED) continue; /* a signal handler has run */
    if (status != DATAFLUX_OK) return -1;
    for (size_t i = 0; i < count; ++i) {
      const dataflux_record* r = &records[i];
      slabs[i] = r->slab;
      if (r->error != 0) failed += fail(dataflux_queue_error(queue, r->error));
      if ((r->flags & DATAFLUX_RECORD_END) != 0) {
        ended = 1;
        continue;
      }
      if (r->status != DATAFLUX_OK) continue; /* of this object; the others go on */
      printf("row %llu: %llu bytes, %s\n", (unsigned long long)r->index,
             (unsigned long long)r->size,
             (r->flags & DATAFLUX_RECORD_VERIFIED) != 0 ? "checked" : "not checked");
    }
    /* The memory of all of them, in one call, when they are used. */
    dataflux_slabs_release(slabs, count);
  }
  return failed;
}

int main(int argc, char** argv) {
  dataflux_error* why = NULL;
  dataflux_client* client = NULL;
  dataflux_queue* queue = NULL;
  dataflux_operation* op = NULL;
  dataflux_listing* listing = NULL;
  dataflux_getter* getter = NULL;
  dataflux_list_options list;
  dataflux_get_many_options many;
  int status = 1;
  if (argc != 3) return 2;

  dataflux_list_options_init(&list, sizeof list);
  list.bucket = argv[1];
  list.prefix = argv[2];
  dataflux_get_many_options_init(&many, sizeof many);
  many.bucket = argv[1];
  if (dataflux_client_create(NULL, &client, &why) != DATAFLUX_OK ||
      dataflux_list(client, &list, NULL, 0, &op, &why) != DATAFLUX_OK ||
      dataflux_operation_wait(op, -1, &why) != DATAFLUX_OK ||
      dataflux_operation_take_listing(op, &listing, &why) != DATAFLUX_OK ||
      dataflux_queue_create(&queue, &why) != DATAFLUX_OK ||
      dataflux_get_many(client, &many, listing, NULL, 0, queue, 0, &getter, &why) != DATAFLUX_OK) {
    status = fail(why);
  } else {
    status = read_all(queue) == 0 ? 0 : 1;
  }
  dataflux_getter_free(getter);
  dataflux_queue_free(queue);
  dataflux_listing_free(listing);
  dataflux_operation_free(op);
  dataflux_client_free(client);
  return status;
}
