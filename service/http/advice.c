/* GET /v1/incidents/{id}/advice: where and when to take the next sample. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "http/handlers.h"
#include "live/present.h"
#include "live/show.h"

typedef struct {
  hw_advice_options options; /* times on the river's clock */
  bool now_given;
  hw__service *service;
  hw__reply reply;
} question;

static void add_time(json_t *root, const char *name, const char *name_s, bool calendar, double time_s) {
  json_object_set_new(root, name_s, hw__real(time_s));
  json_object_set_new(root, name, hw__instant(calendar, time_s));
}

static json_t *show_spot(const hw_spot *s, const hw_river *river, bool calendar, double origin_s) {
  const bool named = s->branch < river->branch_count;
  json_t *root =
      json_pack("{s:o, s:o, s:[o, o], s:o, s:o, s:o, s:o}", "branch",
                named ? json_string(river->branches[s->branch].id) : json_null(), "location_m", hw__real(s->location_m),
                "stretch_m", hw__real(s->from_m), hw__real(s->to_m), "bits", hw__real(s->bits), "expected_g_m3",
                hw__range_json(&s->expected_g_m3), "seen", hw__real(s->seen), "region_m", hw__real(s->region_m));
  add_time(root, "time", "time_s", calendar, s->time_s + origin_s);
  add_time(root, "from", "from_s", calendar, s->from_s + origin_s);
  add_time(root, "until", "until_s", calendar, s->to_s + origin_s);
  return root;
}

/* advice NULL: there is nothing to advise on, and the refusal says why. */
static hw__reply show_advice(const hw_advice *advice, const char *refusal, const question *q,
                             const hw__solver_view *view) {
  const double origin_s = view->incident->origin_s;
  const bool calendar = view->result.calendar;
  hw_estimate e;
  const bool provisional =
      advice ? hw_advice_provisional(advice) : hw_run_estimate(view->run, &e) == HW_OK && e.provisional;
  json_t *places = json_array();
  for (size_t i = 0; advice && i < hw_advice_count(advice); i++) {
    json_array_append_new(places, show_spot(hw_advice_spot(advice, i), &view->site->river, calendar, origin_s));
  }
  json_t *root =
      json_pack("{s:s, s:I, s:s, s:s, s:I, s:b, s:o, s:I, s:o, s:o, s:o, s:o}", "schema", "headwater.advice/1",
                "incident", (json_int_t)view->incident->id, "river", view->site->river.name, "question",
                hw_question_word(q->options.question), "seed", (json_int_t)view->incident->seed, "provisional",
                provisional, "delay_s", hw__real(q->options.delay_s), "crews", (json_int_t)q->options.crews,
                "entropy_bits", hw__real(advice ? hw_advice_entropy(advice) : (double)NAN), "region_m",
                hw__real(advice ? hw_advice_region(advice) : (double)NAN), "refusal",
                advice ? json_null() : json_string(refusal), "places", places);
  add_time(root, "now", "now_s", calendar, q->options.now_s + origin_s);
  return hw__reply_json(200, root);
}

static void look(void *context, const hw__solver_view *view) {
  question *q = context;
  hw_advice *advice = NULL;
  hw_error error = {""};
  if (!view->run) {
    return;
  }
  const ptrdiff_t site = hw__catalog_find(q->service->catalog, view->site->id);
  const double now_s = q->now_given ? q->options.now_s : hw__present_s(q->service, (size_t)site);
  q->options.now_s = now_s - view->incident->origin_s;
  q->options.seed = view->incident->seed;
  const hw_status status = hw_advise(view->run, &view->site->river, &q->options, &advice, &error);
  hw__reply reply;
  if (status == HW_OK || (status == HW_EEMPTY && *error.text)) {
    reply = show_advice(advice, error.text, q, view);
  } else if (status == HW_EUNSUPPORTED) {
    reply = hw__reply_error(409, "method %s has no samples to advise by", view->incident->method);
  } else if (status == HW_ENOMEM) {
    reply = hw__reply_later("no memory for this now: ask again");
  } else {
    reply = hw__reply_error(409, "%s", hw_status_text(status));
  }
  hw_advice_free(advice);
  free(q->reply.text);
  q->reply = reply;
}

/* The question of this word; HW_QUESTION_COUNT: none. NULL stands for the place. */
static hw_question question_of(const char *word) {
  unsigned found = 0;
  while (word && found < HW_QUESTION_COUNT && strcmp(hw_question_word((hw_question)found), word) != 0) {
    found++;
  }
  return (hw_question)found;
}

/* ?for=place|who|intake &crews=N &delay=S &now=T */
hw__reply hw__get_advice(hw__request *request) {
  question q = {.service = request->service, .options.question = question_of(hw__query(request, "for"))};
  double crews;
  if (q.options.question == HW_QUESTION_COUNT || !hw__query_number(request, "crews", 1, &crews) || !(crews >= 1) ||
      crews > 8 || !hw__query_number(request, "delay", 0, &q.options.delay_s) || !(q.options.delay_s >= 0) ||
      !hw__query_time(request, "now", 0, &q.options.now_s) || !isfinite(q.options.now_s)) {
    return hw__reply_error(400,
                           "for: expected place, who or intake; crews: 1 to 8; delay: seconds; now: seconds or "
                           "ISO 8601");
  }
  q.options.crews = (size_t)crews;
  q.now_given = hw__query(request, "now") != NULL;
  q.reply = hw__reply_error(409, "no estimate yet");
  const hw__db_status status =
      hw__solver_look(request->service->processing.solver, hw__captured_incident(request), look, &q);
  if (status != HW_DB_OK) {
    free(q.reply.text);
    return status == HW_DB_ABSENT ? hw__reply_error(404, "no incident '%.40s'", request->captured[0])
                                  : hw__reply_db(status);
  }
  return q.reply;
}
