#include "posterior/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "posterior/ade.h"
#include "river/clock.h"
#include "river/course.h"
#include "river/flow_doubt.h"
#include "river/when.h"

/* Beyond it squares of times and concentrations would leave the numbers. */
static const double furthest = 1e12;
/* Branches that explain less of the pulses than the best by this much (ln) are not asked. */
static const double hopeless = 60;
/* Of ln asymmetry where waters have come together on the way: what lies between source and sensor skews a pulse by more
 * or less than even water does, and nobody states it. */
static const double course_shape = 0.5;
/* Most branches asked for one answer, and points of a sensor's own view. */
enum { MOST_ASKED = 12 };

/* One branch as a river of its own. */
typedef struct {
  size_t branch;
  hw__course *course;
  hw_river river;
  size_t *sensors; /* of the network, by the course's */
  double length_m; /* that is searched */
  double weight;   /* posterior probability */
  hw__ade *engine; /* while it is in use */
} part;

typedef struct {
  const hw_river *river;
  hw_options options;
  hw__tails tails;
  hw__clock *clock;   /* NULL: the flow is steady */
  hw__series *series; /* by sensor, in the river's clock */
  hw__fit *own;
  hw__view *view;
  bool *dirty, settled;
  bool single; /* two releases are not looked for */
  hw__two two; /* what came of it */
  size_t ways; /* branches, or 1 */
  part *parts; /* one a branch that is searched */
  size_t part_count;
  part *best;        /* keeps its engine; NULL: nothing is seen */
  hw__rivals rivals; /* what the branches asked so far have come to */
  double searched_m, probability;
  hw_sample *samples; /* HW__FINAL, equally weighted when there is a best */
  size_t sample_count;
  hw_sample *told; /* HW__FINAL of one branch, by the wall's clock */
  double *odds;    /* by candidate, against none of these */
  hw_suspicion *suspicions;
  hw_branch_share *shares;
  hw_region regions[HW__MOST_REGIONS];
  size_t region_count;
  hw_arrival *arrivals;
  double *exceeds; /* by intake of the network */
  hw__scratch sorting;
  hw__warnings warnings;
  size_t bytes;
} network;

static void fill(void *state, const hw__series *series);
static const hw__asked network_asked = {hw__network_create, fill, hw__network_estimate, hw__network_predict,
                                        hw__network_destroy};

static void *take(network *n, size_t count, size_t size) {
  n->bytes += count * size;
  return calloc(count ? count : 1, size);
}

static bool allocate(network *n) {
  const hw_river *r = n->river;
  n->series = take(n, r->sensor_count, sizeof *n->series);
  n->own = take(n, r->sensor_count, sizeof *n->own);
  n->view = take(n, r->sensor_count, sizeof *n->view);
  n->dirty = take(n, r->sensor_count, sizeof *n->dirty);
  n->parts = take(n, n->ways, sizeof *n->parts);
  n->samples = take(n, HW__FINAL, sizeof *n->samples);
  n->told = take(n, HW__FINAL, sizeof *n->told);
  n->odds = take(n, r->candidate_count, sizeof *n->odds);
  n->suspicions = take(n, r->candidate_count + 1, sizeof *n->suspicions);
  n->shares = take(n, n->ways, sizeof *n->shares);
  n->arrivals = take(n, r->intake_count, sizeof *n->arrivals);
  n->exceeds = take(n, r->intake_count, sizeof *n->exceeds);
  n->sorting = (hw__scratch){take(n, HW__FINAL, sizeof(double)), take(n, HW__FINAL, sizeof(double)), HW__FINAL};
  return n->series && n->own && n->view && n->dirty && n->parts && n->samples && n->told && n->odds && n->suspicions &&
         n->shares && n->arrivals && n->exceeds && n->sorting.value && n->sorting.weight;
}

