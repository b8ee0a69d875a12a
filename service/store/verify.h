/* Checks that the log is what was stored: walks the chain (chain.h) and reports records that were changed, are
 * missing or were added. */
#ifndef HW_STORE_VERIFY_H
#define HW_STORE_VERIFY_H

#include "store/driver.h"

#define HW_FAULT_LIST(X)                                                                \
  X(HW_FAULT_CHANGED, "changed")       /* a record is not what was stored */            \
  X(HW_FAULT_MISSING, "missing")       /* records within the log are gone */            \
  X(HW_FAULT_LOST, "lost")             /* the end of the log is gone */                 \
  X(HW_FAULT_ADDED, "added")           /* records that were never chained */            \
  X(HW_FAULT_UNREADABLE, "unreadable") /* the engine cannot read them */                \
  X(HW_FAULT_NAMES, "names")           /* rivers or sensors have other names or keys */ \
  X(HW_FAULT_STRUCTURE, "structure")   /* what the engine says of its own file */       \
  X(HW_FAULT_EARLIER, "earlier")       /* found at an earlier start, and on record */

typedef enum {
#define HW_FAULT_ENUM(name, text) name,
  HW_FAULT_LIST(HW_FAULT_ENUM)
#undef HW_FAULT_ENUM
} hw__fault_kind;

const char *hw__fault_text(hw__fault_kind kind);

typedef struct {
  hw__fault_kind kind;
  int64_t first, last; /* numbers of the records; 0: of no records */
  int64_t records;     /* how many of them */
  char text[400];      /* a sentence: which, when, whose */
} hw__fault;

/* log_fault in the log of the process. */
void hw__log_fault(const hw__fault *fault);

typedef struct {
  void (*tell)(void *context, const hw__fault *fault);
  void *context;
} hw__fault_teller;

/* The records between a mark and the next, as they are at one moment. *mark moves on to that; 0 begins with the
 * first. *records grows by those read; *more is true when there was a block. Damage goes to the teller and is not
 * returned. */
hw__db_status hw__verify_block(hw__db *db, int64_t *mark, const hw__fault_teller *teller, uint64_t *records,
                               bool *more);
hw__db_status hw__verify_last_block(hw__db *db, const hw__fault_teller *teller);
/* What follows the last mark: does the log end where the head that is kept outside says that acknowledged records
 * end? Records that came after both have their own sums alone: those of the last second before a power cut, or of a
 * copy that was made without the head. *records grows by those read. */
hw__db_status hw__verify_end(hw__db *db, const hw__fault_teller *teller, uint64_t *records);
/* Compares rivers and sensors with what was noted about them at the last start (hw__note_names). */
hw__db_status hw__verify_names(hw__db *db, const hw__fault_teller *teller);
hw__db_status hw__note_names(hw__db *db);
/* The first reading of a river decided its kind of time. */
hw__db_status hw__note_base(hw__db *db, int64_t river, hw__time_base base);
/* All of the log, the names and the end. */
hw__db_status hw__verify_log(hw__db *db, const hw__fault_teller *teller);
/* Records before the chain's beginning: commands that outlived their readings, and what an earlier version stored
 * without a sum, which is only counted. */
hw__db_status hw__verify_unchained(hw__db *db, const hw__fault_teller *teller, uint64_t *checked, uint64_t *unchained);
/* The sum of a row of SQL_LINKS, worked out from its columns. */
int64_t hw__link_sum(const hw__value *row);
/* Faults that were found at a start: they are put on record, and reported again until somebody accepts them. */
hw__db_status hw__keep_fault(hw__db *db, const hw__fault *fault, int64_t found_us);
hw__db_status hw__verify_earlier(hw__db *db, const hw__fault_teller *teller);

#endif
