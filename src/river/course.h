/* The course of a branch: the way its water takes, from its head over every confluence to the outlet and beyond, as one
 * line. A release on that branch is a release in a river without branches: this one.
 *
 * Its coordinate is the branch's own metre, and goes on below the mouth: x = 0 at the mouth is the place where the
 * branch joins, x = 1000 lies a kilometre below it on the branch joined, and so on. On a river without branches, and on
 * the branch that joins nothing, the course is the river, to the bit.
 *
 *   hw__course *course = NULL;
 *   hw__course_create(&river, branch, &course);
 *   if (hw__course_place(course, sensor->branch, sensor->location_m, &x_m)) { the sensor stands on it, at x_m }
 *
 * A place of another branch that is not on the course sees nothing of such a release. */
#ifndef HW_RIVER_COURSE_H
#define HW_RIVER_COURSE_H

#include "river/along.h"
#include "river/doubt.h"

/* A stretch with constant properties. The numbers are medians; how far they may be off is in the two spreads: the
 * common parts are the same draw on all pieces of all branches, the local parts vary along a branch
 * (HW__LOCAL_LENGTH_M) and are independent from branch to branch. */
typedef struct {
  size_t branch;  /* of the river */
  size_t reach;   /* of that branch, or of the river without branches; HW_OUTLET: the hydraulics' own */
  double shift_m; /* x = metre of that branch + shift_m */
  double from_m;  /* x; the head for the first, -INFINITY on a river without branches */
  double to_m;    /* x; INFINITY for the last */
  double velocity_m_s;
  double dispersion_m2_s;
  double decay_per_s;
  double discharge_m3_s;
  bool discharge_follows; /* the area is what is known: the discharge goes with the velocity */
  hw__spread velocity, dispersion;
} hw__piece;

typedef struct {
  size_t branch;
  size_t count;
  hw__piece pieces[];
} hw__course;

/* Status: HW_EHYDRAULICS as hw_transport_create, HW_EDOMAIN for a branch that is not there, HW_ENOMEM */
hw_status hw__course_create(const hw_river *river, size_t branch, hw__course **out);
void hw__course_free(hw__course *course);

/* Where on the course a place of the network lies; false when its water never passes there. */
bool hw__course_place(const hw__course *course, size_t branch, double location_m, double *x_m);
/* Back again: which branch lies at x, and which of its metres. */
size_t hw__course_branch(const hw__course *course, double x_m, double *location_m);
/* The piece at x. Where two meet it is the upper one. */
const hw__piece *hw__course_at(const hw__course *course, double x_m);

/* The course as a river without branches, for all that knows no others: pieces as reaches, sensors, candidates and
 * intakes that lie on it with their x, the search box from search_lo_m to search_hi_m (x). sensors[i] tells which of
 * the network's sensors the i-th is; room for sensor_count of them.
 * Returned: *out, to be released with hw_river_free. Status: HW_ENOMEM */
hw_status hw__course_river(const hw__course *course, const hw_river *river, double search_lo_m, double search_hi_m,
                           hw_river *out, size_t *sensors);

#endif