/* The search's times in the river's clock, at both ends of the stretch. */
static void warp_search(const network *n, size_t branch, hw_box *box) {
  const double lo_m = box->lo.location_m, hi_m = box->hi.location_m, from_s = box->lo.time_s, to_s = box->hi.time_s;
  box->lo.time_s = fmin(hw__clock_in(n->clock, branch, lo_m, from_s), hw__clock_in(n->clock, branch, hi_m, from_s));
  box->hi.time_s = fmax(hw__clock_in(n->clock, branch, lo_m, to_s), hw__clock_in(n->clock, branch, hi_m, to_s));
}

static hw_status add_part(network *n, size_t branch) {
  const bool branched = n->river->branch_count > 0;
  const double lo_m = branched ? n->river->branches[branch].search_lo_m : n->river->search.lo.location_m;
  const double hi_m = branched ? n->river->branches[branch].search_hi_m : n->river->search.hi.location_m;
  if (branched && !(hi_m > lo_m)) {
    return HW_OK; /* not looked at */
  }
  part *p = &n->parts[n->part_count];
  hw_river_init(&p->river);
  p->branch = branch;
  p->length_m = fmax(hi_m - lo_m, 1e-3);
  p->sensors = take(n, n->river->sensor_count, sizeof *p->sensors);
  n->part_count++;
  hw_status status = p->sensors ? hw__course_create(n->river, branch, &p->course) : HW_ENOMEM;
  if (status == HW_OK) {
    status = hw__course_river(p->course, n->river, lo_m, hi_m, &p->river, p->sensors);
  }
  if (status == HW_OK) {
    warp_search(n, branch, &p->river.search);
  }
  n->searched_m += p->length_m;
  return status;
}

hw_status hw__network_create(const hw_problem *problem, const hw_options *options, void **state) {
  *state = NULL;
  network *n = calloc(1, sizeof *n);
  if (!n) {
    return HW_ENOMEM;
  }
  n->bytes = sizeof *n;
  n->river = problem->river;
  n->options = *options;
  n->ways = n->river->branch_count > 0 ? n->river->branch_count : 1;
  hw_status status = allocate(n) ? hw__clock_create(n->river, &n->clock) : HW_ENOMEM;
  for (size_t b = 0; status == HW_OK && b < n->ways; b++) {
    status = add_part(n, b);
  }
  if (status != HW_OK) {
    hw__network_destroy(n);
    return status;
  }
  hw__tails_build(&n->tails);
  *state = n;
  return HW_OK;
}

void hw__network_destroy(void *state) {
  network *n = state;
  if (!n) {
    return;
  }
  hw__two_free(&n->two, &network_asked);
  for (size_t k = 0; k < n->part_count; k++) {
    hw__ade_destroy(n->parts[k].engine);
    hw__course_free(n->parts[k].course);
    hw_river_free(&n->parts[k].river);
    free(n->parts[k].sensors);
  }
  hw__clock_free(n->clock);
  free(n->series);
  free(n->own);
  free(n->view);
  free(n->dirty);
  free(n->parts);
  free(n->samples);
  free(n->told);
  free(n->odds);
  free(n->suspicions);
  free(n->shares);
  free(n->arrivals);
  free(n->exceeds);
  free(n->sorting.value);
  free(n->sorting.weight);
  free(n);
}

hw_status hw__network_observe(void *state, const hw_reading *reading) {
  network *n = state;
  if (!(fabs(reading->time_s) <= furthest) || !(fabs(reading->concentration_g_m3) <= furthest)) {
    return HW_EDOMAIN;
  }
  const hw_sensor *s = &n->river->sensors[reading->sensor];
  hw_reading steady = *reading;
  steady.time_s = hw__clock_in(n->clock, s->branch, s->location_m, reading->time_s);
  steady.concentration_g_m3 *= hw__clock_dilution(n->clock, s->branch, s->location_m, reading->time_s);
  hw__series_insert(&n->series[reading->sensor], &steady);
  n->dirty[reading->sensor] = true;
  n->settled = false;
  return HW_OK;
}

/* ---- Which branches can it be? ---- */

