/* Continuity over the tree, as a small set of equations that are solved by walking over them until nothing changes:
 * at every confluence q below = q above + sum of q at the mouths, elsewhere q below = q above where one is missing. */
#include "river/continuity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "river/network.h"

/* More than this share off, the given discharges contradict each other. */
#define TOLERATED 0.2
/* A difference of known discharges below this share of them is no tributary but their error. */
#define LEAST_SHARE 0.01

/* A stretch of one branch between two confluences or ends of reaches. */
typedef struct {
  size_t reach; /* of the branch as it came */
  double from_m, to_m;
  double q;     /* m3/s; 0: not known yet */
  bool follows; /* the area is what is given, so q goes with the velocity */
  bool joined;  /* a confluence lies at its upper end */
} piece;

typedef struct {
  size_t into;
  double at_m;
  size_t branch;
} join;

typedef struct {
  piece *pieces;
  size_t count;
  join *joins; /* those that flow into this branch, from upstream to downstream */
  size_t join_count;
} line;

typedef struct {
  hw_river *river;
  line *lines;
  piece *pieces;
  join *joins;
  size_t *order; /* downstream first */
} tree;

static int by_place(const void *a, const void *b) {
  const join *x = a, *y = b;
  if (x->into != y->into) {
    return x->into < y->into ? -1 : 1;
  }
  return x->at_m < y->at_m ? -1 : x->at_m > y->at_m;
}

static void find_joins(tree *t) {
  const size_t count = t->river->branch_count;
  for (size_t i = 0; i < count; i++) {
    const hw_branch *b = &t->river->branches[i];
    t->joins[i] = (join){b->joins, b->joins_at_m, i};
  }
  qsort(t->joins, count, sizeof *t->joins, by_place);
  for (size_t i = 0; i < count && t->joins[i].into != HW_OUTLET; i++) {
    line *into = &t->lines[t->joins[i].into];
    into->joins = into->join_count ? into->joins : &t->joins[i];
    into->join_count++;
  }
}

/* Where a branch without reaches is taken to end: at its mouth, or somewhere below all that joins it. */
static double open_end(const hw_branch *b, const line *l) {
  const double last_m = l->join_count ? fmax(b->head_m, l->joins[l->join_count - 1].at_m) : b->head_m;
  return b->joins != HW_OUTLET || last_m < 0 ? 0 : last_m + 1;
}

/* Cuts one branch at the confluences; its pieces begin at `room`. */
static size_t cut(const hw_river *river, size_t branch, line *l, piece *room) {
  const hw_branch *b = &river->branches[branch];
  const size_t reaches = b->reach_count ? b->reach_count : 1;
  double from_m = b->head_m;
  size_t k = 0;
  l->pieces = room;
  for (size_t r = 0; r < reaches; r++) {
    const bool given = r < b->reach_count;
    const bool last = r + 1 == reaches;
    const double to_m = !given ? open_end(b, l) : last && b->joins != HW_OUTLET ? 0 : b->reaches[r].to_m;
    for (; k < l->join_count && l->joins[k].at_m <= from_m; k++) {
    }
    for (; k < l->join_count && l->joins[k].at_m < to_m; k++) {
      if (l->joins[k].at_m > from_m) {
        l->pieces[l->count++] = (piece){.reach = r, .from_m = from_m, .to_m = l->joins[k].at_m};
        from_m = l->joins[k].at_m;
      }
    }
    l->pieces[l->count++] = (piece){.reach = r, .from_m = from_m, .to_m = to_m};
    from_m = to_m;
    const bool own = given && b->reaches[r].discharge_m3_s > 0;
    if (own) {
      l->pieces[l->count - 1].q = b->reaches[r].discharge_m3_s;
    }
    for (size_t i = l->count; given && !own && !isnan(b->reaches[r].area_m2) && i-- > 0 && l->pieces[i].reach == r;) {
      l->pieces[i].q = b->reaches[r].area_m2 * b->reaches[r].velocity_m_s;
      l->pieces[i].follows = true;
    }
  }
  k = 0;
  for (size_t i = 0; i < l->count; i++) {
    for (; k < l->join_count && l->joins[k].at_m <= l->pieces[i].from_m; k++) {
      l->pieces[i].joined = true;
    }
  }
  return l->count;
}

/* Everything that comes together at the upper end of a piece. */
typedef struct {
  piece *contributors[2]; /* the first two that are not known */
  size_t unknown;
  double sum; /* of those that are known */
  bool confluence;
  size_t first_branch;
} meeting;

