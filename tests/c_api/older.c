/* A program of an earlier version: header.py compiles it by headers of before, and runs it with the
 * library of today. It puts objects, lists them, reads them by get_many, and by a reader what a
 * writer has written. What it gives the library lies before bytes that nobody may touch.
 *
 *     older ENDPOINT BUCKET
 */
#include <dataflux.h>

#include <stdio.h>
#include <string.h>

enum { objects = 20, guard = 64 };

#define GUARDED(type)            \
  struct {                       \
    type it;                     \
    unsigned char behind[guard]; \
  }
#define INIT(type, x)                 \
  memset(&(x), 0x5a, sizeof(x));      \
  type##_init(&(x).it, sizeof(x).it); \
  CHECK((x).it.struct_size == sizeof(type))
#define CHECK(holds)                                      \
  do {                                                    \
    if (!(holds)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #holds); \
      return 1;                                           \
    }                                                     \
  } while (0)
/* A call that must do well. */
#define OK(call)                                                            \
  do {                                                                      \
    dataflux_error* err = NULL;                                             \
    if ((call) != DATAFLUX_OK) {                                            \
      fprintf(stderr, "line %d: %s\n", __LINE__, dataflux_error_text(err)); \
      return 1;                                                             \
    }                                                                       \
  } while (0)

static int whole(const unsigned char* behind) {
  int i;
  for (i = 0; i < guard; ++i) {
    if (behind[i] != 0x5a) return 0;
  }
  return 1;
}

static const char* bucket;
static dataflux_client* client;
static dataflux_queue* queue;

static int open_client(const char* endpoint) {
  GUARDED(dataflux_client_options) o;
  INIT(dataflux_client_options, o);
  o.it.endpoint = endpoint;
  o.it.emulator = 1;
  OK(dataflux_client_create(&o.it, &client, &err));
  OK(dataflux_queue_create(&queue, &err));
  CHECK(whole(o.behind));
  return 0;
}

/* The one record of an operation; there is none behind it. */
static int ended(uint64_t tag, uint64_t size) {
  GUARDED(dataflux_record) r;
  size_t count = 0;
  memset(&r, 0x5a, sizeof r);
  CHECK(dataflux_queue_next(queue, &r.it, sizeof r.it, 1, -1, &count) == DATAFLUX_OK);
  CHECK(count == 1 && r.it.tag == tag && r.it.status == DATAFLUX_OK && r.it.size == size);
  CHECK((r.it.flags & DATAFLUX_RECORD_END) != 0);
  CHECK(whole(r.behind));
  return 0;
}

static int put_all(void) {
  int i;
  for (i = 0; i < objects; ++i) {
    GUARDED(dataflux_object_options) o;
    GUARDED(dataflux_attributes) a;
    GUARDED(dataflux_conditions) c;
    char name[16];
    sprintf(name, "o/%06d", i);
    INIT(dataflux_object_options, o);
    INIT(dataflux_attributes, a);
    INIT(dataflux_conditions, c);
    o.it.bucket = bucket;
    o.it.object = name;
    o.it.conditions = &c.it;
    c.it.has = DATAFLUX_IF_GENERATION_MATCH;
    a.it.content_type = "text/plain";
    OK(dataflux_put(client, &o.it, name, strlen(name), &a.it, queue, 1, NULL, &err));
    CHECK(ended(1, strlen(name)) == 0);
    CHECK(whole(o.behind) && whole(a.behind) && whole(c.behind));
  }
  return 0;
}

static int list_all(dataflux_listing** out) {
  GUARDED(dataflux_list_options) o;
  GUARDED(dataflux_chunk) c;
  dataflux_operation* op = NULL;
  INIT(dataflux_list_options, o);
  o.it.bucket = bucket;
  o.it.prefix = "o/";
  OK(dataflux_list(client, &o.it, NULL, 0, &op, &err));
  OK(dataflux_operation_wait(op, -1, &err));
  OK(dataflux_operation_take_listing(op, out, &err));
  dataflux_operation_free(op);
  CHECK(whole(o.behind));
  CHECK(dataflux_listing_size(*out) == objects && dataflux_listing_chunks(*out) > 0);
  memset(&c, 0x5a, sizeof c);
  OK(dataflux_listing_chunk(*out, 0, &c.it, sizeof c.it, &err));
  CHECK(whole(c.behind));
  CHECK(c.it.first_row == 0 && c.it.rows > 0 && c.it.sizes[0] == 8);
  CHECK(memcmp(c.it.names, "o/000000", 8) == 0);
  return 0;
}