/* What the pulses of the sensors on this course are worth, ln. */
static double promise(const network *n, const part *p) {
  double sum = 0;
  for (size_t i = 0; i < p->river.sensor_count; i++) {
    const size_t s = p->sensors[i];
    if (n->series[s].count > 0 && n->own[s].seen) {
      sum += fmin(n->own[s].log_likelihood - n->own[s].log_without, hopeless);
    }
  }
  return sum;
}

static double wall_s(const network *n, size_t branch, double x_m, double tau_s) {
  return isfinite(tau_s) ? hw__clock_out(n->clock, branch, x_m, tau_s) : tau_s;
}

/* What the prior says of a release by the wall's clock, over what the engine took it to be by the river's own. */
static double prior_ratio(const network *n, const part *p, const hw_source *s, double tau_s) {
  const hw_box *wall = &n->river->search, *own = &p->river.search;
  if (s->time_s < wall->lo.time_s || s->time_s > wall->hi.time_s) {
    return 0;
  }
  const double stretched = hw__clock_dilution(n->clock, s->branch, s->location_m, s->time_s) /
                           hw__clock_ratio(n->clock, s->branch, s->location_m, s->time_s); /* dt / dtau */
  const double longer = (own->hi.time_s - own->lo.time_s) / fmax(wall->hi.time_s - wall->lo.time_s, 1);
  return (longer > 0 ? longer * stretched : 1) *
         exp(hw__when_log_density(n->river, s->time_s) - hw__when_log_density(&p->river, tau_s));
}

/* The samples of a part as the network tells them: in its own places, by the wall's clock. The time interval is that of
 * these samples: a time of the river's own is another moment at every place. Returned: ln of what that does to the
 * evidence. */
static double tell(network *n, const part *p) {
  const hw__ade *a = p->engine;
  double sum = 0;
  for (size_t i = 0; i < HW__FINAL; i++) {
    hw_sample *s = &n->told[i];
    *s = a->samples[i];
    s->source.branch = hw__course_branch(p->course, s->source.location_m, &s->source.location_m);
    if (n->clock && s->weight > 0) {
      const double begin_tau = s->source.time_s, end_tau = begin_tau + s->duration_s;
      s->source.time_s = wall_s(n, s->source.branch, s->source.location_m, begin_tau);
      if (s->duration_s > 0) {
        s->duration_s = wall_s(n, s->source.branch, s->source.location_m, end_tau) - s->source.time_s;
      }
      s->weight *= prior_ratio(n, p, &s->source, begin_tau);
    }
    sum += s->weight;
  }
  for (size_t i = 0; i < HW__FINAL && n->clock; i++) { /* all outside: they stay as they are, and are worth nothing */
    n->told[i].weight = sum > 0 ? n->told[i].weight / sum : a->samples[i].weight;
  }
  return n->clock ? log(sum) : 0;
}

/* ---- What the flow leaves in doubt ---- */

static double log_flow(const network *n, size_t sensor, double tau_s) {
  const hw_sensor *s = &n->river->sensors[sensor];
  return log(hw__clock_ratio(n->clock, s->branch, s->location_m, wall_s(n, s->branch, s->location_m, tau_s)));
}

/* How far a sensor's pulse may be off in height: a reading is put into the steady river by what a gauge showed, which
 * is not exact, and by the exponent. */
static double gain_doubt(const network *n, size_t sensor) {
  const double m = hw__velocity_exponent(n->river), sd = hw__velocity_exponent_sd(n->river);
  const double pulse = n->own[sensor].seen ? sd * log_flow(n, sensor, n->own[sensor].curve.passage_s) : 0;
  return hypot(HW__GAUGE_DOUBT * (1 - m), pulse);
}

/* What the exponent's doubt does to velocities: with the flow at e^L of its reference an error dm makes the water
 * faster by dm L. What L was on the mean while the pulse was on its way is common to all stretches, how it changed is
 * each one's own. */
