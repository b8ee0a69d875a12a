/* The sentence on top, and what it is made of: one pass from a result to words. */
import { warned } from "./alarms";
import { concentration, duration, instant, mass, percent, shortInstant, type Unit } from "./format";
import type { Arrival, Candidate, Incident, Intake, Pair, Result, River, RiverBrief, Triple } from "./model";
import { givenPlace, liesBelow, placeText, sensorName } from "./network";

/* Of a past incident: the service runs with --keep. */
export const FORGOTTEN = "The readings of this incident are no longer kept; its result and history are.";

/* How long the interval of the place is, which says how many of its digits mean something. */
export const spanOf = ({ interval }: { interval: { location_m: Pair } | null }) =>
  interval ? interval.location_m[1] - interval.location_m[0] : Infinity;

export interface Suspect {
  name: string;
  probability: number;
  candidate: Candidate | undefined;
}

/* Who is suspected of the release that the estimate is: of several, the largest. */
function suspicions(result: Result): Result["candidates"] {
  const several = result.releases && result.releases.length > 1 ? result.releases : [];
  const largest = several.find((r) => r.estimate && r.estimate.mass_g === result.estimate?.mass_g);
  return largest?.candidates ?? result.candidates;
}

/* The most probable facility of these, when there is one to name. */
export function suspectOf(river: River, candidates: Result["candidates"]): Suspect | null {
  const best = candidates.reduce<{ id: string | null; probability: number } | null>(
    (a, b) => (a && a.probability >= b.probability ? a : b),
    null,
  );
  if (!best || best.id === null) return null;
  const candidate = river.candidates.find((c) => c.id === best.id);
  return { name: candidate?.name || best.id, probability: best.probability, candidate };
}

export function suspect(river: River, result: Result): Suspect | null {
  return suspectOf(river, suspicions(result));
}

const APART_M = 1000;

/* Where the suspect lies, when that is not where the readings alone put the source. */
export function suspectApart(river: River, result: Result, candidate: Candidate | undefined): string | null {
  const e = result.estimate;
  if (!e || !candidate) return null;
  const near = Math.abs(candidate.location_m - e.location_m) <= Math.max(APART_M, candidate.extent_m ?? 0);
  return near && (e.branch ?? null) === (candidate.branch ?? null) ? null : givenPlace(river, candidate);
}

export interface Threat {
  intake: Intake;
  arrival: Arrival;
  first_s: number | null; /* on the readings' clock; null: the level is not expected to be passed */
  peak_s: number | null;
  window: Window | null;
  passed: boolean; /* the whole window is over, its doubt included */
  told: boolean; /* its alarm was raised, and stands */
}

/* From when until when the level is passed, each as the earliest, the middle and the latest. */
export interface Window {
  from: Triple;
  until: Triple;
}

/* Intakes in the path, the soonest first. */
export function threats(river: River, incident: Incident, now_s: number): Threat[] {
  const origin = incident.origin_s;
  const told = warned(incident);
  const list: Threat[] = [];
  for (const arrival of incident.arrivals) {
    const intake = river.intakes.find((i) => i.id === arrival.id);
    if (!intake) continue;
    const first_s = arrival.first_s ? arrival.first_s[1] + origin : null;
    const peak_s = arrival.peak_s ? arrival.peak_s[1] + origin : null;
    const shifted = (t: Triple): Triple => [t[0] + origin, t[1] + origin, t[2] + origin];
    const window =
      arrival.first_s && arrival.last_s ? { from: shifted(arrival.first_s), until: shifted(arrival.last_s) } : null;
    const over_s = window ? window.until[2] : arrival.peak_s ? arrival.peak_s[2] + origin : Infinity;
    list.push({ intake, arrival, first_s, peak_s, window, passed: over_s < now_s, told: told.has(intake.id) });
  }
  const when = (t: Threat) => t.first_s ?? t.peak_s ?? Infinity;
  return list.sort((a, b) => when(a) - when(b));
}

/* Intakes below the source, for methods that forecast no arrival. */
export function below(river: River, incident: Incident): Intake[] {
  const source = incident.estimate;
  return source ? river.intakes.filter((i) => liesBelow(river, source, i)) : [];
}

