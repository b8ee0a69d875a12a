/* The rule at the end of a time zone file, for instants after its last entry: "CET-1CEST,M3.5.0,M10.5.0/3". */
#ifndef HW_IO_ZONE_RULE_H
#define HW_IO_ZONE_RULE_H

#include <stdint.h>

#include "io/number.h"

/* A day of the year and a time on it, in the forms Mm.w.d, Jn and n. */
typedef struct {
  char form; /* 'M', 'J' or 'n' */
  int month, week, day;
  int32_t seconds;
} hw__zone_turn;

typedef struct {
  int32_t standard_s, summer_s; /* east of UTC */
  bool has_summer;
  hw__zone_turn begin, end; /* of summer time, on the clock before it */
} hw__zone_rule;

bool hw__zone_rule_parse(hw__slice text, hw__zone_rule *out);
int32_t hw__zone_rule_offset(const hw__zone_rule *rule, double unix_s);

#endif
