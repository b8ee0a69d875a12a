/* The words that a mapping of columns is written in. */
#ifndef HW_IO_COLUMNS_WORDS_H
#define HW_IO_COLUMNS_WORDS_H

#include "headwater/columns.h"
#include "io/number.h"

typedef struct {
  const char *word; /* NULL ends a list */
  int value;
} hw__word;

extern const hw__word hw__encoding_words[], hw__separator_words[], hw__decimal_words[], hw__time_words[],
    hw__twice_words[];

/* The word for a value, or NULL. */
const char *hw__word_of(const hw__word *words, int value);

/* Is this the column a mapping names? A name that begins with * stands for every name that ends like it. */
bool hw__column_is(hw__slice name, const char *wanted);

/* How many of this unit make 1 g/m3: 1000 for ug/l. 0 for a unit that we do not know. */
double hw__unit_per_g_m3(const char *unit);

#endif