/* Whole: what follows a comma may be all that tells two rivers apart. */
export const nameOf = (river: { id: string; name: string }) => river.name.trim() || river.id;

/* Sensors by their names, where the method's own sentences have their ids. */
function namedSensors(river: River, text: string): string {
  return text.replace(/\b(sensors?|at|and) ([^\s:,;]*[^\s:,;.])/g, (whole, word: string, id: string) => {
    const sensor = river.sensors.find((s) => s.id === id);
    return sensor ? `${word} ${sensorName(sensor)}` : whole;
  });
}

/* A warning of the method with its seconds as a time that people read, and its grammes as the page's unit. */
function plainWarning(river: River, incident: Incident, unit: Unit, text: string): string {
  const timed = text.replace(
    / at (-?\d+) s\b/g,
    (_, s: string) => ` at ${shortInstant(river, Number(s) + incident.origin_s)}`,
  );
  const measured = timed.replace(/(\d[\d.]*(?:e[-+]\d+)?) g\/m3/g, (_, c: string) => concentration(Number(c), unit));
  return namedSensors(river, measured);
}

/* All of them; what is the same of several sensors is said once. */
export function plainWarnings(river: River, incident: Incident, unit: Unit): string[] {
  const same = new Map<string, string[]>();
  const lines: string[] = [];
  for (const warning of incident.warnings) {
    const text = plainWarning(river, incident, unit, warning);
    const sensor = river.sensors.find((s) => text.startsWith(`sensor ${sensorName(s)} never `));
    if (!sensor) {
      lines.push(text);
      continue;
    }
    const name = sensorName(sensor);
    const what = text.slice(`sensor ${name} `.length);
    if (!same.has(what)) same.set(what, []);
    same.get(what)!.push(name);
  }
  for (const [what, names] of same)
    lines.push(
      names.length === 1
        ? `sensor ${names[0]} ${what}`
        : `${names.length} sensors ${manyOf(what)}: ${names.join(", ")}`,
    );
  return lines;
}

/* "never rose above its background" of several. */
const manyOf = (what: string) => what.replace(/\bits\b/g, "their");

export type Harm = "exceeds" | "below" | "possible" | "unknown";

export function harm(threat: Threat): Harm {
  const p = threat.arrival.exceeds_alarm;
  if (p === null || threat.intake.alarm_g_m3 === null) return "unknown";
  return p >= 0.5 || threat.told ? "exceeds" : p >= 0.05 ? "possible" : "below";
}

function nextClause(river: River, incident: Incident, now_s: number, unit: Unit): string {
  const ahead = threats(river, incident, now_s);
  const next =
    ahead.find((t) => !t.passed && t.first_s !== null && harm(t) !== "below") ?? ahead.find((t) => !t.passed);
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
  const closed =
    next.window && harm(next) === "exceeds"
      ? ` Close from ${shortInstant(river, next.window.from[0])} until ${shortInstant(river, next.window.until[2])}.`
      : "";
  const when =
    wait > 60 ? `is expected to reach ${name} in ${duration(wait)}` : `is expected to be passing ${name} now`;
  if (next.intake.alarm_g_m3 === null || p === null) return ` It ${when}.`;
  const level = concentration(next.intake.alarm_g_m3, unit);
  return ` It ${when}, and to exceed the alarm level of ${level} with ${percent(p)} probability.${closed}`;
}

/* Why there is no source: the readings are not explained, no spill is seen, or it is too early to say. */
export type Silence = "unexplained" | "no spill" | "too early";

export function silence(incident: Incident): Silence {
  return incident.trust === "none"
    ? "unexplained"
    : incident.readings > 0 && typeof incident.spill === "number"
      ? "no spill"
      : "too early";
}

/* The method's own sentence, ended as one. */
const reason = (river: River, incident: Incident) =>
  namedSensors(river, incident.trust_reason ?? "").replace(/[.\s]*$/, "");

export function silenceSentence(river: River, incident: Incident): string {
  const spill = incident.spill ?? 0;
  const why = reason(river, incident);
  switch (silence(incident)) {
    case "unexplained":
      return `the readings cannot be explained${why ? `: ${why}` : ""}. No source is given.`;
    case "no spill":
      return `no spill is seen in ${incident.readings} readings; the probability of one is ${percent(spill)}.`;
    default:
      return incident.state === "closed" ? "no source was found." : "the source is being worked out.";
  }
}

