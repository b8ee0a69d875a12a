#include "live/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "incidents/search_window.h"
#include "live/present.h"

hw__time_base hw__river_time_base(hw__service *service, size_t site) {
  /* The river's first reading decides it and it never changes, so it is read once. */
  hw__time_base base = (hw__time_base)atomic_load(&service->time_bases[site]);
  hw__db *db = base == HW_TIME_UNSET ? hw__store_reader(service->store) : NULL;
  if (db) {
    hw__db_time_base(db, hw__catalog_site(service->catalog, site)->key, &base);
    hw__store_return(service->store, db);
    atomic_store(&service->time_bases[site], (int)base);
  }
  return base;
}

const char *hw__sensor_state(const hw__detector *d, double present) {
  return d->readings == 0                   ? "no data"
         : hw__sensor_is_silent(d, present) ? "silent"
         : d->alarm                         ? "alarm"
         : !isfinite(d->background_g_m3)    ? "learning"
                                            : "quiet";
}

/* The id of a place's branch; null on a river without branches. */
static json_t *show_branch(const hw_river *river, size_t branch) {
  return branch < river->branch_count ? json_string(river->branches[branch].id) : json_null();
}

static json_t *show_branches(const hw_river *river) {
  json_t *list = json_array();
  for (size_t i = 0; i < river->branch_count; i++) {
    const hw_branch *b = &river->branches[i];
    const bool outlet = b->joins == HW_OUTLET;
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:[o, o]}", "id", b->id, "name", b->name, "head_m",
                        hw__real(b->head_m), "joins", outlet ? json_null() : json_string(river->branches[b->joins].id),
                        "joins_at_m", hw__real(outlet ? (double)NAN : b->joins_at_m), "search_m",
                        hw__real(b->search_lo_m), hw__real(b->search_hi_m)));
  }
  return list;
}

static json_t *show_sensor(hw__service *service, hw__place place, double present, bool calendar) {
  const hw_river *river = &hw__catalog_site(service->catalog, place.site)->river;
  const hw_sensor *sensor = &river->sensors[place.sensor];
  const hw__detector d = hw__tracker_detector(service->processing.tracker, place);
  return json_pack(
      "{s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "id", sensor->id, "name",
      sensor->name, "branch", show_branch(river, sensor->branch), "location_m", hw__real(sensor->location_m), "state",
      hw__sensor_state(&d, present), "latest_s", hw__real(d.latest_s), "latest", hw__instant(calendar, d.latest_s),
      "latest_g_m3", hw__real(d.latest_g_m3), "age_s", hw__real(present - d.latest_s), "interval_s",
      hw__real(d.readings > 1 ? d.interval_s : (double)NAN), "background_g_m3", hw__real(d.background_g_m3),
      "noise_g_m3", hw__real(hw__detect_noise(&d, sensor)), "readings", (json_int_t)d.readings, "detection_limit_g_m3",
      hw__real(sensor->detection_limit_g_m3 > 0 ? sensor->detection_limit_g_m3 : (double)NAN), "noise_relative",
      hw__real(sensor->noise_relative), "noise_absolute_g_m3", hw__real(sensor->noise_absolute_g_m3));
}

static json_t *show_quantity(const hw_quantity *q) {
  return q->certainty == HW_KNOWN       ? hw__real(q->value)
         : q->certainty == HW_UNCERTAIN ? json_pack("{s:f, s:f}", "median", q->value, "factor", q->factor)
                                        : json_string("unknown");
}

static json_t *show_places(const hw_river *river, bool intakes) {
  json_t *list = json_array();
  for (size_t i = 0; i < (intakes ? river->intake_count : river->candidate_count); i++) {
    if (intakes) {
      const hw_intake *in = &river->intakes[i];
      json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:o}", "id", in->id, "name", in->name, "branch",
                                            show_branch(river, in->branch), "location_m", hw__real(in->location_m),
                                            "alarm_g_m3", hw__real(in->alarm_g_m3 > 0 ? in->alarm_g_m3 : (double)NAN)));
    } else {
      const hw_candidate *c = &river->candidates[i];
      json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:o}", "id", c->id, "name", c->name, "branch",
                                            show_branch(river, c->branch), "location_m", hw__real(c->location_m),
                                            "extent_m", hw__real(c->extent_m)));
    }
  }
  return list;
}

static json_t *show_gauges(const hw_river *river) {
  json_t *list = json_array();
  for (size_t i = 0; i < river->gauge_count; i++) {
    const hw_gauge *g = &river->gauges[i];
    json_array_append_new(list,
                          json_pack("{s:s, s:o, s:o}", "id", g->id, "location_m", hw__real(g->location_m), "branch",
                                    river->branch_count ? json_string(river->branches[g->branch].id) : json_null()));
  }
  return list;
}

