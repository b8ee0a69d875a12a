/* What is counted (metrics.h), as Prometheus reads it. */
#ifndef HW_BASE_PROMETHEUS_H
#define HW_BASE_PROMETHEUS_H

#include <stdio.h>

/* Every count, the memory in use and the version. */
void hw__prometheus_counts(FILE *out);
void hw__prometheus_gauge(FILE *out, const char *name, const char *help, double value);

/* What `write` writes, as text to be freed; NULL without memory. */
char *hw__prometheus_text(void (*write)(void *context, FILE *out), void *context);

#endif
