/* The incidents in work, and whose turn it is.
 *
 * Workers take incidents in turn from one list, a page of readings each, so that none waits behind one thread's
 * expensive incidents while another thread is idle. Incidents that nobody needs any more are released; they are read
 * from the database again when somebody asks. The caller holds one lock over all of it.
 */
#ifndef HW_INCIDENTS_TURNS_H
#define HW_INCIDENTS_TURNS_H

#include "incidents/engine.h"

typedef struct {
  hw__engine **engines; /* by number, ascending */
  size_t count, capacity;
  size_t next;       /* whose turn it is; equal to count: this round is over */
  bool again;        /* something is left to do after this round */
  uint64_t version;  /* of the news */
  uint64_t attended; /* news this round knows of */
} hw__turns;

hw__engine *hw__turns_find(const hw__turns *turns, int64_t incident);
/* Is there room for one more? */
bool hw__turns_reserve(hw__turns *turns);
/* After hw__turns_reserve; the work is the list's from now on. */
void hw__turns_add(hw__turns *turns, hw__engine *engine);

/* Something new has come: there will be another round. */
void hw__turns_tell(hw__turns *turns);
/* The next incident, for one worker alone until it is given back; NULL when all have had their turn since the last
 * news. */
hw__engine *hw__turns_take(hw__turns *turns);
/* more: the incident has work left. Returned: true when there will be another round. */
bool hw__turns_give_back(hw__turns *turns, hw__engine *engine, bool more);

/* Lets runs of idle incidents go, but for the `kept` looked at last, and then the incidents without one. Idle: nobody
 * holds it, and it is finished or was never to be followed here. */
void hw__turns_let_go(hw__turns *turns, size_t kept);

void hw__turns_free(hw__turns *turns);

#endif
