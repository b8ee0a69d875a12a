#include "river/network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

size_t hw_river_branch(const hw_river *river, const char *id) {
  for (size_t i = 0; i < river->branch_count; i++) {
    if (strcmp(river->branches[i].id, id) == 0) {
      return i;
    }
  }
  return HW_OUTLET;
}

size_t hw_river_outlet(const hw_river *river) {
  for (size_t i = 0; i < river->branch_count; i++) {
    if (river->branches[i].joins == HW_OUTLET) {
      return i;
    }
  }
  return 0;
}

double hw__branch_end(const hw_river *river, size_t branch) {
  const hw_branch *b = &river->branches[branch];
  if (b->joins != HW_OUTLET) {
    return 0;
  }
  return b->reach_count ? b->reaches[b->reach_count - 1].to_m : INFINITY;
}

void hw__branch_order(const hw_river *river, size_t *order) {
  const size_t count = river->branch_count;
  size_t known = 0;
  /* Depth by depth: a branch follows once the one it joins stands in the list. */
  order[known++] = hw_river_outlet(river);
  for (size_t at = 0; at < known; at++) {
    for (size_t i = 0; i < count; i++) {
      if (river->branches[i].joins == order[at]) {
        order[known++] = i;
      }
    }
  }
}

bool hw__branch_enters(const hw_river *river, size_t from, size_t into, double *at_m) {
  for (size_t b = from; river->branches[b].joins != HW_OUTLET; b = river->branches[b].joins) {
    if (river->branches[b].joins == into) {
      *at_m = river->branches[b].joins_at_m;
      return true;
    }
  }
  return false;
}

double hw_river_search_place(const hw_river *river, double share, size_t *branch) {
  *branch = 0;
  if (!river->branch_count) {
    const hw_box *box = &river->search;
    return box->lo.location_m + share * (box->hi.location_m - box->lo.location_m);
  }
  double length_m = 0;
  for (size_t i = 0; i < river->branch_count; i++) {
    length_m += fmax(river->branches[i].search_hi_m - river->branches[i].search_lo_m, 0);
  }
  double rest_m = share * length_m;
  for (size_t i = 0; i < river->branch_count; i++) {
    const hw_branch *b = &river->branches[i];
    const double own_m = b->search_hi_m - b->search_lo_m;
    if (own_m >= 0) {
      *branch = i;
      if (rest_m <= own_m) {
        break;
      }
      rest_m -= own_m;
    }
  }
  return fmin(river->branches[*branch].search_lo_m + rest_m, river->branches[*branch].search_hi_m);
}

double hw_river_way_m(const hw_river *river, size_t from_branch, double from_m, size_t to_branch, double to_m) {
  double way_m = 0;
  while (from_branch != to_branch) {
    const hw_branch *b = from_branch < river->branch_count ? &river->branches[from_branch] : NULL;
    if (!b || b->joins == HW_OUTLET) {
      return NAN;
    }
    way_m -= from_m; /* down to its mouth, metre 0 */
    from_m = b->joins_at_m;
    from_branch = b->joins;
  }
  return to_m >= from_m ? way_m + (to_m - from_m) : (double)NAN;
}

/* Follows the water down; more steps than there are branches means a circle. */
static hw_status check_way_down(const hw_river *river, size_t branch, hw_error *error) {
  const hw_branch *b = &river->branches[branch];
  if (b->joins == branch) {
    return hw__fail(error, HW_EINPUT, "branch %s joins itself, expected another branch", b->id);
  }
  size_t at = branch;
  for (size_t steps = 0; at != HW_OUTLET; steps++) {
    if (steps > river->branch_count || river->branches[at].joins == branch) {
      return hw__fail(
          error, HW_EINPUT,
          "branch %s leads into a circle by way of %s, expected a way down to the branch that joins nothing", b->id,
          river->branches[at].id);
    }
    at = river->branches[at].joins;
    if (at != HW_OUTLET && at >= river->branch_count) {
      return hw__fail(error, HW_EINPUT, "branch %s leads to a branch that is not there", b->id);
    }
  }
  return HW_OK;
}

static hw_status check_join(const hw_river *river, const hw_branch *b, hw_error *error) {
  if (b->joins == HW_OUTLET) {
    const hw_branch *outlet = &river->branches[hw_river_outlet(river)];
    return b == outlet ? HW_OK
                       : hw__fail(error, HW_EINPUT,
                                  "branch %s joins nothing, and so does %s: two outlets, expected exactly one", b->id,
                                  outlet->id);
  }
  const hw_branch *parent = &river->branches[b->joins];
  const double end_m = hw__branch_end(river, b->joins);
  if (!isfinite(b->joins_at_m) || b->joins_at_m < parent->head_m || b->joins_at_m > end_m) {
    return hw__fail(error, HW_EINPUT, "branch %s joins %s at %g m, expected a metre between its ends, %g and %g", b->id,
                    parent->id, b->joins_at_m, parent->head_m, end_m);
  }
  return HW_OK;
}

hw_status hw__branch_check(const hw_river *river, size_t branch, hw_error *error) {
  const hw_branch *b = &river->branches[branch];
  const bool outlet = b->joins == HW_OUTLET;
  if (!isfinite(b->head_m) || (!outlet && !(b->head_m < 0))) {
    return hw__fail(error, HW_EINPUT, "branch %s has head_m %g, expected a %s number%s", b->id, b->head_m,
                    outlet ? "finite" : "negative", outlet ? "" : ": its mouth is metre 0");
  }
  char what[HW_ID_SIZE + 32];
  snprintf(what, sizeof what, "branch %s, reach", b->id);
  hw_status status = check_way_down(river, branch, error);
  if (status == HW_OK) {
    status = check_join(river, b, error);
  }
  if (status == HW_OK && b->reach_count && !(b->reaches[0].to_m > b->head_m)) {
    return hw__fail(error, HW_EINPUT, "%s 1 ends at %g m, expected below the branch's head, %g", what,
                    b->reaches[0].to_m, b->head_m);
  }
  if (status == HW_OK && b->reach_count && !outlet && b->reaches[b->reach_count - 1].to_m > 0) {
    return hw__fail(error, HW_EINPUT, "%s %zu ends at %g m, expected at most 0, the branch's mouth", what,
                    b->reach_count, b->reaches[b->reach_count - 1].to_m);
  }
  if (status == HW_OK && (isnan(b->search_lo_m) || isnan(b->search_hi_m))) {
    return hw__fail(error, HW_EINPUT, "branch %s has a search that is no stretch of it", b->id);
  }
  return status;
}

hw_status hw__place_check(const hw_river *river, size_t branch, double location_m, const char *what, const char *id,
                          hw_error *error) {
  if (branch >= river->branch_count) {
    return branch == 0 ? HW_OK : hw__fail(error, HW_EINPUT, "%s %s is on a branch that is not there", what, id);
  }
  const hw_branch *b = &river->branches[branch];
  if (location_m < b->head_m) {
    return hw__fail(error, HW_EINPUT, "%s %s at %g m lies above the head of branch %s, expected %g m or more", what, id,
                    location_m, b->id, b->head_m);
  }
  if (b->joins != HW_OUTLET && location_m > 0) {
    return hw__fail(error, HW_EINPUT, "%s %s at %g m lies below the mouth of branch %s, expected 0 m or less", what, id,
                    location_m, b->id);
  }
  return HW_OK;
}
