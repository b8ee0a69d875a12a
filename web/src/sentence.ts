/* The sentence on top, and what it is made of: one pass from a result to words. */
import { concentration, duration, instant, km, mass, percent, shortInstant, type Unit } from "./format";
import type { Arrival, Incident, Intake, Result, River, Triple } from "./model";

/* Of a past incident: the service runs with --keep. */
export const FORGOTTEN = "The readings of this incident are no longer kept; its result and history are.";

/* The most probable facility, when there is one to name. */
export function suspect(river: River, result: Result): { name: string; probability: number } | null {
  const best = result.candidates.reduce<{ id: string | null; probability: number } | null>(
    (a, b) => (a && a.probability >= b.probability ? a : b), null);
  if (!best || best.id === null) return null;
  const candidate = river.candidates.find((c) => c.id === best.id);
  return { name: candidate?.name || best.id, probability: best.probability };
}

export interface Threat {
  intake: Intake;
  arrival: Arrival;
  first_s: number | null; /* on the readings' clock; null: the level is not expected to be passed */
  peak_s: number | null;
  window: Window | null;
  passed: boolean; /* the whole window is over, its doubt included */
}

/* From when until when the level is passed, each as the earliest, the middle and the latest. */
export interface Window {
  from: Triple;
  until: Triple;
}

/* Intakes in the path, the soonest first. */
export function threats(river: River, incident: Incident, now_s: number): Threat[] {
  const origin = incident.origin_s;
  const list: Threat[] = [];
  for (const arrival of incident.arrivals) {
    const intake = river.intakes.find((i) => i.id === arrival.id);
    if (!intake) continue;
    const first_s = arrival.first_s ? arrival.first_s[1] + origin : null;
    const peak_s = arrival.peak_s ? arrival.peak_s[1] + origin : null;
    const shifted = (t: Triple): Triple => [t[0] + origin, t[1] + origin, t[2] + origin];
    const window = arrival.first_s && arrival.last_s ? { from: shifted(arrival.first_s), until: shifted(arrival.last_s) } : null;
    const over_s = window ? window.until[2] : arrival.peak_s ? arrival.peak_s[2] + origin : Infinity;
    list.push({ intake, arrival, first_s, peak_s, window, passed: over_s < now_s });
  }
  const when = (t: Threat) => t.first_s ?? t.peak_s ?? Infinity;
  return list.sort((a, b) => when(a) - when(b));
}

/* Intakes below the source, for methods that forecast no arrival. */
export function below(river: River, incident: Incident): Intake[] {
  return river.intakes.filter((i) => incident.estimate !== null && i.location_m > incident.estimate.location_m);
}

/* Whole: what follows a comma may be all that tells two rivers apart. */
export const nameOf = (river: River) => river.name.trim() || river.id;

export type Harm = "exceeds" | "below" | "possible" | "unknown";

export function harm(threat: Threat): Harm {
  const p = threat.arrival.exceeds_alarm;
  if (p === null || threat.intake.alarm_g_m3 === null) return "unknown";
  return p >= 0.5 ? "exceeds" : p >= 0.05 ? "possible" : "below";
}

function nextClause(river: River, incident: Incident, now_s: number, unit: Unit): string {
  const ahead = threats(river, incident, now_s);
  const next = ahead.find((t) => !t.passed && t.first_s !== null && harm(t) !== "below") ?? ahead.find((t) => !t.passed);
  if (!ahead.length) {
    const names = below(river, incident).map((i) => i.name || i.id);
    return names.length ? ` Downstream of it: ${names.join(", ")}; ${incident.method} forecasts no arrival.` : "";
  }
  if (!next) return " It has passed every intake.";
  const name = next.intake.name || next.intake.id;
  const p = next.arrival.exceeds_alarm;
  if (next.first_s === null || harm(next) === "below") {
    return ` ${name} is in its path, but should stay below its alarm level.`;
  }
  const wait = next.first_s - now_s;
  const closed = next.window && harm(next) === "exceeds" ? ` Close from ${shortInstant(river, next.window.from[0])} until ${shortInstant(river, next.window.until[2])}.` : "";
  const when = wait > 60 ? `is expected to reach ${name} in ${duration(wait)}` : `is expected to be passing ${name} now`;
  if (next.intake.alarm_g_m3 === null || p === null) return ` It ${when}.`;
  return ` It ${when}, and to exceed the alarm level of ${concentration(next.intake.alarm_g_m3, unit)} with ${percent(p)} probability.${closed}`;
}

