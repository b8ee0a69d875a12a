#include "river_suspects.h"

#include <math.h>

const double reliability_edges[RELIABILITY_BINS + 1] = {0, 0.05, 0.2, 0.4, 0.6, 0.8, 1.0000001};

enum { CANDIDATES = 5 };

static void add_statement(reliability *sum, double said, bool is_true) {
  for (int b = 0; b < RELIABILITY_BINS; b++) {
    if (said >= reliability_edges[b] && said < reliability_edges[b + 1]) {
      sum->said[b] += said;
      sum->true_ones[b] += is_true;
      sum->count[b]++;
    }
  }
}

/* Places as near to each other in ln distance anywhere, like the prior of the model. */
static double innocent_place(const hw_river *river, double first_m, hw_rng *rng) {
  const double far = first_m - river->search.lo.location_m, near = far / 200;
  return first_m - near * pow(far / near, hw_rng_uniform(rng));
}

static void count_set(const hw_estimate *e, bool guilty_there, reliability *sum) {
  sum->sets++;
  sum->none_sets += !guilty_there;
  for (size_t i = 0; i < e->suspicion_count; i++) {
    const hw_suspicion *s = &e->suspicions[i];
    const bool guilty = guilty_there ? s->candidate == 0 : s->candidate < 0;
    add_statement(sum, s->probability, guilty);
    sum->guilty_first += guilty_there && guilty && i == 0;
    sum->none_first += !guilty_there && guilty && i == 0;
    sum->innocent_over_80 += !guilty && s->candidate >= 0 && s->probability > 0.8;
  }
}

void study_suspects(const release *r, const hw__population *population, int sets, reliability *sum) {
  hw_candidate candidates[CANDIDATES] = {{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}, {.id = "e"}};
  hw_river river = r->river; /* a shallow copy: only the candidates are its own */
  river.candidates = candidates;
  river.candidate_count = CANDIDATES;
  hw__field *f = field_on(&river, population);
  if (!f) {
    return;
  }
  field_read(f, r);
  double first = INFINITY;
  for (size_t s = 0; s < river.sensor_count; s++) {
    first = fmin(first, river.sensors[s].location_m);
  }
  hw_rng rng;
  hw_rng_seed(&rng, 3, 0);
  for (int k = 0; k < sets; k++) {
    const bool guilty_there = hw_rng_uniform(&rng) < 1 - river.none_prior;
    for (size_t c = 0; c < CANDIDATES; c++) {
      candidates[c].location_m = c == 0 && guilty_there ? r->truth.location_m : innocent_place(&river, first, &rng);
    }
    hw_estimate e;
    if (hw__field_estimate(f, &e) == HW_OK && e.has_source) {
      count_set(&e, guilty_there, sum);
    }
  }
  hw__field_destroy(f);
}
