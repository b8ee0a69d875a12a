/* The handlers behind the routes; docs/api.md says what each answers. */
#ifndef HW_HTTP_HANDLERS_H
#define HW_HTTP_HANDLERS_H

#include "http/http.h"
#include "live/show.h"

/* readings.c */
hw__reply hw__post_readings(hw__request *request);
/* influx.c */
hw__reply hw__post_influx_1(hw__request *request);
hw__reply hw__post_influx_2(hw__request *request);
void hw__influx_fault(hw__reply *reply);
/* routes.c */
hw__reply hw__get_description(hw__request *request);
hw__reply hw__post_session(hw__request *request);
hw__reply hw__get_methods(hw__request *request);
/* rivers.c */
hw__reply hw__get_rivers(hw__request *request);
hw__reply hw__get_river(hw__request *request);
hw__reply hw__get_river_readings(hw__request *request);
/* overview.c */
hw__reply hw__get_overview(hw__request *request);
/* places.c */
hw__reply hw__get_places(hw__request *request);
hw__reply hw__get_centerline(hw__request *request);
hw__reply hw__get_centerlines(hw__request *request);
/* incidents.c */
hw__reply hw__get_incidents(hw__request *request);
hw__reply hw__get_incident(hw__request *request);
hw__reply hw__post_incident(hw__request *request);
hw__reply hw__post_close(hw__request *request);
hw__reply hw__post_acknowledge(hw__request *request);
hw__reply hw__get_events(hw__request *request);
/* advice.c */
hw__reply hw__get_advice(hw__request *request);
/* engine.c */
hw__reply hw__get_posterior(hw__request *request);
hw__reply hw__get_forecast(hw__request *request);
hw__reply hw__get_plume(hw__request *request);
/* export.c */
hw__reply hw__get_incident_readings(hw__request *request);
hw__reply hw__get_export(hw__request *request);
hw__reply hw__get_bulletin(hw__request *request);
/* stream.c */
hw__reply hw__get_stream(hw__request *request);
/* operations.c */
hw__reply hw__get_metrics(hw__request *request);
/* What `write` writes of the service, for Prometheus. */
hw__reply hw__reply_metrics(void (*write)(void *context, FILE *out), hw__service *service);
hw__reply hw__get_health(hw__request *request);
hw__reply hw__get_ready(hw__request *request);
/* river_metrics.c */
hw__reply hw__get_river_metrics(hw__request *request);
/* assets.c */
hw__reply hw__get_asset(hw__request *request);

/* Take a body of readings in. *ingest comes with what the query says of river and ticks; it is to be cleared by
 * hw__ingest_clear. True: every row has its fate, and what was accepted is durable. False: nothing was stored, and
 * *refusal says why. */
bool hw__take_readings(const hw__request *request, hw__body_kind kind, hw__ingest *ingest, hw__reply *refusal);
/* How many rows have a fate that was refused. */
uint64_t hw__rejected(const hw__ingest *ingest);

/* Which of this river's sensors the query asks for: `limit` of them, behind the one named `after`. False: *refusal. */
bool hw__query_page(const hw__request *request, const hw__site *site, hw__sensor_page *out, hw__reply *refusal);
/* A river's places as GeoJSON, the sensors of the page that the query asks for; incident (as hw__show_incident shows
 * it, borrowed) may be NULL. */
hw__reply hw__reply_places(const hw__request *request, const hw__site *site, const json_t *incident);

/* The incident a route's {} names: its number, or 0 when it is none. */
int64_t hw__captured_incident(const hw__request *request);

#endif