static int read_all(const dataflux_listing* listing) {
  GUARDED(dataflux_get_many_options) o;
  dataflux_getter* getter = NULL;
  int items = 0, over = 0;
  INIT(dataflux_get_many_options, o);
  o.it.bucket = bucket;
  OK(dataflux_get_many(client, &o.it, listing, NULL, 0, queue, 2, &getter, &err));
  while (!over) {
    dataflux_record all[4];
    size_t count = 0, i;
    CHECK(dataflux_queue_next(queue, all, sizeof all[0], 3, -1, &count) == DATAFLUX_OK);
    CHECK(count <= 3);
    for (i = 0; i < count; ++i) {
      char name[16];
      CHECK(all[i].tag == 2 && all[i].status == DATAFLUX_OK);
      over = (all[i].flags & DATAFLUX_RECORD_END) != 0;
      if (over) break;
      sprintf(name, "o/%06d", (int)all[i].index);
      CHECK(all[i].size == 8 && memcmp(all[i].data, name, 8) == 0);
      dataflux_slabs_release(&all[i].slab, 1);
      ++items;
    }
  }
  CHECK(items == objects);
  CHECK(whole(o.behind));
  dataflux_getter_free(getter);
  return 0;
}

static int save(const char* bytes, size_t size) {
  GUARDED(dataflux_writer_options) o;
  dataflux_operation* op = NULL;
  dataflux_writer* writer = NULL;
  size_t taken = 0;
  INIT(dataflux_writer_options, o);
  o.it.bucket = bucket;
  o.it.object = "saved";
  OK(dataflux_writer_open(client, &o.it, NULL, 0, &op, &err));
  OK(dataflux_operation_wait(op, -1, &err));
  OK(dataflux_operation_take_writer(op, &writer, &err));
  dataflux_operation_free(op);
  OK(dataflux_writer_write(writer, bytes, size, -1, &taken, &err));
  CHECK(taken == size && whole(o.behind));
  OK(dataflux_writer_commit(writer, queue, 3, NULL, &err));
  CHECK(ended(3, size) == 0);
  dataflux_writer_free(writer);
  return 0;
}

static int restore(const char* bytes, size_t size) {
  GUARDED(dataflux_reader_options) o;
  GUARDED(dataflux_range_columns) c;
  dataflux_operation* op = NULL;
  dataflux_reader* reader = NULL;
  char back[64] = "";
  const uint64_t offsets[] = {0}, sizes[] = {size};
  void* const into[] = {back};
  INIT(dataflux_reader_options, o);
  INIT(dataflux_range_columns, c);
  o.it.bucket = bucket;
  o.it.object = "saved";
  c.it.offsets = offsets;
  c.it.sizes = sizes;
  c.it.into = into;
  OK(dataflux_reader_open(client, &o.it, NULL, 0, &op, &err));
  OK(dataflux_operation_wait(op, -1, &err));
  OK(dataflux_operation_take_reader(op, &reader, &err));
  dataflux_operation_free(op);
  OK(dataflux_reader_read_ranges(reader, &c.it, 1, NULL, 0, &op, &err));
  OK(dataflux_operation_wait(op, -1, &err));
  OK(dataflux_operation_result(op, &err));
  CHECK(memcmp(back, bytes, size) == 0);
  CHECK(whole(o.behind) && whole(c.behind));
  dataflux_operation_free(op);
  dataflux_reader_free(reader);
  return 0;
}

int main(int argc, char** argv) {
  static const char text[] = "what was saved";
  dataflux_listing* listing = NULL;
  if (argc != 3) return 2;
  bucket = argv[2];
  if (dataflux_abi_version() < DATAFLUX_ABI_VERSION) return 3;
  if (open_client(argv[1]) != 0 || put_all() != 0 || list_all(&listing) != 0) return 1;
  if (read_all(listing) != 0 || save(text, sizeof text) != 0) return 1;
  if (restore(text, sizeof text) != 0) return 1;
  dataflux_listing_free(listing);
  dataflux_queue_free(queue);
  dataflux_client_free(client);
  return 0;
}
