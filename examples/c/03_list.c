/* 03: lists the objects of a bucket by parallel calls, and prints them from columns.
 *
 *     c_03_list BUCKET [PREFIX]
 *
 * Credentials are Application Default Credentials. With STORAGE_EMULATOR_HOST set it uses that
 * emulator, without credentials. */
#include <dataflux.h>

#include <stdio.h>

static int fail(dataflux_error* why) {
  fprintf(stderr, "%s\n", dataflux_error_text(why));
  dataflux_error_free(why);
  return 1;
}

static int print(const dataflux_listing* listing) {
  dataflux_error* why = NULL;
  dataflux_chunk c;
  uint64_t bytes = 0;
  /* A listing lies in chunks, each with its columns in one piece. */
  for (uint64_t i = 0; i < dataflux_listing_chunks(listing); ++i) {
    if (dataflux_listing_chunk(listing, i, &c, sizeof c, &why) != DATAFLUX_OK) return fail(why);
    for (uint64_t row = 0; row < c.rows; ++row) {
      const int32_t begin = c.name_offsets[row];
      const int32_t end = c.name_offsets[row + 1];
      printf("%12llu  %.*s\n", (unsigned long long)c.sizes[row], (int)(end - begin),
             c.names + begin);
      bytes += c.sizes[row];
    }
  }
  printf("%llu objects, %llu bytes\n", (unsigned long long)dataflux_listing_size(listing),
         (unsigned long long)bytes);
  return 0;
}

int main(int argc, char** argv) {
  dataflux_error* why = NULL;
  dataflux_client* client = NULL;
  dataflux_operation* op = NULL;
  dataflux_listing* listing = NULL;
  dataflux_list_options options;
  int status = 1;
  if (argc < 2) return 2;

  dataflux_list_options_init(&options, sizeof options);
  options.bucket = argv[1];
  options.prefix = argc > 2 ? argv[2] : NULL;
  /* One client serves a whole process. Without a queue an operation is waited for. */
  if (dataflux_client_create(NULL, &client, &why) != DATAFLUX_OK ||
      dataflux_list(client, &options, NULL, 0, &op, &why) != DATAFLUX_OK ||
      dataflux_operation_wait(op, -1, &why) != DATAFLUX_OK ||
      dataflux_operation_take_listing(op, &listing, &why) != DATAFLUX_OK) {
    status = fail(why);
  } else {
    status = print(listing);
  }
  dataflux_listing_free(listing);
  dataflux_operation_free(op);
  dataflux_client_free(client);
  return status;
}