static hw__spread exponent_doubt(const network *n, const part *p) {
  enum { MOMENTS = 16 };
  const double sd = hw__velocity_exponent_sd(n->river);
  double sum = 0, squares = 0, count = 0, from_s = INFINITY, to_s = -INFINITY;
  for (size_t i = 0; i < p->river.sensor_count; i++) {
    const hw__fit *own = &n->own[p->sensors[i]];
    if (n->series[p->sensors[i]].count > 0 && own->seen) {
      from_s = fmin(from_s, own->curve.passage_s - own->curve.travel_s);
      to_s = fmax(to_s, own->curve.passage_s);
    }
  }
  for (size_t i = 0; i < p->river.sensor_count && to_s > from_s; i++) {
    for (size_t k = 0; k < MOMENTS && n->own[p->sensors[i]].seen; k++) {
      const double share = ((double)k + 0.5) / MOMENTS;
      const double flow = log_flow(n, p->sensors[i], from_s + share * (to_s - from_s));
      sum += flow;
      squares += flow * flow;
      count++;
    }
  }
  const double mean = count > 0 ? sum / count : 0, spread = count > 0 ? squares / count - mean * mean : 0;
  return (hw__spread){sd * fabs(mean), sd * sqrt(fmax(spread, 0))};
}

/* The course as the engine is to take it. */
static void doubt_flow(const network *n, part *p) {
  for (size_t i = 0; i < p->river.sensor_count && n->clock; i++) {
    const double stated = log(n->river->sensors[p->sensors[i]].gain_factor);
    p->river.sensors[i].gain_factor = exp(hypot(stated, gain_doubt(n, p->sensors[i])));
  }
}

static void doubt_course(const network *n, const part *p, hw__doubt *doubt) {
  static const double least = 1e-3; /* below it a coordinate more is not worth its while */
  const hw__spread more = n->clock ? exponent_doubt(n, p) : (hw__spread){0, 0};
  doubt->common_v = more.common > least ? hypot(doubt->common_v, more.common) : doubt->common_v;
  doubt->local_v = more.local > least ? hypot(doubt->local_v, more.local) : doubt->local_v;
  doubt->shape = n->river->branch_count > 1 && doubt->shape > 0 ? course_shape : doubt->shape;
}

/* ---- One branch against the others ---- */

static double log_share(const network *n, const part *p) {
  return log(p->length_m / n->searched_m);
}

/* What other branches have come to, as this course has it. A release that lasted has to come near either kind. */
static void meet_rivals(const network *n, part *p) {
  hw__rivals *r = &p->engine->rivals;
  r->explained = n->rivals.explained;
  r->log_odds[0] = n->rivals.log_odds[0] - log_share(n, p);
  r->log_odds[1] = fmax(n->rivals.log_odds[0], n->rivals.log_odds[1]) - log_share(n, p);
}

static void join_rivals(network *n, const part *p) {
  const hw__ade *a = p->engine;
  const hw__pulse_count count = hw__ade_count(a);
  for (size_t k = 0; k < 2; k++) {
    n->rivals.log_odds[k] = fmax(n->rivals.log_odds[k], a->reached[k] + log_share(n, p));
  }
  n->rivals.explained = n->rivals.explained || (a->found.found && count.seen > 0 && count.wrong == 0);
}

/* The course's engine with everything that is filed, answered. Status: HW_ENOMEM, HW_EHYDRAULICS */
static hw_status ask(network *n, part *p) {
  const hw_problem problem = {.river = &p->river};
  void *engine = NULL;
  doubt_flow(n, p);
  const hw_status status = hw__ade_create(&problem, &n->options, &engine);
  if (status != HW_OK) {
    return status;
  }
  hw__ade *a = p->engine = engine;
  doubt_course(n, p, &a->spill.doubt);
  for (size_t i = 0; i < p->river.sensor_count; i++) {
    const size_t s = p->sensors[i];
    a->series[i] = n->series[s];
    a->own[i] = n->own[s];
    a->view[i] = n->view[s];
  }
  a->single = true;
  a->spill.from_pulse = n->ways > 1 || n->clock;
  meet_rivals(n, p);
  const hw_status settled = hw__ade_settle(a);
  if (settled != HW_OK) {
    return settled;
  }
  join_rivals(n, p);
  p->weight = a->found.found ? a->log_odds + log_share(n, p) + tell(n, p) : -INFINITY;
  return HW_OK;
}

