#include "core/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct hw__pool {
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  size_t helpers; /* threads besides the caller */
  size_t started; /* helpers that really run */
  size_t busy;    /* helpers still at the current job */
  unsigned long job;
  bool stop;
  void (*work)(void *context, size_t i);
  void *context;
  size_t count;
  atomic_size_t next;
  pthread_t threads[];
};

static void take_pieces(hw__pool *pool) {
  for (;;) {
    const size_t i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
    if (i >= pool->count) {
      return;
    }
    pool->work(pool->context, i);
  }
}

static void *helper(void *argument) {
  hw__pool *pool = argument;
  unsigned long seen = 0;
  pthread_mutex_lock(&pool->lock);
  for (;;) {
    while (!pool->stop && pool->job == seen) {
      pthread_cond_wait(&pool->wake, &pool->lock);
    }
    if (pool->stop) {
      break;
    }
    seen = pool->job;
    pthread_mutex_unlock(&pool->lock);
    take_pieces(pool);
    pthread_mutex_lock(&pool->lock);
    if (--pool->busy == 0) {
      pthread_cond_signal(&pool->done);
    }
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

size_t hw__pool_cores(void) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (size_t)n : 1;
}

hw_status hw__pool_create(size_t threads, hw__pool **out) {
  *out = NULL;
  const size_t helpers = (threads ? threads : hw__pool_cores()) - 1;
  hw__pool *pool = calloc(1, sizeof *pool + helpers * sizeof pool->threads[0]);
  if (!pool) {
    return HW_ENOMEM;
  }
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pthread_cond_init(&pool->done, NULL);
  pool->helpers = helpers;
  /* A thread that cannot be started costs speed; the answer stays the same. */
  while (pool->started < helpers && pthread_create(&pool->threads[pool->started], NULL, helper, pool) == 0) {
    pool->started++;
  }
  *out = pool;
  return HW_OK;
}

void hw__pool_run(hw__pool *pool, size_t count, void (*work)(void *context, size_t i), void *context) {
  pool->work = work;
  pool->context = context;
  pool->count = count;
  atomic_store(&pool->next, 0);
  const bool shared = pool->started > 0 && count > 1;
  if (shared) {
    pthread_mutex_lock(&pool->lock);
    pool->busy = pool->started;
    pool->job++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
  }
  take_pieces(pool);
  if (shared) {
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0) {
      pthread_cond_wait(&pool->done, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
  }
}

void hw__pool_free(hw__pool *pool) {
  if (!pool) {
    return;
  }
  pthread_mutex_lock(&pool->lock);
  pool->stop = true;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
  for (size_t i = 0; i < pool->started; i++) {
    pthread_join(pool->threads[i], NULL);
  }
  pthread_cond_destroy(&pool->wake);
  pthread_cond_destroy(&pool->done);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}
