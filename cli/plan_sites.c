/* plan --place: the sites to choose from. */
#include <math.h>
#include <stdlib.h>

#include "cli/plan.h"

typedef struct {
  size_t branch;
  double at_m;
} site;

static int by_place(const void *a, const void *b) {
  const site *x = a, *y = b;
  return x->branch != y->branch ? (x->branch > y->branch) - (x->branch < y->branch)
                                : (x->at_m > y->at_m) - (x->at_m < y->at_m);
}

/* The end of a branch as far as sites go: its mouth, or on the outlet's branch the last place that the river file
 * names. */
static double end_of(const hw_river *river, size_t b) {
  double end_m = river->branches[b].joins == HW_OUTLET ? river->branches[b].search_hi_m : 0;
  for (size_t i = 0; river->branches[b].joins == HW_OUTLET && i < river->sensor_count; i++) {
    end_m = river->sensors[i].branch == b ? fmax(end_m, river->sensors[i].location_m) : end_m;
  }
  for (size_t i = 0; river->branches[b].joins == HW_OUTLET && i < river->intake_count; i++) {
    end_m = river->intakes[i].branch == b ? fmax(end_m, river->intakes[i].location_m) : end_m;
  }
  return end_m;
}

static bool lies_on(const hw_river *river, const site *s) {
  return s->at_m > river->branches[s->branch].head_m && s->at_m <= end_of(river, s->branch) + PLAN_ASIDE_M;
}

static size_t add_confluences(const hw_river *river, site *sites) {
  size_t count = 0;
  for (size_t b = 0; b < river->branch_count; b++) {
    const hw_branch *t = &river->branches[b];
    if (t->joins != HW_OUTLET) {
      const site around[] = {
          {b, -PLAN_ASIDE_M}, {t->joins, t->joins_at_m - PLAN_ASIDE_M}, {t->joins, t->joins_at_m + PLAN_ASIDE_M}};
      for (size_t i = 0; i < 3; i++) {
        if (lies_on(river, &around[i])) {
          sites[count++] = around[i];
        }
      }
    }
  }
  return count;
}

/* Evenly along all channels, an end of a branch included. */
static size_t add_along(const hw_river *river, size_t wanted, site *sites) {
  double length_m = 0;
  size_t count = 0;
  for (size_t b = 0; b < river->branch_count; b++) {
    length_m += fmax(end_of(river, b) - river->branches[b].head_m, 0);
  }
  for (size_t b = 0; b < river->branch_count && length_m > 0; b++) {
    const double head_m = river->branches[b].head_m, own_m = fmax(end_of(river, b) - head_m, 0);
    const size_t share = (size_t)floor((double)wanted * own_m / length_m);
    for (size_t i = 0; i < share; i++) {
      sites[count++] = (site){b, head_m + own_m * ((double)i + 1) / ((double)share + 1)};
    }
  }
  return count;
}

static int lay_out_network(const hw_river *river, size_t wanted, plan_sites *out) {
  site *sites = calloc(3 * river->branch_count + wanted, sizeof *sites);
  out->at_m = calloc(3 * river->branch_count + wanted + 1, sizeof *out->at_m);
  out->branch = calloc(3 * river->branch_count + wanted + 1, sizeof *out->branch);
  if (!sites || !out->at_m || !out->branch) {
    free(sites);
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  size_t count = add_confluences(river, sites);
  count += add_along(river, wanted > count ? wanted - count : 0, sites + count);
  qsort(sites, count, sizeof *sites, by_place);
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || by_place(&sites[i - 1], &sites[i]) < 0) {
      out->at_m[out->count] = sites[i].at_m;
      out->branch[out->count++] = sites[i].branch;
    }
  }
  free(sites);
  return -1;
}

int plan_sites_lay_out(const cli_session *session, const plan_request *r, plan_sites *out) {
  double from_m, to_m;
  if (session->river.branch_count && r->sites.given) {
    return cli_fail(EXIT_USAGE, "--sites on a river with branches, expected --pool N: the sites lie on all of them");
  }
  if (session->river.branch_count) {
    return lay_out_network(&session->river, r->pool, out);
  }
  out->count = r->sites.given ? r->sites.count : r->pool;
  out->at_m = calloc(out->count, sizeof *out->at_m);
  if (!out->at_m) {
    return cli_fail(EXIT_MACHINE, "%s", hw_status_text(HW_ENOMEM));
  }
  plan_stretch(session, r, &from_m, &to_m);
  for (size_t i = 0; i < out->count; i++) { /* the last at the stretch's end */
    out->at_m[i] = from_m + (to_m - from_m) * ((double)i + 1) / (double)out->count;
  }
  return -1;
}
