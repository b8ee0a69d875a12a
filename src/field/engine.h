/* The field model's state, shared by the files of this room and nobody else. */
#ifndef HW_FIELD_ENGINE_H
#define HW_FIELD_ENGINE_H

#include <math.h>

#include "field/field.h"
#include "field/lattice.h"
#include "field/law.h"
#include "field/trace.h"
#include "summary/summary.h"
#include "summary/warnings.h"

/* Draws, and how many are moved where they must be made again. */
enum { HW__DRAWS = 4096, HW__FEW = 1024 };

/* Misfit of a pulse, as a share of its height, beyond which no shape of the family comes near it. */
#define HW__MISFIT_MOST 0.25

/* Stratified numbers, drawn once at creation: every estimate uses the same ones, so that it changes only
 * with the readings, and spends no time on drawing. */
typedef struct {
  double uniform_age; /* in (0, 1) */
  double cauchy_age;  /* the residual that belongs to it */
  double uniform_mass;
  double normal_velocity, normal_recovery, normal_lead, normal_loss;
  double t_reach, t_velocity, t_onward; /* Student's, of the population's degrees of freedom */
  bool below;                           /* drawn below the last quiet sensor above the first pulse, or above it */
} hw__noise;

typedef struct {
  float pick, across, along; /* uniform, for hw__lattice_pick */
} hw__pick;

/* What is believed of ln velocity before the pulses are compared. */
typedef struct {
  bool given; /* by the river file: normal; else from the population: Student's t */
  double mean, scale;
} hw__velocity_prior;

/* One draw of everything unknown; pulses lie beside it in hw__field.pulse. */
typedef struct {
  double log_age_s; /* of the first pulse */
  double log_velocity;
  double log_onward;           /* ln velocity downstream of the last pulse */
  double lead_luck, loss_luck; /* how its front grows and its height shrinks there, standard normal */
  double inside; /* how well its age may fit the law inside the search box: probability of residuals as large */
  double log_weight;
} hw__draw;

typedef struct {
  const hw_river *river;
  hw_options options;
  hw__population population;
  hw__shapes shapes;

  size_t *order;    /* sensors from upstream to downstream */
  hw__trace *trace; /* one per sensor */
  hw__gist *gist;   /* one per sensor; current unless dirty */
  bool *dirty;      /* the trace changed since it was settled */
  uint64_t *builds; /* how often each sensor was read afresh */
  struct hw__kept_lattice {
    size_t sensor;
    uint64_t build;
    hw__lattice lattice;
  } * kept;     /* HW__PULSES + 1: those in use, and room for one more */
  bool settled; /* draws are current */

  size_t pulse_count;
  struct {
    size_t sensor;
    uint64_t build;
  } picked[HW__PULSES];            /* what the draws' pulses were picked from */
  double log_distance[HW__PULSES]; /* ln of metres from the pulse before */
  size_t pulse_sensor[HW__PULSES]; /* sensors that the pulse has reached, upstream first */

  hw__noise *noise;      /* HW__DRAWS */
  hw__noise *own;        /* HW__FEW: what draws that were made again were made from */
  hw__pick *pick;        /* HW__DRAWS x pulse capacity */
  hw__pulse *pulse;      /* HW__DRAWS x pulse capacity, draw by draw */
  size_t pulse_capacity; /* min(sensors, HW__PULSES) */
  hw__draw *draw;        /* HW__DRAWS */
  hw_sample *sample;     /* HW__DRAWS, weights sum to 1 */
  hw__passage *passage;  /* HW__DRAWS */
  hw__pulse *band;       /* HW__DRAWS / 4, for predictions */
  hw__scratch scratch;   /* HW__DRAWS */
  hw_suspicion *suspicions;
  hw_arrival *arrivals;
  hw_region regions[HW__MOST_REGIONS];
  hw__warnings warnings;
  char reason[HW__WARNING_SIZE]; /* for the trust */
  hw__velocity_prior velocity;
  size_t grabs;       /* sensors that were read once or twice */
  double level_g_m3;  /* the highest background of the others */
  double split_m;     /* place of the last quiet sensor above the first pulse; -INFINITY: none */
  double effective;   /* number of equally weighted draws that would tell as much */
  double inside;      /* the same for all draws together */
  bool contradiction; /* the pulses cannot have come from one release; only the first was used */
  uint64_t evaluations;
  size_t bytes;
} hw__field;

/* hydraulics.c: what river file and population say of velocity, travel and losses. */
hw__velocity_prior hw__velocity_prior_of(const hw_river *river, const hw_sensor *sensor, const hw__population *p);
/* Travel time between two places when the river's own velocity is `velocity_m_s`; reaches keep their
 * proportions to it. */
double hw__travel_s(const hw_river *river, double from_m, double to_m, double velocity_m_s);
/* The place from which water needs travel_s to reach to_m. */
double hw__place_before(const hw_river *river, double to_m, double travel_s, double velocity_m_s);
/* Discharge past a sensor at this velocity; 0 when neither discharge nor area is known. */
double hw__discharge_of(const hw_river *river, const hw_sensor *sensor, double velocity_m_s);
/* ln of the share of the release that is still in the water at this age: middle and standard deviation. */
typedef struct {
  double mean, sd;
} hw__recovery;
hw__recovery hw__recovery_at(const hw__field *f, const hw_sensor *sensor, double age_s);

/* pulses.c: what the sensors that have changed say, and the pulses to use. */
void hw__field_read_pulses(hw__field *f);
/* The lattice of a sensor that has seen a pulse; built again where it was not kept. */
const hw__lattice *hw__field_lattice(hw__field *f, size_t sensor);

/* draws.c: settle every sensor, then the river. */
void hw__field_settle(hw__field *f);
/* What a quiet sensor says against a draw, as ln of a factor: its pulse should have stood out there at a time when the
 * sensor was reading. */
double hw__field_quiet_weight(const hw__field *f, size_t index, size_t sensor);
/* Has this sensor seen the pulse? */
bool hw__field_is_pulse(const hw__field *f, size_t sensor);
/* grab.c: sensors that were read once or twice. How many there are that have seen no pulse, and the level that the
 * others stand on. */
void hw__field_count_grabs(hw__field *f);
/* Read so seldom, a grab sample or two, that nobody could see a pulse by it, nor its background? */
bool hw__field_is_grab(const hw__field *f, size_t sensor);
/* What such a sensor's readings say of a draw, as ln of a factor: they are compared with the draw's pulse there.
 * *wrong: the probability that they have nothing to do with it. */
double hw__field_grab_weight(const hw__field *f, size_t index, size_t sensor, double *wrong);

/* One draw's source and log weight from its pulses and these numbers. */
void hw__field_draw(hw__field *f, size_t index, const hw__noise *noise);

/* trust.c: what the engine thinks of its own answer. Sets spill, trust with its reason, provisional and has_source. */
void hw__field_judge(hw__field *f, hw_estimate *e);

/* redraw.c: where the weights leave few draws effective, moves those that are left until they are many again. */
void hw__field_redraw(hw__field *f);

/* passage.c: the pulse of one draw at any place. Returned: false when it does not come there. */
bool hw__field_pulse_at(const hw__field *f, size_t draw, double x_m, hw__pulse *out);
static inline double hw__pulse_height_at(const hw__field *f, const hw__pulse *pulse, double time_s) {
  const double y = (time_s - pulse->phi_s) * exp(-pulse->log_lead);
  return pulse->height_g_m3 * (double)hw__shape_at(&f->shapes.shape[pulse->shape], (float)y);
}
void hw__field_arrivals(hw__field *f, size_t *count);

#endif
