/* Plays calls of the table of behaviour (table.txt, which says what they are) by the C ABI.
 *
 *     driver ENDPOINT       calls from standard input, answers to standard output
 *
 * Each call is begun with the queue, and ended by its last record. */
#include "objects.h"
#include "streams.h"
#include "writers.h"

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
  if (argc != 3) return 2;
  dataflux_client_options_init(&o, sizeof o);
  o.endpoint = argv[1];
  o.emulator = 1;
  o.tokens_to_emulator = 1;
  o.token_limit_ns = 100000000; /* nobody gives another one */
  o.credentials = DATAFLUX_CREDENTIALS_TOKEN;
  if (dataflux_client_create(&o, &client, &err) != DATAFLUX_OK ||
      dataflux_client_set_token(client, argv[2], 0, &err) != DATAFLUX_OK ||
      dataflux_queue_create(&queue, &err) != DATAFLUX_OK) {
    fprintf(stderr, "%s\n", dataflux_error_text(err));
    return 1;
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = 0;
    /* One that was refused in the line before is to be set anew. */
    if (dataflux_client_set_token(client, argv[2], 0, &err) != DATAFLUX_OK) return 1;
    play(line);
    fflush(stdout);
  }
  dataflux_queue_free(queue);
  dataflux_client_free(client);
  return 0;
}