/* Why there is no source: the readings are not explained, no spill is seen, or it is too early to say. */
export type Silence = "unexplained" | "no spill" | "too early";

export function silence(incident: Incident): Silence {
  return incident.trust === "none" ? "unexplained" : incident.readings > 0 && typeof incident.spill === "number" ? "no spill" : "too early";
}

/* The method's own sentence, ended as one. */
const reason = (incident: Incident) => (incident.trust_reason ?? "").replace(/[.\s]*$/, "");

export function silenceSentence(incident: Incident): string {
  const spill = incident.spill ?? 0;
  const why = reason(incident);
  switch (silence(incident)) {
    case "unexplained":
      return `the readings cannot be explained${why ? `: ${why}` : ""}. No source is given.`;
    case "no spill":
      return `no spill is seen in ${incident.readings} readings; the probability of one is ${percent(spill)}.`;
    default:
      return incident.state === "closed" ? "no source was found." : "the source is being worked out.";
  }
}

const CLOSED: Record<string, string> = {
  passed: "Closed, the pulse has passed.",
  expired: "Closed after thirty days.",
  "closed by hand": "Closed by hand.",
};

export function spillSentence(river: River, incident: Incident, now_s: number, unit: Unit): string {
  const closed = incident.state === "closed";
  const over = closed ? `${CLOSED[incident.close_reason ?? ""] ?? "Closed."} ` : "";
  if (!incident.estimate) {
    const cause = incident.sensor === null ? "an incident was opened by hand" : `readings at ${incident.sensor} have left their background`;
    return `${over}${nameOf(river)}: ${cause}; ${silenceSentence(incident)}`;
  }
  const e = incident.estimate;
  const span = incident.interval ? incident.interval.location_m[1] - incident.interval.location_m[0] : Infinity;
  const who = suspect(river, incident);
  const place = who && who.probability >= 0.5 ? `${who.name} (${percent(who.probability)}), river km ${km(e.location_m, span)}` : `river km ${km(e.location_m, span)}`;
  const doubt = incident.provisional ? "still provisional, " : "";
  const when = instant(river, e.time_s + incident.origin_s);
  return `${over}${nameOf(river)}: ${doubt}about ${mass(e.mass_g)} most likely entered at ${place}, ${river.time_base === "relative" ? "at" : "on"} ${when}.${closed ? "" : nextClause(river, incident, now_s, unit)}`;
}

export function calmSentence(rivers: River[]): string {
  const sensors = rivers.flatMap((r) => r.sensors);
  const count = (state: string) => sensors.filter((s) => s.state === state).length;
  const where = rivers.length === 1 ? `on ${nameOf(rivers[0]!)}` : `on any of ${rivers.length} rivers`;
  const silent = count("silent");
  const never = count("no data");
  const learning = count("learning");
  const parts = [`No spill is known ${where}.`];
  if (silent) parts.push(`${silent} of ${sensors.length} sensors ${silent === 1 ? "is" : "are"} silent.`);
  if (never) parts.push(never === sensors.length ? "No readings have come in yet." : `${never} of ${sensors.length} sensors ${never === 1 ? "has" : "have"} not reported yet.`);
  if (learning) parts.push(`${learning} ${learning === 1 ? "sensor is" : "sensors are"} still learning the background.`);
  if (!silent && !never && !learning) parts.push(sensors.length === 1 ? "The sensor is quiet." : sensors.length === 2 ? "Both sensors are quiet." : `All ${sensors.length} sensors are quiet.`);
  return parts.join(" ");
}
