/* A user's program in C. */
#include <dataflux.h>

#include <stdio.h>

int main(void) {
  dataflux_error* why = NULL;
  dataflux_queue* queue = NULL;
  if (dataflux_queue_create(&queue, &why) != DATAFLUX_OK) {
    printf("%s\n", dataflux_error_text(why));
    return 1;
  }
  dataflux_queue_free(queue);
  if (dataflux_abi_version() < DATAFLUX_ABI_VERSION) return 1;
  printf("consumed dataflux %s\n", dataflux_version());
  return 0;
}
