/* A program that leaves libdataflux in the middle of its work: reads are under way, memory is
 * handed out, a thread waits. It is loaded by name, as bindings do.
 *
 *     leaving LIBRARY ENDPOINT exit|return|dlclose|forks
 *
 * The emulator at ENDPOINT has 40 objects "o/000000" and so on in "bkt". Status 0: it could leave.
 */
#include <dataflux.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define USED(name) __typeof__(&dataflux_##name) name

static struct {
  USED(client_options_init);
  USED(client_create);
  USED(client_free);
  USED(queue_create);
  USED(queue_next);
  USED(get_many_options_init);
  USED(get_many);
  USED(getter_push);
  USED(getter_free);
  USED(get_columns_init);
  USED(slabs_release);
} df;

static void* library;

static int load(const char* path) {
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
#define LOAD(name)                                       \
  *(void**)&df.name = dlsym(library, "dataflux_" #name); \
  if (df.name == NULL) return 0
  LOAD(client_options_init);
  LOAD(client_create);
  LOAD(client_free);
  LOAD(queue_create);
  LOAD(queue_next);
  LOAD(get_many_options_init);
  LOAD(get_many);
  LOAD(getter_push);
  LOAD(getter_free);
  LOAD(get_columns_init);
  LOAD(slabs_release);
  return 1;
}

static dataflux_client* client;
static dataflux_queue* queue;
static dataflux_getter* getter;
static dataflux_queue* idle_queue;

static int push(int count) {
  static char names[40 * 8 + 1];
  static uint64_t offsets[41];
  dataflux_get_columns columns;
  size_t taken = 0;
  int i;
  for (i = 0; i < count; ++i) {
    sprintf(names + (size_t)i * 8, "o/%06d", i);
    offsets[i + 1] = (uint64_t)(i + 1) * 8;
  }
  df.get_columns_init(&columns, sizeof columns);
  columns.names = names;
  columns.name_offsets = offsets;
  return df.getter_push(getter, &columns, (size_t)count, &taken, NULL) == DATAFLUX_OK &&
         taken == (size_t)count;
}

static int begin(const char* endpoint) {
  dataflux_client_options options;
  dataflux_get_many_options many;
  df.client_options_init(&options, sizeof options);
  options.endpoint = endpoint;
  options.emulator = 1;
  if (df.client_create(&options, &client, NULL) != DATAFLUX_OK) return 0;
  if (df.queue_create(&queue, NULL) != DATAFLUX_OK) return 0;
  if (df.queue_create(&idle_queue, NULL) != DATAFLUX_OK) return 0;
  df.get_many_options_init(&many, sizeof many);
  many.bucket = "bkt";
  many.feed = 1;
  if (df.get_many(client, &many, NULL, NULL, 0, queue, 7, &getter, NULL) != DATAFLUX_OK) return 0;
  return push(40);
}

/* Takes one item at least, which stays lent. */
static int take(dataflux_record* item) {
  size_t count = 0;
  if (df.queue_next(queue, item, sizeof *item, 1, -1, &count) != DATAFLUX_OK) return 0;
  return count == 1 && item->status == DATAFLUX_OK && item->slab != 0;
}

static void* wait_for_ever(void* unused) {
  dataflux_record record;
  size_t count = 0;
  (void)unused;
  df.queue_next(idle_queue, &record, sizeof record, 1, -1, &count);
  return NULL;
}

/* In the child of a fork with reads open and memory handed out: everything is given back, and it
 * has a client of its own. */
static int child(const char* endpoint, const dataflux_record* lent) {
  dataflux_record record;
  size_t count = 0;
  if (df.queue_next(queue, &record, sizeof record, 1, -1, &count) != DATAFLUX_FAILED_PRECONDITION) {
    return 2;
  }
  df.slabs_release(&lent->slab, 1);
  df.getter_free(getter);
  df.client_free(client);
  (void)endpoint;
  return 0;
}

static int forks(const char* endpoint) {
  int i;
  for (i = 0; i < 1000; ++i) {
    dataflux_record item;
    int status = 0;
    pid_t pid;
    if (!push(16)) return 3;
    if (!take(&item)) return 4;
    pid = fork();
    if (pid == 0) {
      alarm(60);
      exit(child(endpoint, &item));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return 5;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 6;
    df.slabs_release(&item.slab, 1);
    /* What has come meanwhile. */
    for (;;) {
      dataflux_record all[64];
      size_t count = 0, k;
      if (df.queue_next(queue, all, sizeof all[0], 64, 0, &count) != DATAFLUX_OK) return 7;
      if (count == 0) break;
      for (k = 0; k < count; ++k) {
        if (all[k].status != DATAFLUX_OK) return 8;
        df.slabs_release(&all[k].slab, 1);
      }
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  dataflux_record item;
  pthread_t waiting;
  if (argc != 4 || !load(argv[1]) || !begin(argv[2])) return 1;
  if (strcmp(argv[3], "forks") == 0) return forks(argv[2]);
  if (!take(&item)) return 2;
  if (pthread_create(&waiting, NULL, wait_for_ever, NULL) != 0) return 3;
  if (strcmp(argv[3], "exit") == 0) exit(0);
  if (strcmp(argv[3], "dlclose") == 0) {
    /* Its threads still run: they must find their code. */
    const struct timespec while_they_do = {0, 50 * 1000 * 1000};
    if (dlclose(library) != 0) return 4;
    nanosleep(&while_they_do, NULL);
  }
  return 0;
}
