/* The results' file: a line per week, added to by several processes, loaded when a study goes on or is reported. */
#ifndef WEEKS_COLLECTION_H
#define WEEKS_COLLECTION_H

#include "weeks/result.h"

typedef struct {
  result *row;
  size_t count, capacity;
} collection;

/* What the file at path holds, by index, if its first line carries this print (0: any); *all is to be freed.
 * Returned: whether it does. */
bool collection_load(const char *path, uint64_t print, collection *all);
const result *collection_find(const collection *all, uint64_t index);
void collection_free(collection *all);

/* Opens the file for more; one that is not `ours` begins anew. -1: errno says why. */
int collection_open(const char *path, uint64_t print, bool ours);
/* One line, in one piece, also when another process writes. */
bool collection_append(int file, const result *r);

#endif
