/* The values of an export's rows: which JSON a column takes, by the letter of its kind (statements.h), a capital one
 * where it may be null. */
#ifndef HW_STORE_MOVE_VALUE_H
#define HW_STORE_MOVE_VALUE_H

#include <jansson.h>

#include "store/move_table.h"

/* *memory holds what the value points to, if anything; free it after use.
 * Status: HW_EINPUT when the JSON is not of that kind, HW_ENOMEM */
hw_status hw__moved_value(const json_t *json, char kind, hw__value *out, gnutls_datum_t *memory);
/* What is expected of such a column, for a sentence. */
const char *hw__moved_kind_text(char kind);
/* A row as it is before any of its columns is known: nothing, 0 or "". */
void hw__moved_row_empty(const hw__moved_table *table, hw__value *row);

#endif
