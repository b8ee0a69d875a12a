/* What the parts of the store share: its fields, the jobs that wait, and what one part asks of another. */
#ifndef HW_STORE_STORE_INSIDE_H
#define HW_STORE_STORE_INSIDE_H

#include <pthread.h>
#include <semaphore.h>

#include "store/store.h"
#include "store/verify.h"

enum { HW_READERS_MOST = 16 };

typedef struct hw__job {
  hw__job_run run;
  void *context;
  hw__db_status status;
  sem_t done;
  struct hw__job *next;
} hw__job;

struct hw__store {
  hw__catalog *catalog;
  char *path;
  hw__db *writer;
  pthread_t thread;
  pthread_mutex_t queue_lock;
  pthread_cond_t queue_filled;
  hw__job *first, **last;
  bool closing;

  pthread_mutex_t news_lock;
  pthread_cond_t news;
  uint64_t version;
  bool stopping;
  int64_t seq;
  bool seq_unsure; /* a commit that failed may have been made all the same: the end of the log must be read again */
  hw__db_status health;
  bool damaged;      /* stays set: nothing is written to a damaged file */
  int64_t synced_us; /* when the kept head was last synced */

  pthread_mutex_t reader_lock;
  pthread_cond_t reader_free;
  hw__db *readers[HW_READERS_MOST];
  size_t reader_count, readers_out;

  pthread_mutex_t clock_lock;
  hw__guarded_clock clock;
};

/* group_commit.c: the one thread that writes. The argument is the store. */
void *hw__store_write_loop(void *argument);
/* A damaged page was found: from now on nothing is written. */
void hw__store_meet_damage(hw__store *store);

/* start_check.c: the names, the last records, and whether the log still has the end that was acknowledged. What is
 * found is logged and counted; what only a start can find is kept in the database too. */
hw__db_status hw__store_look_over(hw__store *store);
/* Log a fault, count it and keep it in the database, so that `headwater verify` reports it later. */
hw__db_status hw__store_keep_fault(hw__store *store, const hw__fault *fault);

#endif
