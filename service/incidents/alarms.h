/* Alarms about candidates and intakes: raised when they become probable, reported again when they change, and
 * withdrawn when they no longer are.
 *
 * A candidate that exceeds the set probability is reported (`candidate`), reported again when the trust has changed
 * (`candidate_changed`), and withdrawn (`candidate_withdrawn`) when it falls below half of it. A forecast alarm at an
 * intake is raised (`intake_alarm`), reported again when its window has moved or its trust has changed
 * (`intake_alarm_changed`), and withdrawn (`intake_alarm_withdrawn`) likewise; closing the incident ends it. An answer
 * without trust neither raises nor withdraws: alarms that stand are marked with it.
 */
#ifndef HW_INCIDENTS_ALARMS_H
#define HW_INCIDENTS_ALARMS_H

#include "incidents/outcome.h"

/* What was reported last about each candidate and intake, from the incident's events. */
void hw__alarms_recall(hw__engine *engine, hw__db *db);
/* Add to the outcome what this estimate changes. */
void hw__alarms_tell(hw__outcome *outcome, hw__engine *engine, const hw__log_record *record, const hw_estimate *e);

#endif