static void contribute(meeting *m, piece *p) {
  if (p->q > 0) {
    m->sum += p->q;
  } else if (m->unknown++ < 2) {
    m->contributors[m->unknown - 1] = p;
  }
}

/* *next walks along the joins of the line, which are in order of place as the pieces are. */
static meeting meet(const tree *t, const line *l, size_t i, size_t *next) {
  meeting m = {0};
  if (i > 0) {
    contribute(&m, &l->pieces[i - 1]);
  }
  for (; *next < l->join_count && l->joins[*next].at_m <= l->pieces[i].from_m; ++*next) {
    const line *from = &t->lines[l->joins[*next].branch];
    m.first_branch = m.confluence ? m.first_branch : l->joins[*next].branch;
    m.confluence = true;
    contribute(&m, &from->pieces[from->count - 1]);
  }
  return m;
}

/* One equation; true when it made something known. */
static bool settle(piece *below, const meeting *m, size_t i) {
  if (!m->confluence && i == 0) {
    return false;
  }
  if (below->q == 0 && m->unknown == 0) {
    below->q = m->sum;
    return true;
  }
  if (below->q > 0 && m->unknown == 1) {
    const double rest = below->q - m->sum;
    if (rest > LEAST_SHARE * below->q) {
      m->contributors[0]->q = rest;
      return true;
    }
  }
  return false;
}

static bool sweep_line(const tree *t, line *l) {
  bool changed = false;
  size_t next = 0;
  for (size_t i = 0; i < l->count; i++) {
    const meeting m = meet(t, l, i, &next);
    changed = settle(&l->pieces[i], &m, i) || changed;
  }
  /* Upstream too, where nothing joins: what a long line of reaches leaves out need not cost a sweep each. */
  for (size_t i = l->count; i-- > 1;) {
    if (!l->pieces[i].joined && l->pieces[i - 1].q == 0 && l->pieces[i].q > 0) {
      l->pieces[i - 1].q = l->pieces[i].q;
      changed = true;
    }
  }
  return changed;
}

static void sweep(const tree *t) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = t->river->branch_count; i-- > 0;) {
      changed = sweep_line(t, &t->lines[t->order[i]]) || changed;
    }
    for (size_t i = 0; i < t->river->branch_count; i++) {
      changed = sweep_line(t, &t->lines[t->order[i]]) || changed;
    }
  }
}

/* The hydraulics' own discharge at the first head that still has none. */
static bool give_default(const tree *t) {
  const hw_hydraulics *h = &t->river->hydraulics;
  for (size_t i = t->river->branch_count; i-- > 0;) {
    const hw_branch *b = &t->river->branches[t->order[i]];
    line *l = &t->lines[t->order[i]];
    const bool fed = l->join_count && l->joins[0].at_m <= b->head_m;
    if (!l->pieces || l->pieces[0].q > 0 || fed) {
      continue;
    }
    const double v = b->reach_count ? b->reaches[0].velocity_m_s : h->velocity_m_s.value;
    l->pieces[0].follows = h->area_m2 > 0;
    l->pieces[0].q = h->area_m2 > 0 ? h->area_m2 * v : h->discharge_m3_s;
    return l->pieces[0].q > 0;
  }
  return false;
}

/* Equal shares where only the sum is known, and a copy of it where the known ones already exceed it. */
static bool share(const tree *t, hw__network_warn warn, void *context) {
  for (size_t n = 0; n < t->river->branch_count; n++) {
    line *l = &t->lines[t->order[n]];
    size_t next = 0;
    for (size_t i = 0; i < l->count; i++) {
      const meeting m = meet(t, l, i, &next);
      if (!m.unknown || l->pieces[i].q == 0) {
        continue;
      }
      const double rest = l->pieces[i].q - m.sum;
      const bool fits = rest > LEAST_SHARE * l->pieces[i].q;
      m.contributors[0]->q = fits ? rest / (double)m.unknown : l->pieces[i].q;
      if (warn && m.confluence) {
        char sentence[400];
        const hw_branch *into = &t->river->branches[t->order[n]], *from = &t->river->branches[m.first_branch];
        snprintf(
            sentence, sizeof sentence,
            "no discharge for what meets where %s joins %s at %g m, and none follows from the others: taken %g m3/s",
            from->id, into->id, l->pieces[i].from_m, m.contributors[0]->q);
        warn(context, m.first_branch, sentence);
      }
      return true;
    }
  }
  return false;
}