/* Adds to the candidates what this branch explains of them, its weight the branch's probability if all of the channel
 * is as likely. */
static void add_odds(network *n, part *p) {
  hw__ade *a = p->engine;
  if (!a || !a->found.found || p->river.candidate_count == 0) { /* no engine: the branch was not asked */
    return;
  }
  hw_river river = p->river; /* when somebody was active is told by the wall's clock */
  river.search.lo.time_s = n->river->search.lo.time_s;
  river.search.hi.time_s = n->river->search.hi.time_s;
  river.none_prior = 0.5; /* so that a probability over that of none is the odds */
  const size_t rows = hw__summary_suspicions(&river, n->told, HW__FINAL, NULL, NULL, &a->sorting, a->suspicions);
  double none = 0, here = 0, all = 0;
  for (size_t k = 0; k < rows; k++) {
    none = a->suspicions[k].candidate < 0 ? a->suspicions[k].probability : none;
  }
  for (size_t k = 0; k < p->river.candidate_count; k++) {
    here += hw__candidate_weight(&p->river.candidates[k]);
  }
  for (size_t k = 0; k < n->river->candidate_count; k++) {
    all += hw__candidate_weight(&n->river->candidates[k]);
  }
  /* Odds against none of these, as if only this course's candidates were there and only its channel searched. */
  const double scale = (1 - n->river->none_prior) * p->weight * n->searched_m / p->length_m * here / all;
  for (size_t k = 0; k < rows && none > 0; k++) {
    const ptrdiff_t c = a->suspicions[k].candidate;
    for (size_t i = 0; c >= 0 && i < n->river->candidate_count; i++) {
      if (strcmp(n->river->candidates[i].id, p->river.candidates[c].id) == 0) {
        n->odds[i] += scale * a->suspicions[k].probability / none;
      }
    }
  }
}

/* Of all candidates and none of them. */
static double all_odds(const network *n) {
  double total = n->river->none_prior;
  for (size_t k = 0; k < n->river->candidate_count; k++) {
    total += n->odds[k];
  }
  return total;
}

/* A branch is as probable as the candidates on it, and where it was none of them as what it explains. */
static void weigh_by_candidates(network *n) {
  const double total = all_odds(n);
  for (size_t k = 0; k < n->part_count && n->river->candidate_count > 0 && total > 0; k++) {
    part *p = &n->parts[k];
    double sum = n->river->none_prior * p->weight;
    for (size_t i = 0; i < n->river->candidate_count; i++) {
      sum += n->river->candidates[i].branch == p->branch ? n->odds[i] : 0;
    }
    p->weight = sum / total;
  }
}

static void add_exceeds(network *n, part *p) {
  hw__ade *a = p->engine;
  const size_t count = a->found.found ? hw__ade_forecast(a) : 0;
  for (size_t k = 0; k < count; k++) {
    for (size_t i = 0; i < n->river->intake_count; i++) {
      if (strcmp(n->river->intakes[i].id, p->river.intakes[a->arrivals[k].intake].id) == 0) {
        n->exceeds[i] += isfinite(a->arrivals[k].exceeds_alarm) && a->probability > 0
                             ? p->weight * a->arrivals[k].exceeds_alarm / a->probability
                             : 0;
      }
    }
  }
}

static hw_range wall_range(const network *n, const hw_intake *k, hw_range tau) {
  return (hw_range){wall_s(n, k->branch, k->location_m, tau.lo), wall_s(n, k->branch, k->location_m, tau.mid),
                    wall_s(n, k->branch, k->location_m, tau.hi)};
}

/* The part's share of the samples. */
static void add_samples(network *n, const part *p) {
  const size_t share = (size_t)(p->weight * HW__FINAL + 0.5);
  double running = 0;
  size_t given = 0;
  for (size_t i = 0; i < HW__FINAL && given < share && n->sample_count < HW__FINAL; i++) {
    running += n->told[i].weight;
    while (given < share && n->sample_count < HW__FINAL && ((double)given + 0.5) / (double)share < running) {
      hw_sample *s = &n->samples[n->sample_count++];
      *s = n->told[i];
      s->weight = 1;
      given++;
    }
  }
}

