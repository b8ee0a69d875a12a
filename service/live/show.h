/* How the service's things look as JSON. */
#ifndef HW_LIVE_SHOW_H
#define HW_LIVE_SHOW_H

#include "base/json.h"
#include "live/service.h"

hw_time_base hw__time_base(hw_service *service, size_t site);
/* A river with its configuration and the health of its sensors; brief: without the configuration. */
json_t *hw__show_river(hw_service *service, size_t site, bool brief);
json_t *hw__show_reading(const hw_service *service, const hw_record *record, bool calendar);
/* The result object of the incident's method, plus what the service knows of it. */
json_t *hw__show_incident(hw_service *service, hw_db *db, const hw_incident *incident);
json_t *hw__show_event(const hw_service *service, const hw_event *event);
json_t *hw__show_track(const hw_track *track);

#endif
