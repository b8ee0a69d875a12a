#include "advice/stretches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  size_t branch, draw;
  double x_m;
} spot;

static int down_the_river(const void *a, const void *b) {
  const spot *x = a, *y = b;
  return x->branch != y->branch ? (x->branch > y->branch) - (x->branch < y->branch)
                                : (x->x_m > y->x_m) - (x->x_m < y->x_m);
}

/* The draws of one branch, spots[first .. end), into as many stretches as its probability asks for. */
static void cut_branch(hw__stretches *s, const spot *spots, size_t first, size_t end, double share) {
  const size_t n = end - first, left = HW__STRETCHES_MOST - s->count;
  size_t parts = (size_t)(share + 0.5);
  parts = parts < 1 ? 1 : parts > left ? left : parts;
  for (size_t p = 0; p < parts; p++) {
    const size_t a = first + n * p / parts, b = first + n * (p + 1) / parts, k = s->count++;
    s->branch[k] = spots[first].branch;
    s->from_m[k] = spots[a < end ? a : end - 1].x_m;
    s->to_m[k] = spots[b < end ? b : end - 1].x_m;
    for (size_t i = a; i < b; i++) {
      s->of_draw[spots[i].draw] = k;
    }
  }
}

hw_status hw__stretches_cut(const hw__foresight *f, size_t parts, hw__stretches *out) {
  *out = (hw__stretches){.of_draw = calloc(f->count, sizeof *out->of_draw)};
  spot *spots = malloc(f->count * sizeof *spots);
  if (!spots || !out->of_draw) {
    free(spots);
    hw__stretches_free(out);
    return HW_ENOMEM;
  }
  for (size_t j = 0; j < f->count; j++) {
    spots[j] = (spot){f->draws[j].source.branch, j, f->draws[j].source.location_m};
  }
  qsort(spots, f->count, sizeof *spots, down_the_river);
  for (size_t first = 0, end = 0; first < f->count && out->count < HW__STRETCHES_MOST; first = end) {
    while (end < f->count && spots[end].branch == spots[first].branch) {
      end++;
    }
    cut_branch(out, spots, first, end, (double)((end - first) * parts) / (double)f->count);
  }
  free(spots);
  return HW_OK;
}

void hw__stretches_free(hw__stretches *stretches) {
  free(stretches->of_draw);
  stretches->of_draw = NULL;
  stretches->count = 0;
}

double hw__stretches_region(const hw__stretches *s, const double *weight, size_t draws, bool *holds) {
  double share[HW__STRETCHES_MOST] = {0}, held = 0, length = 0;
  bool used[HW__STRETCHES_MOST] = {false};
  for (size_t j = 0; j < draws; j++) {
    share[s->of_draw[j]] += weight[j];
  }
  for (size_t round = 0; round < s->count && held < HW_DEFAULT_LEVEL; round++) {
    size_t best = s->count; /* the densest of those left */
    for (size_t k = 0; k < s->count; k++) {
      const double here = share[k] * (best < s->count ? s->to_m[best] - s->from_m[best] : 1);
      const double there = best < s->count ? share[best] * (s->to_m[k] - s->from_m[k]) : 0;
      best = !used[k] && (best == s->count || here > there) ? k : best;
    }
    used[best] = true;
    const double part = share[best] > 0 ? fmin(1, (HW_DEFAULT_LEVEL - held) / share[best]) : 0;
    length += part * (s->to_m[best] - s->from_m[best]);
    held += share[best];
  }
  if (holds) {
    memcpy(holds, used, s->count * sizeof *holds);
  }
  return length;
}
