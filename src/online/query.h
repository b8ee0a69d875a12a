/* A loss of which only values can be asked for: the mean square misfit over the window at a point of the box. The
 * forward model is hw_problem.forward where given, so any model can be learned from; else the river's own transport.
 * The user's model is called from one thread only. Points are in box widths, 0 to 1. */
#ifndef HW_ONLINE_QUERY_H
#define HW_ONLINE_QUERY_H

#include "headwater/method.h"
#include "headwater/transport.h"
#include "loss/misfit.h"

enum { HW__QUERY_DIM = 3 };

typedef struct {
  hw_problem problem;
  hw_box box;
  hw_transport *transport; /* NULL with a forward model of the user's */
  double *sensor_m;
  hw__misfit misfit; /* the river's own model; with a user's only its count is used */
  hw__window window;
  hw__packed packed;
} hw__query;

/* Status: HW_ENOMEM, HW_EHYDRAULICS; hw__query_close either way. */
hw_status hw__query_open(const hw_problem *problem, const hw_options *options, hw__query *out);
void hw__query_close(hw__query *query);
void hw__query_add(hw__query *query, const hw_reading *reading);

hw_source hw__query_source(const hw__query *query, const double unit[HW__QUERY_DIM]);
void hw__query_unit(const hw__query *query, const hw_source *x, double unit[HW__QUERY_DIM]);
/* Infinite where the model's answer is not a number. */
double hw__query_loss(hw__query *query, const double unit[HW__QUERY_DIM]);
size_t hw__query_bytes(const hw__query *query);

#endif
