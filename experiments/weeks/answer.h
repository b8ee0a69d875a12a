/* What the engine says of a week, by the way its users go: the river file, the readings' file, one run. */
#ifndef WEEKS_ANSWER_H
#define WEEKS_ANSWER_H

#include "weeks/week.h"

typedef enum { TRUST_FULL, TRUST_PROVISIONAL, TRUST_NONE } trust;
enum { MASS, PLACE, TIME, UNKNOWNS };

typedef struct {
  trust trust;
  double lo[UNKNOWNS], hi[UNKNOWNS];      /* of the 90 % interval, unless the trust is none */
  double rank[UNKNOWNS];                  /* share of the posterior's draws below the truth */
  bool apart;                             /* the interval's ends are not the draws' 5 % and 95 % quantiles */
  bool named;                             /* a warning names the faulty sensor */
  double accused[SETTING_CANDIDATES + 1]; /* each candidate's probability; last: none of these */
  double longest_s, answer_s, total_s;    /* processor time: the slowest reading, the answer, all */
  double state_bytes;
  double spill; /* probability that there is one; NAN: not judged */
} answer;

/* False with a sentence on stderr when the engine or its files fail. */
bool answer_week(const week *w, answer *out);

void unpack(const hw_source *s, double out[UNKNOWNS]);

#endif
