/* Appends readings to the log, and says why some of them do not fit what the log has already. */
#include "store/store_inside.h"

typedef struct {
  hw__store *store;
  hw__ingest *ingest;
  int64_t received_us;
} append_job;

static hw__db_status run_append(hw__db *db, int64_t *seq, void *context) {
  const append_job *append = context;
  return hw__db_append(db, append->store->catalog, append->ingest->entries, append->ingest->count, append->received_us,
                       seq);
}

/* A river keeps to the kind of time of its first reading; this tells whoever sent the other kind. */
static const char *why_not(const hw__checked_reading *entry) {
  if (entry->fate != HW_FATE_TIME_BASE) {
    return hw__fate_text(entry->fate);
  }
  return entry->calendar
             ? "a date, but this river's first reading was in plain seconds: expected time_s, or the river "
               "begun anew (docs/operations.md, A river in the wrong time)"
             : "plain seconds, but this river's first reading had a date: expected time in ISO 8601, or the "
               "river begun anew (docs/operations.md, A river in the wrong time)";
}

hw__db_status hw__store_ingest(hw__store *store, hw__ingest *ingest) {
  if (ingest->count == 0) {
    return HW_DB_OK;
  }
  append_job append = {store, ingest, hw__store_now_us(store)};
  const hw__db_status status = hw__store_write(store, run_append, &append);
  for (size_t i = 0; i < ingest->count && status == HW_DB_OK; i++) {
    const hw__checked_reading *entry = &ingest->entries[i];
    if (entry->fate == HW_FATE_CONFLICT || entry->fate == HW_FATE_TIME_BASE) {
      hw__ingest_reject(ingest, entry->line, entry->fate, "%s", why_not(entry));
    } else {
      ingest->tally[entry->fate]++;
    }
  }
  return status;
}