static void compare(const tree *t, hw__network_warn warn, void *context) {
  for (size_t n = 0; warn && n < t->river->branch_count; n++) {
    line *l = &t->lines[n];
    size_t next = 0;
    for (size_t i = 0; i < l->count; i++) {
      const meeting m = meet(t, l, i, &next);
      const double below = l->pieces[i].q;
      if (m.confluence && fabs(below - m.sum) > TOLERATED * fmax(below, m.sum)) {
        char sentence[400];
        snprintf(sentence, sizeof sentence,
                 "at the confluence of %s with %s (%g m) %g m3/s come together and %g go on, expected the same within "
                 "20 %%",
                 t->river->branches[m.first_branch].id, t->river->branches[n].id, l->pieces[i].from_m, m.sum, below);
        warn(context, m.first_branch, sentence);
      }
    }
  }
}

/* The pieces become the branch's reaches. */
static hw_status write_back(const hw_river *river, hw_branch *b, const line *l) {
  const hw_hydraulics *h = &river->hydraulics;
  const double own = h->discharge_m3_s > 0 ? h->discharge_m3_s : h->area_m2 * h->velocity_m_s.value;
  if (!b->reach_count && (l->count == 1 && l->pieces[0].q == own)) {
    return HW_OK;
  }
  if (!b->reach_count && (h->velocity_m_s.certainty == HW_UNKNOWN || h->dispersion_m2_s.certainty == HW_UNKNOWN)) {
    return HW_OK;
  }
  hw_reach *reaches = calloc(l->count, sizeof *reaches);
  if (!reaches) {
    return HW_ENOMEM;
  }
  for (size_t i = 0; i < l->count; i++) {
    const piece *p = &l->pieces[i];
    hw_reach *r = &reaches[i];
    *r = b->reach_count ? b->reaches[p->reach]
                        : (hw_reach){.velocity_m_s = h->velocity_m_s.value,
                                     .dispersion_m2_s = h->dispersion_m2_s.value,
                                     .decay_per_s = h->decay_per_s};
    r->to_m = p->to_m;
    r->discharge_m3_s = p->follows ? 0 : p->q;
    const bool own_area = p->follows && b->reach_count && !isnan(r->area_m2);
    r->area_m2 = own_area ? r->area_m2 : p->follows ? h->area_m2 : p->q / r->velocity_m_s;
  }
  free(b->reaches);
  b->reaches = reaches;
  b->reach_count = l->count;
  return HW_OK;
}

static hw_status tree_create(hw_river *river, tree *t) {
  size_t most = river->branch_count;
  for (size_t i = 0; i < river->branch_count; i++) {
    most += river->branches[i].reach_count + 1;
  }
  *t = (tree){.river = river,
              .lines = calloc(river->branch_count, sizeof *t->lines),
              .pieces = calloc(most, sizeof *t->pieces),
              .joins = calloc(river->branch_count, sizeof *t->joins),
              .order = calloc(river->branch_count, sizeof *t->order)};
  if (!t->lines || !t->pieces || !t->joins || !t->order) {
    return HW_ENOMEM;
  }
  hw__branch_order(river, t->order);
  find_joins(t);
  piece *room = t->pieces;
  for (size_t i = 0; i < river->branch_count; i++) {
    room += cut(river, i, &t->lines[i], room);
  }
  return HW_OK;
}

static void tree_free(tree *t) {
  free(t->lines);
  free(t->pieces);
  free(t->joins);
  free(t->order);
}

/* The first branch, downstream first, of which some piece has no discharge. */
static size_t find_lacking(const tree *t) {
  for (size_t n = 0; n < t->river->branch_count; n++) {
    const line *l = &t->lines[t->order[n]];
    for (size_t k = 0; k < l->count; k++) {
      if (!(l->pieces[k].q > 0)) {
        return t->order[n];
      }
    }
  }
  return HW_OUTLET;
}

hw_status hw__river_continue(hw_river *river, hw__network_warn warn, void *context, size_t *lacking) {
  tree t;
  hw_status status = tree_create(river, &t);
  if (status == HW_OK) {
    do {
      sweep(&t);
    } while (give_default(&t) || share(&t, warn, context));
    *lacking = find_lacking(&t);
  }
  const bool known = status == HW_OK && *lacking == HW_OUTLET;
  for (size_t i = 0; status == HW_OK && known && i < river->branch_count; i++) {
    status = write_back(river, &river->branches[i], &t.lines[i]);
  }
  if (status == HW_OK && known) {
    compare(&t, warn, context);
  }
  tree_free(&t);
  return status;
}
