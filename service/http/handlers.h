/* The handlers behind the routes; docs/api.md says what each answers. */
#ifndef HW_HTTP_HANDLERS_H
#define HW_HTTP_HANDLERS_H

#include "http/http.h"

/* routes.c */
hw_reply hw__post_readings(hw_request *request);
hw_reply hw__post_session(hw_request *request);
hw_reply hw__get_methods(hw_request *request);
/* rivers.c */
hw_reply hw__get_rivers(hw_request *request);
hw_reply hw__get_river(hw_request *request);
hw_reply hw__get_river_readings(hw_request *request);
/* places.c */
hw_reply hw__get_places(hw_request *request);
hw_reply hw__get_centerline(hw_request *request);
/* incidents.c */
hw_reply hw__get_incidents(hw_request *request);
hw_reply hw__get_incident(hw_request *request);
hw_reply hw__post_incident(hw_request *request);
hw_reply hw__post_close(hw_request *request);
hw_reply hw__get_events(hw_request *request);
/* engine.c */
hw_reply hw__get_posterior(hw_request *request);
hw_reply hw__get_forecast(hw_request *request);
hw_reply hw__get_plume(hw_request *request);
/* export.c */
hw_reply hw__get_incident_readings(hw_request *request);
hw_reply hw__get_export(hw_request *request);
hw_reply hw__get_bulletin(hw_request *request);
/* stream.c */
hw_reply hw__get_stream(hw_request *request);
/* operations.c */
hw_reply hw__get_metrics(hw_request *request);
hw_reply hw__get_health(hw_request *request);
hw_reply hw__get_ready(hw_request *request);
/* assets.c */
hw_reply hw__get_asset(hw_request *request);

/* A river's places as GeoJSON; incident (as hw__show_incident shows it, borrowed) may be NULL. */
hw_reply hw__reply_places(hw_service *service, const hw_site *site, const json_t *incident);

/* The incident a route's {} names: its number, or 0 when it is none. */
int64_t hw__captured_incident(const hw_request *request);

#endif
