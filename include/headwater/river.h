/* A river as headwater knows it: hydraulics, reaches or whole branches, sensors, the search box, who might have done
 * it and who must be warned.
 *
 * Locations are metres along the river, or along their branch of it, and grow downstream. Times are seconds from an
 * origin that the readings and the search box share. SI throughout: metre, second, gram.
 *
 * A river is plain data. Fill it by hand (start from hw_river_init) or load it from YAML with
 * hw_river_load (io.h); either way call hw_river_check before use. All arrays belong to the river
 * and are released by hw_river_free.
 */
#ifndef HEADWATER_RIVER_H
#define HEADWATER_RIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "headwater/columns.h"
#include "headwater/status.h"
#include "headwater/substance.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HW_ID_SIZE = 64, HW_NAME_SIZE = 160 };

/* How well a quantity is known. */
typedef enum {
  HW_KNOWN,     /* value is right */
  HW_UNCERTAIN, /* lognormal: 68 % of the probability within value/factor .. value*factor */
  HW_UNKNOWN    /* to be worked out */
} hw_certainty;

typedef struct {
  hw_certainty certainty;
  double value;  /* known value or median; 0 when unknown */
  double factor; /* > 1 when uncertain, otherwise 1: doubt about any one stretch of the river */
  double local;  /* 1 .. factor, the part of it that differs from stretch to stretch; 0: factor^0.6. The squares of
                  * their logarithms add up, so factor^0.8 is then left for the part that all stretches share */
} hw_quantity;

/* Doubt without a value of its own, in the same two numbers. */
typedef struct {
  double factor; /* 0: as the hydraulics say; 1: none */
  double local;
} hw_doubt;

/* The river where no reach says otherwise. Give area or discharge: with the area known the
 * discharge is area * velocity, with the discharge known the area is discharge / velocity. */
typedef struct {
  hw_quantity velocity_m_s;
  hw_quantity dispersion_m2_s; /* HW_UNKNOWN selects the field model of the posterior engine */
  double area_m2;              /* 0 when the discharge is given instead, or neither */
  double discharge_m3_s;       /* 0 when the area is given instead, or neither */
  double decay_per_s;
  double velocity_exponent; /* m: the velocity follows discharge^m; 0: the default, 0.45 */
} hw_hydraulics;

/* A stretch that ends at to_m. Reaches run from upstream to downstream; the first begins at minus
 * infinity, each begins where the one before ends, and below the last the hydraulics above hold.
 * The numbers of a reach take the place of the hydraulics' medians. */
typedef struct {
  double to_m;
  double velocity_m_s;
  double dispersion_m2_s;
  double area_m2;
  double decay_per_s;
  double discharge_m3_s; /* > 0: the water's own, whatever the velocity turns out to be; 0: area times velocity */
  hw_doubt velocity_doubt;
  hw_doubt dispersion_doubt;
} hw_reach;

/* A branch of a network. It ends at its metre 0, where it joins another; the one branch that joins nothing goes on
 * below its last reach as that reach. Reaches are as above, but begin at head_m, and every discharge is filled in:
 * where a confluence lies within a reach of a file, loading cuts the reach there. No reaches: the hydraulics hold. */
typedef struct {
  char id[HW_ID_SIZE];
  char name[HW_NAME_SIZE];
  double head_m;
  size_t joins;                    /* index of the branch it flows into; HW_OUTLET: it joins nothing */
  double joins_at_m;               /* where on that branch */
  double search_lo_m, search_hi_m; /* where on this branch the source is looked for; lo > hi: nowhere */
  hw_reach *reaches;
  size_t reach_count;
  char *centerline; /* path of a GeoJSON file, or NULL */
} hw_branch;

#define HW_OUTLET ((size_t)-1)

/* Where the discharge is measured. A gauge may have the id of a sensor. */
typedef struct {
  char id[HW_ID_SIZE];
  double location_m;
  size_t branch;
} hw_gauge;

typedef struct {
  size_t gauge; /* index into the river's gauges */
  double time_s;
  double discharge_m3_s;
} hw_flow;

typedef struct {
  char id[HW_ID_SIZE];
  double location_m;
  double noise_relative;       /* sd as a share of the true concentration; default 0.05 */
  double noise_absolute_g_m3;  /* sd that does not shrink; 0: the engine estimates a floor */
  double detection_limit_g_m3; /* 0: none known */
  double background_g_m3;      /* steady concentration without a spill; NAN: learn it */
  double gain_factor;          /* lognormal spread of the calibration; 1: trusted */
  double discharge_m3_s;       /* what the gauge knows of its cross-section; 0: not known */
  double section_velocity_m_s;
  double width_m;
  double depth_m;
  size_t branch;           /* index into the river's branches; 0 on a river without */
  char name[HW_NAME_SIZE]; /* for people; empty: its id */
} hw_sensor;

