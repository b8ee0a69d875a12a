#include "incidents/alarms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* A window that moves by less than this, or by less than a quarter of its length, makes no difference to whoever
 * closes a gate. */
static const double least_move_s = 900;

static json_t *trust_of(const hw_estimate *e) {
  const char *text = hw_trust_text(e->trust);
  return text ? json_string(text) : json_null();
}

/* ", provisional" and the like, for sentences. */
static const char *mark_of(const hw_estimate *e) {
  return e->provisional ? "; provisional" : "";
}

/* Never 0 % and never 100 %: no method is that sure. */
static const char *percent_text(double probability, char out[24]) {
  if (probability > 0.994) {
    snprintf(out, 24, "more than 99 %%");
  } else if (probability < 0.006) {
    snprintf(out, 24, "less than 1 %%");
  } else {
    snprintf(out, 24, "%.0f %%", round(100 * probability)); /* half a unit goes up, as everywhere */
  }
  return out;
}

/* --- candidates --- */

static double probability_of(const hw_estimate *e, size_t candidate) {
  for (size_t i = 0; i < e->suspicion_count; i++) {
    if (e->suspicions[i].candidate == (ptrdiff_t)candidate) {
      return e->suspicions[i].probability;
    }
  }
  return 0;
}

static void candidate_sentence(const hw_candidate *c, double probability, bool withdraw, const hw_estimate *e,
                               char *out, size_t size) {
  const char *name = c->name[0] ? c->name : c->id;
  char percent[24];
  if (e->trust == HW_TRUST_NONE) {
    snprintf(out, size, "%s: the suspicion stands, its probability is not known: the readings cannot be explained.",
             name);
  } else {
    snprintf(out, size,
             withdraw ? "%s is no longer suspected: probability %s%s." : "%s is the source with a probability of %s%s.",
             name, percent_text(probability, percent), mark_of(e));
  }
}

/* An answer that is not trusted neither raises nor withdraws anything; whoever was told of a suspect is told that. */
static void tell_candidate(hw__outcome *outcome, hw__engine *engine, const hw__log_record *record, const hw_estimate *e,
                           size_t index) {
  const hw_candidate *c = &engine->site->river.candidates[index];
  hw__alarm *alarm = &engine->candidates[index];
  const bool trusted = e->trust != HW_TRUST_NONE;
  const double probability = trusted ? probability_of(e, index) : NAN, wanted = engine->options.candidate_probability;
  const bool withdraw = alarm->raised && probability < wanted / 2;
  if (alarm->raised ? !withdraw && e->trust == alarm->trust : !(probability >= wanted)) {
    return;
  }
  char sentence[320];
  candidate_sentence(c, probability, withdraw, e, sentence, sizeof sentence);
  const hw__event_kind kind = withdraw        ? HW_EVENT_CANDIDATE_WITHDRAWN
                              : alarm->raised ? HW_EVENT_CANDIDATE_CHANGED
                                              : HW_EVENT_CANDIDATE;
  alarm->raised = !withdraw;
  alarm->trust = e->trust;
  hw__outcome_event(
      outcome, engine, record, kind, c->id,
      json_pack("{s:s, s:s, s:o, s:b, s:o, s:s}", "candidate", c->id, "name", c->name, "probability",
                hw__real(probability), "provisional", e->provisional, "trust", trust_of(e), "sentence", sentence));
}

/* --- intakes --- */

static void clock_text(const hw__engine *engine, double time_s, char *out, size_t size) {
  char instant[48];
  if (!engine->calendar) {
    const double minutes = round(fabs(time_s) / 60); /* as the text has it */
    snprintf(out, size, "t = %s%.0f h %02.0f min", time_s < 0 && minutes > 0 ? "-" : "", floor(minutes / 60),
             fmod(minutes, 60));
    return;
  }
  hw_time_format(60 * round(time_s / 60), instant, sizeof instant);
  snprintf(out, size, "%.10s %.5s UTC", instant, strlen(instant) > 11 ? instant + 11 : "");
}

static void intake_sentence(const hw__engine *engine, const hw_intake *intake, const hw_arrival *a,
                            const hw__alarm *now, const hw_estimate *e, char *out, size_t size) {
  const char *name = intake->name[0] ? intake->name : intake->id;
  char from[64], until[64], percent[24];
  clock_text(engine, now->from_s, from, sizeof from);
  clock_text(engine, now->until_s, until, sizeof until);
  if (e->trust == HW_TRUST_NONE) {
    snprintf(out, size, "%s: the alarm stands, its times are not known: the readings cannot be explained.", name);
  } else if (!now->raised) {
    const bool forecast = isfinite(a->exceeds_alarm); /* not where no spill is seen any more */
    snprintf(out, size, "%s: the alarm is withdrawn%s%s%s.", name, forecast ? ", probability now " : "",
             forecast ? percent_text(a->exceeds_alarm, percent) : "", mark_of(e));
  } else {
    snprintf(out, size, "%s: close from %s until %s, probability %s%s.", name, from, until,
             percent_text(a->exceeds_alarm, percent), mark_of(e));
  }
}

static bool has_moved(const hw__alarm *told, const hw__alarm *now) {
  const double enough = fmax(least_move_s, 0.25 * (told->until_s - told->from_s));
  const bool known = isfinite(now->from_s) && isfinite(now->until_s);
  const bool was_known = isfinite(told->from_s) && isfinite(told->until_s);
  return known != was_known ||
         (known && (fabs(now->from_s - told->from_s) > enough || fabs(now->until_s - told->until_s) > enough));
}

