/* Which branches can it have been? Each is asked by itself; where one explains what another cannot, the other is given
 * up early. Whether the release lasted is asked last, of those branches alone that an instant leaves in question. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "posterior/network_inside.h"

/* Branches that cannot come nearer to the best than this (ln) are not asked. */
static const double hopeless = 9;
/* Most branches asked for one answer. */
enum { MOST_ASKED = 12 };

double hw__part_log_share(const hw__network *n, const hw__part *p) {
  return log(p->length_m / n->searched_m);
}

/* What other branches have come to, as this course has it. A release that lasted has to come near either kind. */
static void meet_rivals(const hw__network *n, hw__part *p) {
  hw__rivals *r = &p->engine->rivals;
  r->explained = n->rivals.explained;
  r->log_odds[0] = n->rivals.log_odds[0] - hw__part_log_share(n, p);
  r->log_odds[1] = fmax(n->rivals.log_odds[0], n->rivals.log_odds[1]) - hw__part_log_share(n, p);
}

static void join_rivals(hw__network *n, const hw__part *p) {
  const hw__ade *a = p->engine;
  const hw__pulse_count count = hw__ade_count(a);
  for (size_t k = 0; k < 2; k++) {
    n->rivals.log_odds[k] = fmax(n->rivals.log_odds[k], a->reached[k] + hw__part_log_share(n, p));
  }
  n->rivals.explained = n->rivals.explained || (a->found.found && count.seen > 0 && count.wrong == 0);
}

/* The course's engine with everything that is filed. Status: HW_ENOMEM, HW_EHYDRAULICS */
static hw_status prepare(const hw__network *n, hw__part *p, size_t threads) {
  const hw_problem problem = {.river = &p->river};
  hw_options options = n->options;
  void *engine = NULL;
  options.threads = threads;
  hw__network_doubt_sensors(n, p);
  hw_status status = hw__network_spread(n, p);
  if (status == HW_OK) {
    status = hw__ade_create(&problem, &options, &engine);
  }
  if (status != HW_OK) {
    return status;
  }
  hw__ade *a = p->engine = engine;
  p->samples = calloc(HW__FINAL, sizeof *p->samples);
  if (!p->samples) {
    return HW_ENOMEM;
  }
  hw__network_doubt_water(n, p, &a->spill.doubt);
  for (size_t i = 0; i < p->river.sensor_count; i++) {
    const size_t s = p->sensors[i];
    a->series[i] = n->series[s];
    a->own[i] = n->own[s];
    a->view[i] = n->view[s];
  }
  a->single = a->defers = true;
  a->two.unanswered = n->two.unanswered;
  a->spill.from_pulse = n->ways > 1 || n->clock;
  meet_rivals(n, p);
  return HW_OK;
}

/* Branches that are asked side by side: what one comes to is a rival for those of later batches alone, so that the
 * answer does not depend on who is ready first. */
typedef struct {
  const hw__network *network;
  hw__part *part[HW__CREW];
  hw_status status[HW__CREW];
  size_t count;
} batch;

static void ask(void *context, size_t i) {
  batch *b = context;
  const hw__network *n = b->network;
  hw__part *p = b->part[i];
  if (p->engine->deferred) {
    hw__ade_settle_duration(p->engine);
  } else {
    b->status[i] = hw__ade_settle(p->engine);
  }
  if (b->status[i] == HW_OK) {
    p->weight =
        p->engine->found.found ? p->engine->log_odds + hw__part_log_share(n, p) + hw__network_tell(n, p) : -INFINITY;
  }
}

static hw_status ask_batch(hw__network *n, batch *b) {
  hw__crew crew = {0};
  hw_status status = HW_OK;
  if (b->count > 1) { /* one alone has a crew of its own */
    hw__crew_begin(&crew, n->options.threads);
  }
  hw__crew_share(&crew, b->count, ask, b);
  hw__crew_end(&crew);
  for (size_t i = 0; i < b->count && status == HW_OK; i++) {
    status = b->status[i];
    if (status == HW_OK) {
      join_rivals(n, b->part[i]);
    }
  }
  return status;
}

/* The branch not asked yet that promises most; NULL: none can come near. */
static hw__part *next_part(hw__network *n, double reached) {
  hw__part *next = NULL;
  for (size_t k = 0; k < n->part_count; k++) {
    hw__part *p = &n->parts[k];
    const double most = p->promise + hw__part_log_share(n, p);
    if (!p->engine && p->promise > 0 && most > reached - hopeless &&
        (!next || most > next->promise + hw__part_log_share(n, next))) {
      next = p;
    }
  }
  return next;
}

/* The next ones that may come near, `most` of them. Status: HW_ENOMEM, HW_EHYDRAULICS */
static hw_status gather(hw__network *n, size_t most, batch *b) {
  const double reached = fmax(n->rivals.log_odds[0], n->rivals.log_odds[1]);
  hw__part *p;
  *b = (batch){.network = n};
  while (b->count < most && (p = next_part(n, reached)) != NULL) {
    const hw_status status = prepare(n, p, most > 1 ? 1 : n->options.threads);
    if (status != HW_OK) {
      return status;
    }
    b->part[b->count++] = p;
  }
  return HW_OK;
}

/* Whether the release on this branch lasted is still open, and worth to be known. */
static bool is_open(const hw__network *n, const hw__part *p) {
  const double reached = fmax(n->rivals.log_odds[0], n->rivals.log_odds[1]);
  return p->engine && p->engine->deferred && p->weight > reached - hopeless;
}

/* Status: HW_ENOMEM */
static hw_status ask_durations(hw__network *n) {
  hw_status status = HW_OK;
  batch b = {.network = n};
  for (size_t k = 0; k < n->part_count && status == HW_OK; k++) {
    if (is_open(n, &n->parts[k])) {
      b.part[b.count++] = &n->parts[k];
    }
    if (b.count == HW__CREW || (k + 1 == n->part_count && b.count > 0)) {
      status = ask_batch(n, &b);
      b.count = 0;
    }
  }
  return status;
}

hw_status hw__network_ask(hw__network *n) {
  memset(n->odds, 0, n->river->candidate_count * sizeof *n->odds);
  memset(n->exceeds, 0, n->river->intake_count * sizeof *n->exceeds);
  n->rivals = (hw__rivals){.log_odds = {-INFINITY, -INFINITY}};
  for (size_t k = 0; k < n->part_count; k++) {
    n->parts[k].promise = hw__part_promise(n, &n->parts[k]);
  }
  hw_status status;
  batch b;
  size_t left = MOST_ASKED,
         most = 1; /* the most promising one by itself: mostly the others are given up because of it */
  do {
    status = gather(n, most < left ? most : left, &b);
    if (status == HW_OK) {
      status = ask_batch(n, &b);
    }
    left -= b.count;
    most = HW__CREW;
  } while (status == HW_OK && b.count > 0);
  if (status == HW_OK) {
    status = ask_durations(n);
  }
  if (status == HW_OK) {
    hw__network_combine(n);
  }
  return status;
}
