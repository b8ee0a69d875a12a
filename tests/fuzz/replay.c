/* Go through files without libFuzzer: replay FILE... */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    FILE *file = fopen(argv[i], "rb");
    uint8_t *data = malloc(1 << 20);
    if (!file || !data) {
      fprintf(stderr, "replay: %s cannot be read\n", argv[i]);
      return 3;
    }
    const size_t size = fread(data, 1, 1 << 20, file);
    /* A buffer of exactly this size, so that a sanitizer sees one byte too many. */
    uint8_t *exact = malloc(size ? size : 1);
    for (size_t k = 0; exact && k < size; k++) {
      exact[k] = data[k];
    }
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    free(data);
    fclose(file);
  }
  printf("%d inputs\n", argc - 1);
  return 0;
}