static int by_weight(const void *a, const void *b) {
  const hw_branch_share *x = a, *y = b;
  return (x->probability < y->probability) - (x->probability > y->probability);
}

/* From the parts' evidence to what is said of them together. */
static void combine(network *n) {
  double most = -INFINITY, total = 0;
  for (size_t k = 0; k < n->part_count; k++) {
    most = n->parts[k].engine ? fmax(most, n->parts[k].weight) : most;
  }
  for (size_t k = 0; k < n->part_count; k++) {
    part *p = &n->parts[k];
    p->weight = p->engine && isfinite(most) ? exp(p->weight - most) : 0;
    total += p->weight;
  }
  n->probability = isfinite(most) ? hw__spill_probability(most + log(total)) : 0;
  for (size_t k = 0; k < n->part_count; k++) {
    part *p = &n->parts[k];
    p->weight = total > 0 ? p->weight / total : 0;
    if (p->weight > 0) {
      tell(n, p);
      add_odds(n, p);
    }
  }
  weigh_by_candidates(n);
  for (size_t k = 0; k < n->part_count; k++) {
    part *p = &n->parts[k];
    n->shares[k] = (hw_branch_share){p->branch, p->weight};
    n->best = p->engine && (!n->best || p->weight > n->best->weight) ? p : n->best;
    if (p->engine && p->weight > 0) {
      tell(n, p);
      add_exceeds(n, p);
      add_samples(n, p);
    }
  }
  qsort(n->shares, n->part_count, sizeof *n->shares, by_weight);
  for (size_t k = 0; k < n->part_count; k++) {
    part *p = &n->parts[k];
    if (p != n->best) {
      hw__ade_destroy(p->engine);
      p->engine = NULL;
    }
  }
}

static void fill(void *state, const hw__series *series) {
  network *n = state;
  n->single = true;
  n->settled = false;
  for (size_t s = 0; s < n->river->sensor_count; s++) {
    n->series[s] = series[s];
    n->dirty[s] = true;
  }
}

static hw_status settle(network *n) {
  if (n->settled) {
    return HW_OK;
  }
  for (size_t s = 0; s < n->river->sensor_count; s++) {
    if (n->dirty[s] && n->series[s].count > 0) {
      hw__pulse_fit(&n->series[s], &n->river->sensors[s], &n->tails, &n->own[s], &n->view[s]);
      n->dirty[s] = false;
    }
  }
  for (size_t k = 0; k < n->part_count; k++) {
    hw__ade_destroy(n->parts[k].engine);
    n->parts[k].engine = NULL;
  }
  n->best = NULL;
  n->sample_count = 0;
  if (!n->single) {
    const hw_problem problem = {.river = n->river};
    const hw_status status = hw__two_ask(&n->two, &network_asked, &problem, &n->options, n->series, n->own, &n->tails);
    if (status != HW_OK || n->two.found) {
      n->settled = status == HW_OK;
      return status;
    }
  }
  memset(n->odds, 0, n->river->candidate_count * sizeof *n->odds);
  memset(n->exceeds, 0, n->river->intake_count * sizeof *n->exceeds);
  double best = 0;
  n->rivals = (hw__rivals){.log_odds = {-INFINITY, -INFINITY}};
  for (size_t k = 0; k < n->part_count; k++) {
    best = fmax(best, promise(n, &n->parts[k]));
  }
  hw_status status = HW_OK;
  size_t asked = 0;
  for (size_t k = 0; k < n->part_count && best > 0 && status == HW_OK && asked < MOST_ASKED; k++) {
    if (promise(n, &n->parts[k]) > best - hopeless) {
      status = ask(n, &n->parts[k]);
      asked++;
    }
  }
  if (status == HW_OK) {
    combine(n);
    n->settled = true;
  }
  return status;
}

/* ---- The answer ---- */

static bool is_larger(const hw_suspicion *a, const hw_suspicion *b) {
  return a->probability > b->probability;
}