/* Is there anything new to report to the intake? Then what, and as which kind of event. */
static bool news_of(const hw__engine *engine, const hw_arrival *a, const hw_estimate *e, const hw__alarm *told,
                    hw__alarm *now, hw__event_kind *kind) {
  const double wanted = engine->options.intake_probability;
  *now = (hw__alarm){.raised = told->raised,
                     .from_s = a->first_s.lo + engine->incident.origin_s,
                     .until_s = a->last_s.hi + engine->incident.origin_s,
                     .trust = e->trust};
  if (e->trust != HW_TRUST_NONE && !told->raised && a->exceeds_alarm >= wanted) {
    now->raised = true;
    *kind = HW_EVENT_INTAKE_ALARM;
    return true;
  }
  if (e->trust != HW_TRUST_NONE && told->raised && !(a->exceeds_alarm >= wanted / 2)) {
    now->raised = false;
    *kind = HW_EVENT_INTAKE_ALARM_WITHDRAWN;
    return true;
  }
  *kind = HW_EVENT_INTAKE_ALARM_CHANGED;
  return told->raised && (has_moved(told, now) || now->trust != told->trust);
}

static hw_arrival arrival_at(const hw_estimate *e, size_t intake) {
  const hw_range never = {NAN, NAN, NAN};
  for (size_t i = 0; i < e->arrival_count; i++) {
    if (e->arrivals[i].intake == intake) {
      return e->arrivals[i];
    }
  }
  return (hw_arrival){intake, never, never, never, never, NAN};
}

static void tell_intake(hw__outcome *outcome, hw__engine *engine, const hw__log_record *record, const hw_estimate *e,
                        size_t index) {
  const hw_intake *intake = &engine->site->river.intakes[index];
  const hw_arrival a = arrival_at(e, index);
  const double origin = engine->incident.origin_s;
  hw__alarm now;
  hw__event_kind kind;
  if (!news_of(engine, &a, e, &engine->intakes[index], &now, &kind)) {
    return;
  }
  char sentence[400];
  intake_sentence(engine, intake, &a, &now, e, sentence, sizeof sentence);
  engine->intakes[index] = now;
  hw__outcome_event(outcome, engine, record, kind, intake->id,
                    json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:s}", "intake",
                              intake->id, "name", intake->name, "exceeds_alarm", hw__real(a.exceeds_alarm), "first_s",
                              hw__real(a.first_s.mid + origin), "peak_s", hw__real(a.peak_s.mid + origin), "last_s",
                              hw__real(a.last_s.mid + origin), "from_s", hw__real(now.from_s), "until_s",
                              hw__real(now.until_s), "from", hw__instant(engine->calendar, now.from_s), "until",
                              hw__instant(engine->calendar, now.until_s), "peak_g_m3", hw__real(a.peak_g_m3.mid),
                              "provisional", e->provisional, "trust", trust_of(e), "sentence", sentence));
}

void hw__alarms_tell(hw__outcome *outcome, hw__engine *engine, const hw__log_record *record, const hw_estimate *e) {
  const hw_river *river = &engine->site->river;
  for (size_t i = 0; i < river->candidate_count; i++) {
    tell_candidate(outcome, engine, record, e, i);
  }
  for (size_t i = 0; i < river->intake_count; i++) {
    tell_intake(outcome, engine, record, e, i);
  }
}

/* --- after a restart --- */

static double number_in(const json_t *body, const char *key) {
  const json_t *value = json_object_get(body, key);
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static hw_trust trust_in(const json_t *body) {
  const char *word = json_string_value(json_object_get(body, "trust"));
  hw_trust trust = HW_TRUST_UNJUDGED;
  for (int t = HW_TRUST_FULL; word && t <= HW_TRUST_NONE; t++) {
    trust = strcmp(word, hw_trust_text((hw_trust)t)) == 0 ? (hw_trust)t : trust;
  }
  return trust;
}

static void recall(const hw__engine *engine, hw__db *db, hw__event_kind kind, const char *subject, hw__alarm *out) {
  hw__event last;
  *out = (hw__alarm){.from_s = NAN, .until_s = NAN};
  if (hw__db_last_event_of(db, engine->incident.id, kind, subject, &last) == HW_DB_OK) {
    json_t *body = NULL;
    /* Without a readable body all that is known is that the alarm is raised. */
    hw__json_load(last.body, strlen(last.body), 0, &body, NULL);
    *out = (hw__alarm){.raised = !hw__event_withdraws(&last),
                       .from_s = number_in(body, "from_s"),
                       .until_s = number_in(body, "until_s"),
                       .trust = trust_in(body)};
    json_decref(body);
    free(last.body);
  }
}

void hw__alarms_recall(hw__engine *engine, hw__db *db) {
  const hw_river *river = &engine->site->river;
  for (size_t i = 0; i < river->candidate_count; i++) {
    recall(engine, db, HW_EVENT_CANDIDATE, river->candidates[i].id, &engine->candidates[i]);
  }
  for (size_t i = 0; i < river->intake_count; i++) {
    recall(engine, db, HW_EVENT_INTAKE_ALARM, river->intakes[i].id, &engine->intakes[i]);
  }
}