typedef struct {
  double from_s, to_s;
} hw_span;

/* A facility that may be the source. It may have discharged anywhere within extent_m of its
 * place (half-length; default 0: the outfall's place is exact). */
typedef struct {
  char id[HW_ID_SIZE];
  char name[HW_NAME_SIZE];
  double location_m;
  double extent_m;
  double prior;        /* weight among the candidates before any reading; 0 stands for 1 */
  hw_span *active;     /* when it could have discharged, in order of time; belongs to the river */
  size_t active_count; /* 0: at any time */
  double active_trust; /* probability that `active` is right; 0 stands for 0.9 */
  size_t branch;
} hw_candidate;

/* Somebody downstream who must be warned. */
typedef struct {
  char id[HW_ID_SIZE];
  char name[HW_NAME_SIZE];
  double location_m;
  double alarm_g_m3; /* 0: no level given */
  size_t branch;
} hw_intake;

/* The truth or a guess of it: what a method looks for. */
typedef struct {
  double mass_g;
  double location_m;
  double time_s;
  size_t branch; /* 0 on a river without branches */
} hw_source;

/* What is known of the time of release inside the box: a normal distribution. */
typedef struct {
  double median_s;
  double sd_s; /* 0: nothing is known */
} hw_when;

/* The feasible box; each side closed, lo <= hi. With branches each has its own stretch to search, and the box's
 * locations are the ends of them all. */
typedef struct {
  hw_source lo;
  hw_source hi;
} hw_box;

typedef struct {
  char name[HW_NAME_SIZE];
  hw_hydraulics hydraulics;
  hw_substance substance; /* what it carries */
  hw_box search;
  hw_when when;
  bool search_is_calendar; /* the box's times are seconds since 1970-01-01T00:00:00Z */
  hw_reach *reaches;       /* none with branches */
  size_t reach_count;
  hw_branch *branches; /* none: the river is one branch without an end upstream */
  size_t branch_count;
  hw_sensor *sensors;
  size_t sensor_count;
  hw_candidate *candidates;
  size_t candidate_count;
  double none_prior; /* probability before any reading that it was none of the candidates; default 0.2 */
  hw_intake *intakes;
  size_t intake_count;
  hw_gauge *gauges;
  size_t gauge_count;
  char *flow_file; /* path of the gauges' discharges, or NULL */
  hw_flow *flow;   /* what is in it, in order of time; later than now: a forecast */
  size_t flow_count;
  char *centerline;   /* path of a GeoJSON file, or NULL */
  hw_columns *import; /* how its readings are written where that is not our way, or NULL */
} hw_river;

/* Defaults: no reaches, no sensors, everything unknown, an empty box. */
void hw_river_init(hw_river *river);
/* Defaults of one sensor (the comments above): relative noise 0.05, gain 1, background learned. */
void hw_sensor_init(hw_sensor *sensor);
/* Release what the river owns; NULL is fine. */
void hw_river_free(hw_river *river);

/* Is this river usable: finite numbers, ordered reaches, unique ids, lo <= hi, at least one sensor; branches that all
 * lead to one outlet, and every place on its branch?
 * Status: HW_EINPUT with a sentence in *error (may be NULL) that names the item. */
hw_status hw_river_check(const hw_river *river, hw_error *error);

/* Index of the branch with this id; HW_OUTLET when there is none. */
size_t hw_river_branch(const hw_river *river, const char *id);
/* How far the water of one place flows to another, in metres; 0 where they are one, NAN where it never passes there. */
double hw_river_way_m(const hw_river *river, size_t from_branch, double from_m, size_t to_branch, double to_m);
/* Index of the branch that joins nothing; 0 on a river without branches. */
size_t hw_river_outlet(const hw_river *river);

/* A network of one branch as the river without branches that it is.
 *
 * Returned: *line, to be released with hw_river_free
 * Status:   HW_EHYDRAULICS, HW_ENOMEM; *line is not touched then
 */
hw_status hw_river_lay_line(const hw_river *river, hw_river *line);

/* The place at this share (0 .. 1) of all the channel that is searched, laid end to end in the order of the
 * branches: shares drawn evenly give every place the same chance. */
double hw_river_search_place(const hw_river *river, double share, size_t *branch);

/* True when velocity and dispersion are known or have a median everywhere: what the paper's
 * methods and the offline baselines need. */
bool hw_river_has_hydraulics(const hw_river *river);

#ifdef __cplusplus
}
#endif

#endif