static size_t suspect(network *n) {
  const size_t count = n->river->candidate_count;
  const double total = all_odds(n);
  for (size_t k = 0; k <= count && count > 0; k++) {
    const double odds = k < count ? n->odds[k] : n->river->none_prior;
    const hw_suspicion row = {k < count ? (ptrdiff_t)k : -1, total > 0 ? odds / total : 0};
    size_t at = k;
    for (; at > 0 && is_larger(&row, &n->suspicions[at - 1]); at--) {
      n->suspicions[at] = n->suspicions[at - 1];
    }
    n->suspicions[at] = row;
  }
  return count > 0 ? count + 1 : 0;
}

/* The times of the likeliest branch, the probabilities of all. */
static size_t foresee(network *n) {
  hw__ade *a = n->best->engine;
  const size_t count = hw__ade_forecast(a);
  size_t kept = 0;
  for (size_t k = 0; k < count; k++) {
    hw_arrival arrival = a->arrivals[k];
    for (size_t i = 0; i < n->river->intake_count; i++) {
      if (strcmp(n->river->intakes[i].id, n->best->river.intakes[a->arrivals[k].intake].id) == 0) {
        const hw_intake *at = &n->river->intakes[i];
        arrival.intake = i;
        arrival.first_s = wall_range(n, at, arrival.first_s);
        arrival.peak_s = wall_range(n, at, arrival.peak_s);
        arrival.last_s = wall_range(n, at, arrival.last_s);
        const double dilution = isfinite(arrival.peak_s.mid)
                                    ? hw__clock_dilution(n->clock, at->branch, at->location_m, arrival.peak_s.mid)
                                    : 1;
        arrival.peak_g_m3 = (hw_range){arrival.peak_g_m3.lo / dilution, arrival.peak_g_m3.mid / dilution,
                                       arrival.peak_g_m3.hi / dilution};
        arrival.exceeds_alarm = isnan(arrival.exceeds_alarm) ? arrival.exceeds_alarm : n->exceeds[i] * n->probability;
        n->arrivals[kept++] = arrival;
      }
    }
  }
  return kept;
}

/* The densest stretches of all branches together: each branch by itself, its regions weighed by its probability, until
 * the level is held. */
static size_t regions_of(network *n, double level) {
  size_t count = 0;
  double held = 0;
  for (size_t k = 0; k < n->part_count && held < level && count < HW__MOST_REGIONS; k++) {
    const hw_branch_share *share = &n->shares[k];
    size_t here = 0;
    static const double least = 1e-3;
    if (share->probability < least) {
      break;
    }
    hw_sample *own = n->samples; /* samples stand branch by branch */
    for (size_t i = 0; i < n->sample_count; i++) {
      if (n->samples[i].source.branch == share->branch) {
        own = here == 0 ? &n->samples[i] : own;
        here++;
      }
    }
    if (here == 0) {
      continue;
    }
    hw_box box = n->river->search;
    if (n->river->branch_count > 0) {
      box.lo.location_m = n->river->branches[share->branch].search_lo_m;
      box.hi.location_m = n->river->branches[share->branch].search_hi_m;
    }
    const double wanted = fmin((level - held) / share->probability, level);
    hw_region found[HW__MOST_REGIONS];
    const size_t stretches = hw__summary_regions(&box, own, here, wanted, &n->sorting, found);
    for (size_t i = 0; i < stretches && count < HW__MOST_REGIONS; i++) {
      found[i].branch = share->branch;
      found[i].probability *= share->probability;
      held += found[i].probability;
      n->regions[count++] = found[i];
    }
  }
  return count;
}

static void warn_nothing_seen(network *n) {
  hw__warnings_clear(&n->warnings);
  for (size_t s = 0; s < n->river->sensor_count; s++) {
    if (n->series[s].count > 0) {
      hw__warn_never_rose(&n->warnings, &n->river->sensors[s]);
    }
  }
}