static void add_configuration(json_t *root, const hw_river *river) {
  const hw_hydraulics *h = &river->hydraulics;
  json_t *reaches = json_array();
  for (size_t i = 0; i < river->reach_count; i++) {
    const hw_reach *r = &river->reaches[i];
    json_array_append_new(reaches, json_pack("{s:o, s:o, s:o, s:o, s:o}", "to_m", hw__real(r->to_m), "velocity_m_s",
                                             hw__real(r->velocity_m_s), "dispersion_m2_s", hw__real(r->dispersion_m2_s),
                                             "area_m2", hw__real(r->area_m2), "decay_per_s", hw__real(r->decay_per_s)));
  }
  json_object_set_new(root, "reaches", reaches);
  json_object_set_new(
      root, "hydraulics",
      json_pack("{s:o, s:o, s:o, s:o, s:o}", "velocity_m_s", show_quantity(&h->velocity_m_s), "dispersion_m2_s",
                show_quantity(&h->dispersion_m2_s), "area_m2", hw__real(h->area_m2 > 0 ? h->area_m2 : (double)NAN),
                "discharge_m3_s", hw__real(h->discharge_m3_s > 0 ? h->discharge_m3_s : (double)NAN), "decay_per_s",
                hw__real(h->decay_per_s)));
  const hw_box *box = &river->search;
  json_object_set_new(
      root, "search",
      json_pack("{s:[o, o], s:[o, o], s:[o, o]}", "mass_g", hw__real(box->lo.mass_g), hw__real(box->hi.mass_g),
                "location_m", hw__real(box->lo.location_m), hw__real(box->hi.location_m), "time_s",
                hw__real(box->lo.time_s), hw__real(box->hi.time_s)));
}

json_t *hw__show_remarks(const hw_river *river, bool calendar, double present_s) {
  char sentence[320];
  const bool stale = calendar && hw__search_excludes(river, present_s, sentence, sizeof sentence);
  return stale ? json_pack("[s+]", "An incident now would get no answer: ", sentence) : json_array();
}

json_t *hw__show_river(hw__service *service, size_t index, hw__sensor_page page, bool brief) {
  const hw__site *site = hw__catalog_site(service->catalog, index);
  const hw__time_base base = hw__river_time_base(service, index);
  const bool calendar = base == HW_TIME_CALENDAR;
  const double present = hw__present_s(service, index);
  const size_t count = site->river.sensor_count, from = page.from < count ? page.from : count;
  const size_t shown = page.most < count - from ? page.most : count - from;
  json_t *sensors = json_array();
  for (size_t s = from; s < from + shown; s++) {
    json_array_append_new(sensors, show_sensor(service, (hw__place){index, s}, present, calendar));
  }
  json_t *root = json_pack(
      "{s:s, s:s, s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:b}", "id", site->id, "name", site->river.name,
      "time_base",
      calendar                   ? "calendar"
      : base == HW_TIME_RELATIVE ? "relative"
                                 : "unset",
      "present_s", hw__real(present), "present", hw__instant(calendar, present), "sensors", sensors, "sensors_more",
      from + shown < count, "candidates", show_places(&site->river, false), "intakes", show_places(&site->river, true),
      "gauges", show_gauges(&site->river), "branches", show_branches(&site->river), "remarks",
      hw__show_remarks(&site->river, calendar, present), "has_centerline", hw__site_is_mapped(site));
  if (root && !brief) {
    add_configuration(root, &site->river);
  }
  return root;
}

json_t *hw__show_reading(const hw__service *service, const hw__log_record *record, bool calendar) {
  hw__place place;
  if (hw__catalog_place(service->catalog, record->sensor, &place) != HW_OK) {
    return NULL;
  }
  const hw__site *site = hw__catalog_site(service->catalog, place.site);
  if (record->kind == HW_RECORD_DISCHARGE) {
    return json_pack("{s:I, s:s, s:s, s:o, s:o, s:o}", "seq", (json_int_t)record->seq, "river", site->id, "gauge",
                     hw__site_name(site, place), "time_s", hw__real(record->time_s), "time",
                     hw__instant(calendar, record->time_s), "discharge_m3_s", hw__real(record->concentration_g_m3));
  }
  return json_pack("{s:I, s:s, s:s, s:o, s:o, s:o, s:b, s:b}", "seq", (json_int_t)record->seq, "river", site->id,
                   "sensor", hw__site_name(site, place), "time_s", hw__real(record->time_s), "time",
                   hw__instant(calendar, record->time_s), "concentration_g_m3", hw__real(record->concentration_g_m3),
                   "below_limit", record->below_limit, "above_limit", record->above_limit);
}

