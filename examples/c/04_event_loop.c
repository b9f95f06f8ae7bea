/* 04: an event loop: poll(2) waits for results and for lines of the standard input.
 *
 *     c_04_event_loop BUCKET < NAMES
 *
 * Each line is the name of an object; its metadata is printed as soon as it arrives. */
#include <dataflux.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>

static int fail(dataflux_error* why) {
  fprintf(stderr, "%s\n", dataflux_error_text(why));
  dataflux_error_free(why);
  return 1;
}

/* What has come, without waiting; gives how many answers that were. */
static int take(dataflux_queue* queue) {
  dataflux_record r;
  size_t count = 0;
  int taken = 0;
  while (dataflux_queue_next(queue, &r, sizeof r, 1, 0, &count) == DATAFLUX_OK && count == 1) {
    ++taken;
    if (r.error != 0) {
      printf("line %llu: ", (unsigned long long)r.tag);
      fflush(stdout);
      fail(dataflux_queue_error(queue, r.error));
      printf("%s\n", dataflux_status_name(r.status));
    } else {
      printf("line %llu: %llu bytes, crc32c %08x\n", (unsigned long long)r.tag,
             (unsigned long long)r.size, (unsigned)r.crc32c);
    }
  }
  return taken;
}

int main(int argc, char** argv) {
  dataflux_error* why = NULL;
  dataflux_client* client = NULL;
  dataflux_queue* queue = NULL;
  dataflux_object_options object;
  char line[1100];
  uint64_t lines = 0;
  uint64_t answered = 0;
  int input_open = 1;
  if (argc != 2) return 2;
  if (dataflux_client_create(NULL, &client, &why) != DATAFLUX_OK ||
      dataflux_queue_create(&queue, &why) != DATAFLUX_OK) {
    return fail(why);
  }
  setvbuf(stdin, NULL, _IONBF, 0); /* what poll(2) does not see must not lie in a buffer */
  dataflux_object_options_init(&object, sizeof object);
  object.bucket = argv[1];
  object.object = line;
  while (input_open || answered < lines) {
    struct pollfd wait[2] = {{dataflux_queue_fd(queue), POLLIN, 0},
                             {input_open ? 0 : -1, POLLIN, 0}};
    if (poll(wait, 2, -1) < 0) continue;
    if (wait[0].revents != 0) answered += (uint64_t)take(queue);
    if (wait[1].revents == 0) continue;
    if (fgets(line, sizeof line, stdin) == NULL) {
      input_open = 0;
      continue;
    }
    line[strcspn(line, "\n")] = '\0';
    /* No handle: the record is all that is wanted. The tag comes back with it. */
    if (dataflux_stat(client, &object, queue, ++lines, NULL, &why) != DATAFLUX_OK) {
      ++answered;
      fail(why);
    }
  }
  dataflux_queue_free(queue);
  dataflux_client_free(client);
  return 0;
}