hw_status hw__network_estimate(void *state, hw_estimate *out) {
  network *n = state;
  const hw_status status = settle(n);
  if (status != HW_OK) {
    return status;
  }
  if (n->two.found) {
    hw__two_estimate(&n->two, out);
    return HW_OK;
  }
  hw_estimate e;
  if (!n->best) {
    hw_estimate_init(&e);
    e.level = n->options.level;
    e.stop = HW_STOP_COMPLETE;
    e.loss = NAN;
    e.spill = n->probability;
    e.trust = HW_TRUST_FULL;
    e.trust_reason = "no sensor shows a pulse above its noise";
    e.has_source = false;
    warn_nothing_seen(n);
    e.warnings = n->warnings.pointers;
    e.warning_count = n->warnings.count;
    e.cost.state_bytes = n->bytes;
    *out = e;
    return HW_OK;
  }
  const hw_status answered = hw__ade_estimate(n->best->engine, &e);
  if (answered != HW_OK) {
    return answered;
  }
  e.spill = n->probability;
  e.cost.state_bytes = n->bytes + n->best->engine->bytes;
  if (e.has_source) {
    const double lasted = e.duration_s.mid;
    tell(n, n->best);
    hw__summary_source(n->told, HW__FINAL, e.level, &n->sorting, &e.source, &e.interval);
    e.source.branch = n->best->branch;
    e.duration_s = hw__summary_range(n->told, HW__FINAL, hw__sample_duration, e.level, &n->sorting);
    e.rate_g_s *= lasted > 0 && e.duration_s.mid > 0 ? lasted / e.duration_s.mid : 1;
    e.suspicion_count = suspect(n);
    e.suspicions = n->suspicions;
    e.arrival_count = foresee(n);
    e.arrivals = n->arrivals;
    e.region_count = regions_of(n, e.level);
    e.regions = n->regions;
    e.branches = n->shares;
    e.branch_count = n->part_count;
  }
  *out = e;
  return HW_OK;
}

hw_status hw__network_samples(void *state, hw_sample *out, size_t capacity, size_t *count) {
  network *n = state;
  const hw_status status = settle(n);
  *count = 0;
  if (status == HW_OK && n->two.found) { /* the larger one's */
    return hw__network_samples(n->two.state[hw__two_larger(&n->two)], out, capacity, count);
  }
  for (size_t i = 0; status == HW_OK && i < n->sample_count && *count < capacity; i++) {
    /* Evenly, so that fewer keep the branches' shares. */
    if (capacity >= n->sample_count || i * capacity / n->sample_count != (i + 1) * capacity / n->sample_count) {
      out[(*count)++] = n->samples[i];
    }
  }
  for (size_t i = 0; i < *count; i++) {
    out[i].weight = 1 / (double)*count;
  }
  return status;
}

/* One time at a time: each has its own place in the river's clock, and its own dilution. */
hw_status hw__network_predict(void *state, const hw_prediction *prediction) {
  network *n = state;
  hw_status status = isfinite(prediction->x_m) ? settle(n) : HW_EDOMAIN;
  if (status == HW_OK && n->two.found) {
    return hw__two_predict(&n->two, &network_asked, prediction);
  }
  double x_m = prediction->x_m;
  const bool passes =
      status == HW_OK && n->best && hw__course_place(n->best->course, prediction->branch, prediction->x_m, &x_m);
  for (size_t i = 0; status == HW_OK && i < prediction->count; i++) {
    const double wall = prediction->time_s[i];
    hw_range *out = &prediction->out_g_m3[i];
    *out = (hw_range){0, 0, 0};
    if (!isfinite(wall)) {
      status = HW_EDOMAIN;
    } else if (passes) {
      const double tau = hw__clock_in(n->clock, prediction->branch, prediction->x_m, wall);
      const double dilution = hw__clock_dilution(n->clock, prediction->branch, prediction->x_m, wall);
      const hw_prediction on_course = {.x_m = x_m, .time_s = &tau, .count = 1, .out_g_m3 = out};
      status = hw__ade_predict(n->best->engine, &on_course);
      *out = (hw_range){out->lo / dilution, out->mid / dilution, out->hi / dilution};
    }
  }
  return status;
}