json_t *hw__show_track(const hw__track *t) {
  json_t *interval = t->has_interval
                         ? json_pack("{s:[o, o], s:[o, o], s:[o, o]}", "mass_g", hw__real(t->interval.lo.mass_g),
                                     hw__real(t->interval.hi.mass_g), "location_m", hw__real(t->interval.lo.location_m),
                                     hw__real(t->interval.hi.location_m), "time_s", hw__real(t->interval.lo.time_s),
                                     hw__real(t->interval.hi.time_s))
                         : json_null();
  const char *trust = hw_trust_text(t->trust);
  return json_pack("{s:I, s:o, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "seq", (json_int_t)t->seq,
                   "reading_s", hw__real(t->reading_s), "readings", (json_int_t)t->readings, "provisional",
                   t->provisional, "trust", trust ? json_string(trust) : json_null(), "spill", hw__real(t->spill),
                   "mass_g", hw__real(t->source.mass_g), "branch", t->branch[0] ? json_string(t->branch) : json_null(),
                   "location_m", hw__real(t->source.location_m), "time_s", hw__real(t->source.time_s), "duration_s",
                   hw__real(t->duration_s.mid), "interval", interval);
}

json_t *hw__show_event(const hw__service *service, const hw__event *event) {
  const ptrdiff_t site = hw__catalog_site_of_key(service->catalog, event->river);
  json_t *body = hw__json_read(event->body, strlen(event->body));
  return json_pack("{s:I, s:s, s:I, s:s, s:I, s:s, s:o, s:o}", "id", (json_int_t)event->id, "kind", event->kind,
                   "incident", (json_int_t)event->incident, "river",
                   site >= 0 ? hw__catalog_site(service->catalog, (size_t)site)->id : "", "seq", (json_int_t)event->seq,
                   "subject", event->subject, "at", hw__instant_us(event->at_us), "body", body ? body : json_null());
}

/* The result with all its keys: null where a former version did not know them, or before the first estimate. NULL
 * without memory, because a stored estimate must not be shown as missing. */
static json_t *show_result(hw__db *db, const hw__incident *i, const hw__site *site) {
  const hw_river nameless = {0};
  const hw_result unknown = {.river = site ? &site->river : &nameless, .method = i->method, .seed = i->seed};
  char *keys = NULL, *text = NULL;
  json_t *root = NULL, *told = NULL;
  bool starved =
      hw_result_json(&unknown, true, &keys) != HW_OK || hw__json_load(keys, strlen(keys), 0, &root, NULL) != HW_OK;
  starved = starved || (hw__db_result(db, i->id, &text) == HW_DB_OK &&
                        hw__json_load(text, strlen(text), 0, &told, NULL) == HW_ENOMEM);
  starved = starved || (told && json_object_update(root, told) != 0);
  json_decref(told);
  free(keys);
  free(text);
  if (starved) {
    json_decref(root);
    return NULL;
  }
  return root;
}

json_t *hw__show_incident_briefly(hw__service *service, hw__db *db, const hw__incident *i) {
  const ptrdiff_t index = hw__catalog_site_of_key(service->catalog, i->river);
  const hw__site *site = index >= 0 ? hw__catalog_site(service->catalog, (size_t)index) : NULL;
  hw__time_base base = HW_TIME_UNSET;
  hw__db_time_base(db, i->river, &base);
  const bool calendar = base == HW_TIME_CALENDAR;
  hw__place place;
  const bool by_sensor = i->sensor && hw__catalog_place(service->catalog, i->sensor, &place) == HW_OK;
  return json_pack(
      "{s:I, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "id", (json_int_t)i->id,
      "river_id", site ? site->id : "", "state", i->closed_seq ? "closed" : "open", "sensor",
      by_sensor ? json_string(hw__site_name(hw__catalog_site(service->catalog, place.site), place)) : json_null(),
      "opened_s", hw__real(i->opened_s), "opened", hw__instant(calendar, i->opened_s), "onset_s", hw__real(i->onset_s),
      "onset", hw__instant(calendar, i->onset_s), "from_s", hw__real(i->from_s), "origin_s", hw__real(i->origin_s),
      "noticed", hw__instant_us(i->opened_us), "closed_s", i->closed_seq ? hw__real(i->closed_s) : json_null(),
      "closed", hw__instant(calendar && i->closed_seq, i->closed_s), "close_reason",
      i->closed_seq ? json_string(i->reason) : json_null(), "seq", (json_int_t)i->result_seq, "engine",
      (json_int_t)i->engine);
}

json_t *hw__show_incident(hw__service *service, hw__db *db, const hw__incident *i) {
  const ptrdiff_t index = hw__catalog_site_of_key(service->catalog, i->river);
  json_t *root = show_result(db, i, index >= 0 ? hw__catalog_site(service->catalog, (size_t)index) : NULL);
  if (root) {
    json_object_update_new(root, hw__show_incident_briefly(service, db, i));
    json_object_set_new(root, "alarms", hw__show_alarms(db, i));
  }
  return root;
}
