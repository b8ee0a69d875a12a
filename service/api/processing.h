/* How readings become incidents and answers: the same for one machine (serve.h) and for a worker of a cluster
 * (worker.h). Zero or NULL means the default. */
#ifndef HW_API_PROCESSING_H
#define HW_API_PROCESSING_H

#include <stdint.h>

#define HW_DEFAULT_METHOD                "posterior"
#define HW_DEFAULT_CANDIDATE_PROBABILITY 0.8
#define HW_DEFAULT_INTAKE_PROBABILITY    0.5
#define HW_DEFAULT_LEAD_IN_S             21600
#define HW_DEFAULT_QUIET_S               21600
#define HW_DEFAULT_VERIFY_HOURS          24 /* between comparisons of the log with its checksums */

typedef struct {
  const char *method;           /* of new incidents */
  uint64_t seed;                /* of their engines */
  double level;                 /* of intervals; the library's default */
  double candidate_probability; /* a candidate passing it is an event */
  double intake_probability;    /* a forecast alarm at an intake this probable is an event */
  double lead_in_s;             /* readings this long before the onset go to the engine too */
  double quiet_s;               /* how long after the pulse an incident stays open */
} hw_processing_options;

#endif
