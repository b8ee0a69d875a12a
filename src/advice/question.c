#include "advice/question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRETCHES = 16, FINE_STRETCHES = 96, NEIGHBOURS = 48, WINDOWS = 3 };

double hw__entropy_bits(const double *share, size_t count) {
  double bits = 0;
  for (size_t k = 0; k < count; k++) {
    bits -= share[k] > 0 ? share[k] * log2(share[k]) : 0;
  }
  return bits;
}

static hw_status make_room(const hw__foresight *f, size_t answers, hw__question *q) {
  *q = (hw__question){.answers = answers, .draws = f->count, .joint = calloc(answers * f->count, sizeof(double))};
  return q->joint ? HW_OK : HW_ENOMEM;
}

/* The same where every draw has one answer alone, which set_answer then says. */
static hw_status make_plain_room(const hw__foresight *f, size_t answers, hw__question *q) {
  const hw_status status = make_room(f, answers, q);
  q->answer = calloc(f->count, sizeof *q->answer);
  return status == HW_OK && q->answer ? HW_OK : HW_ENOMEM;
}

static void set_answer(hw__question *q, size_t draw, size_t answer) {
  q->joint[answer * q->draws + draw] = 1 / (double)q->draws;
  q->answer[draw] = (unsigned char)answer;
}

void hw__question_free(hw__question *question) {
  free(question->joint);
  free(question->answer);
  hw__stretches_free(&question->fine);
  *question = (hw__question){0};
}

static void sum_shares(hw__question *q) {
  for (size_t k = 0; k < q->answers; k++) {
    q->share[k] = 0;
    for (size_t j = 0; j < q->draws; j++) {
      q->share[k] += q->joint[k * q->draws + j];
    }
  }
}

/* --- where --- */

static hw_status ask_place(const hw__foresight *f, hw__question *q) {
  hw__stretches coarse;
  hw_status status = hw__stretches_cut(f, STRETCHES, &coarse);
  if (status == HW_OK) {
    status = make_plain_room(f, coarse.count, q);
  }
  for (size_t j = 0; j < f->count && status == HW_OK; j++) {
    set_answer(q, j, coarse.of_draw[j]);
  }
  hw__stretches_free(&coarse);
  return status != HW_OK ? status : hw__stretches_cut(f, FINE_STRETCHES, &q->fine);
}

/* --- who: each suspect with the draws near its outfall --- */

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double gap(const hw__foresight *f, const hw_candidate *c, size_t j) {
  return f->draws[j].source.branch == c->branch ? fabs(f->draws[j].source.location_m - c->location_m)
                                                : (double)INFINITY;
}

/* Wide enough to hold a few dozen draws: what they would read stands for what the candidate's spill would. */
static double reach(const hw__foresight *f, const hw_candidate *c, double *sorted) {
  for (size_t j = 0; j < f->count; j++) {
    sorted[j] = gap(f, c, j);
  }
  qsort(sorted, f->count, sizeof *sorted, ascending);
  const size_t n = f->count < NEIGHBOURS ? f->count - 1 : NEIGHBOURS;
  return fmax(isfinite(sorted[n]) ? sorted[n] : sorted[0], c->extent_m);
}

static hw_status ask_who(const hw__foresight *f, const hw_river *river, const hw_estimate *e, hw__question *q) {
  double *sorted = malloc(f->count * sizeof *sorted);
  const size_t most = e->suspicion_count < HW__ANSWERS_MOST ? e->suspicion_count : HW__ANSWERS_MOST;
  const hw_status status = !sorted ? HW_ENOMEM : most == 0 ? HW_EEMPTY : make_room(f, most, q);
  q->answers = status == HW_OK ? 0 : q->answers;
  double kept = 0;
  for (size_t s = 0; s < most && status == HW_OK; s++) {
    const hw_suspicion *who = &e->suspicions[s];
    const hw_candidate *c = who->candidate >= 0 ? &river->candidates[who->candidate] : NULL;
    double *row = &q->joint[q->answers * f->count], total = 0;
    const double width = c ? reach(f, c, sorted) : 0;
    if (!(who->probability > 0.002) || !isfinite(width)) {
      continue;
    }
    for (size_t j = 0; j < f->count; j++) {
      const double away = c ? gap(f, c, j) / fmax(width, 1) : 0;
      row[j] = away < 1 ? 1 - away * away : 0;
      total += row[j];
    }
    for (size_t j = 0; j < f->count && total > 0; j++) {
      row[j] *= who->probability / total;
    }
    kept += total > 0 ? who->probability : 0;
    q->answers += total > 0;
  }
  for (size_t i = 0; i < q->answers * f->count && kept > 0; i++) {
    q->joint[i] /= kept;
  }
  free(sorted);
  return status != HW_OK ? status : q->answers ? HW_OK : HW_EEMPTY;
}

/* --- the intake: not passed, or passed early, in the middle, late --- */

enum { STEPS = 64 };

/* When the level is first passed there by this draw; INFINITY: never. */
static double passing(const hw__foresight *f, size_t draw, const hw__prospect *at, double level) {
  const hw__pulse_ahead p = hw__foresight_pulse(f, draw, at);
  if (!(p.leg.travel_s > 0)) {
    return INFINITY;
  }
  const double sd = sqrt(p.leg.travel_s / p.leg.sharpness_per_s), start = f->draws[draw].source.time_s;
  for (int i = 0; i < STEPS; i++) {
    const double t = start + p.leg.travel_s + sd * (-4 + 6.0 * i / STEPS) + (i == STEPS - 1 ? p.duration_s : 0);
    if (hw__foresight_read(f, draw, &p, t) > level) {
      return t;
    }
  }
  return INFINITY;
}

static hw_status ask_intake(const hw__foresight *f, const hw_intake *intake, hw__question *q) {
  double *first = malloc(2 * f->count * sizeof *first);
  const hw_status status = first ? make_plain_room(f, WINDOWS + 1, q) : HW_ENOMEM;
  if (status != HW_OK) {
    free(first);
    return status;
  }
  hw__prospect at;
  hw__foresight_look(f, intake->branch, intake->location_m, &at);
  size_t passed = 0;
  double *sorted = first + f->count;
  for (size_t j = 0; j < f->count; j++) {
    first[j] = passing(f, j, &at, intake->alarm_g_m3);
    if (isfinite(first[j])) {
      sorted[passed++] = first[j];
    }
  }
  qsort(sorted, passed, sizeof *sorted, ascending);
  for (size_t j = 0; j < f->count; j++) {
    size_t k = isfinite(first[j]) ? 1 : 0;
    for (size_t w = 1; w < WINDOWS && k; w++) {
      k += first[j] > sorted[passed * w / WINDOWS];
    }
    set_answer(q, j, k);
  }
  free(first);
  return HW_OK;
}

hw_status hw__question_create(const hw__foresight *f, const hw_river *river, const hw_estimate *estimate,
                              hw_question asked, size_t intake, hw__question *out) {
  *out = (hw__question){0};
  const hw_status status = asked == HW_QUESTION_PLACE ? ask_place(f, out)
                           : asked == HW_QUESTION_WHO ? ask_who(f, river, estimate, out)
                                                      : ask_intake(f, &river->intakes[intake], out);
  if (status != HW_OK) {
    hw__question_free(out);
    return status;
  }
  sum_shares(out);
  return HW_OK;
}
