/* How the service's things look as JSON. */
#ifndef HW_LIVE_SHOW_H
#define HW_LIVE_SHOW_H

#include "base/json.h"
#include "live/service.h"

hw__time_base hw__river_time_base(hw__service *service, size_t site);
/* A page of a river's sensors, so that an answer stays short however many there are. */
typedef struct {
  size_t from, most;
} hw__sensor_page;
enum { HW_PAGE_USUAL = 5000, HW_PAGE_MOST = 20000 };
/* A river with its configuration and the health of the page's sensors (`sensors_more`: there are others behind them);
 * brief: without the configuration. */
json_t *hw__show_river(hw__service *service, size_t site, hw__sensor_page page, bool brief);
/* Sentences that whoever looks after this river should know before a spill. */
json_t *hw__show_remarks(const hw_river *river, bool calendar, double present_s);
json_t *hw__show_reading(const hw__service *service, const hw__log_record *record, bool calendar);
/* The result object of the incident's method, plus what the service knows of it. */
json_t *hw__show_incident(hw__service *service, hw__db *db, const hw__incident *incident);
/* What the service knows of the incident, without result and alarms. */
json_t *hw__show_incident_briefly(hw__service *service, hw__db *db, const hw__incident *incident);
/* Its alarms, and the state of each. */
json_t *hw__show_alarms(hw__db *db, const hw__incident *incident);
/* "quiet", "alarm" and so on, as a sensor's `state`. */
const char *hw__sensor_state(const hw__detector *detector, double present_s);
json_t *hw__show_event(const hw__service *service, const hw__event *event);
json_t *hw__show_track(const hw__track *track);

#endif