/* An answer that is not trusted withdraws nothing. */
function standingClause(river: River, incident: Incident): string {
  const told = warned(incident);
  const names = river.intakes.filter((i) => told.has(i.id)).map((i) => i.name || i.id);
  if (incident.state === "closed" || silence(incident) !== "unexplained" || !names.length) return "";
  const list = names.join(", ");
  return names.length > 1
    ? ` The alarms for ${list} stand; their times are not known.`
    : ` The alarm for ${list} stands; its times are not known.`;
}

const CLOSED: Record<string, string> = {
  passed: "Closed, the pulse has passed.",
  expired: "Closed after thirty days.",
  "closed by hand": "Closed by hand.",
};

/* "over about 2 h", "and goes on": of a release that lasts. */
export function lastingText(incident: Incident): string {
  const e = incident.estimate;
  const lasts = (e?.duration_s ?? 0) >= 60 ? ` over about ${duration(e!.duration_s!)}` : "";
  const flows = incident.still_flowing ?? 0;
  return flows >= 0.5 ? `${lasts}, and still flowing (${percent(flows)})` : lasts;
}

export function spillSentence(river: River, incident: Incident, now_s: number, unit: Unit): string {
  const closed = incident.state === "closed";
  const over = closed ? `${CLOSED[incident.close_reason ?? ""] ?? "Closed."} ` : "";
  if (!incident.estimate) {
    const sensor = river.sensors.find((s) => s.id === incident.sensor);
    const cause =
      incident.sensor === null
        ? "an incident was opened by hand"
        : `readings at ${sensor ? sensorName(sensor) : incident.sensor} have left their background`;
    return `${over}${nameOf(river)}: ${cause}; ${silenceSentence(river, incident)}${standingClause(river, incident)}`;
  }
  const e = incident.estimate;
  const span = spanOf(incident);
  const who = suspect(river, incident);
  const at = placeText(river, e.branch, e.location_m, span);
  const elsewhere = suspectApart(river, incident, who?.candidate);
  const where = elsewhere ? `${elsewhere} (by the readings alone at ${at})` : at;
  const place = who && who.probability >= 0.5 ? `${who.name} (${percent(who.probability)}), ${where}` : at;
  const doubt = incident.provisional ? "still provisional, " : "";
  const several = (incident.releases?.length ?? 0) > 1 ? `the larger of ${incident.releases!.length} releases, ` : "";
  const when = instant(river, e.time_s + incident.origin_s);
  const next = closed ? "" : nextClause(river, incident, now_s, unit);
  const on = river.time_base === "relative" ? "at" : "on";
  const what = `${doubt}${several}about ${mass(e.mass_g)} most likely entered at ${place}`;
  return `${over}${nameOf(river)}: ${what}, ${on} ${when}${lastingText(incident)}.${next}`;
}

export function calmSentence(rivers: RiverBrief[]): string {
  const count = (state: keyof RiverBrief["sensors"]) => rivers.reduce((sum, r) => sum + r.sensors[state], 0);
  const where = rivers.length === 1 ? `on ${nameOf(rivers[0]!)}` : `on any of ${rivers.length} rivers`;
  const [total, silent, never, learning] = [count("total"), count("silent"), count("no data"), count("learning")];
  const parts = [`No spill is known ${where}.`];
  if (silent) parts.push(`${silent} of ${total} sensors ${silent === 1 ? "is" : "are"} silent.`);
  if (never) {
    const some = `${never} of ${total} sensors ${never === 1 ? "has" : "have"} not reported yet.`;
    parts.push(never === total ? "No readings have come in yet." : some);
  }
  if (learning)
    parts.push(`${learning} ${learning === 1 ? "sensor is" : "sensors are"} still learning the background.`);
  if (!silent && !never && !learning) {
    parts.push(
      total === 1
        ? "The sensor is quiet."
        : total === 2
          ? "Both sensors are quiet."
          : `All ${total} sensors are quiet.`,
    );
  }
  return parts.join(" ");
}
