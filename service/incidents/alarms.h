/* Who is accused and who is warned: told when it becomes probable, when it changes, and when it is no longer so.
 *
 * A candidate that passes its probability is told (`candidate`), told again when the trust has changed
 * (`candidate_changed`), and taken back (`candidate_withdrawn`) when less than half of that is left. A forecast alarm
 * at an intake is raised (`intake_alarm`), told again when its window has moved or its trust has changed
 * (`intake_alarm_changed`), and withdrawn (`intake_alarm_withdrawn`) likewise; closing the incident ends it. An answer
 * without trust neither raises nor withdraws: alarms that stand are marked with it.
 */
#ifndef HW_INCIDENTS_ALARMS_H
#define HW_INCIDENTS_ALARMS_H

#include "incidents/outcome.h"

/* What was told last of each candidate and intake, from the incident's events. */
void hw__alarms_recall(hw__engine *engine, hw__db *db);
/* Add to the outcome what this estimate changes. */
void hw__alarms_tell(hw__outcome *outcome, hw__engine *engine, const hw__log_record *record, const hw_estimate *e);

#endif
