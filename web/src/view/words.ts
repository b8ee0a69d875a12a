/* What pictures of the river say beside their marks, and in place of themselves. */
import { duration, km, percent, shortInstant } from "../format";
import type { Candidate, Incident, River, Sensor } from "../model";
import { givenPlace, placeText, sensorName } from "../network";
import { harm, threats, type Harm, type Threat } from "../sentence";
import { STATE_TEXT } from "./marks";

export function sensorLines(sensor: Sensor): string[] {
  const age = sensor.age_s === null ? "" : `, ${duration(Math.max(0, sensor.age_s))} ago`;
  return [sensorName(sensor), `${STATE_TEXT[sensor.state]}${age}`];
}

/* Which labels are left out last where there is no room for all. */
export const sensorRank = (sensor: Sensor) =>
  ({ alarm: 0, silent: 1, "no data": 2, learning: 3, quiet: 4 })[sensor.state];

const HARM_RANK: Record<Harm, number> = { exceeds: 0, possible: 1, unknown: 2, below: 3 };

export const intakeRank = (threat: Threat | undefined) =>
  !threat ? 4 : HARM_RANK[harm(threat)] + (threat.passed ? 5 : 0);

export const candidateRank = (incident: Incident | undefined, candidate: Candidate) =>
  -(incident?.candidates.find((s) => s.id === candidate.id)?.probability ?? 0);

export function intakeLines(river: River, threat: Threat | undefined, name: string, now_s: number): string[] {
  if (!threat) return [name];
  if (threat.passed) return [name, "passed"];
  if (threat.first_s === null) return [name, "below its alarm level"];
  const wait = threat.first_s - now_s;
  const until = threat.window ? `, until ${shortInstant(river, threat.window.until[2])}` : "";
  const sure = threat.arrival.exceeds_alarm;
  const may = sure !== null && harm(threat) !== "exceeds" ? `${percent(sure)}: ` : "";
  return [name, `${may}${wait > 60 ? `in ${duration(wait)}` : `since ${shortInstant(river, threat.first_s)}`}${until}`];
}

export function candidateLines(incident: Incident | undefined, candidate: Candidate): string[] {
  const found = incident?.candidates.find((s) => s.id === candidate.id);
  return [candidate.name || candidate.id, ...(found ? [percent(found.probability)] : [])];
}

/* The picture in words. */
export function describe(river: River, incident: Incident | undefined, now_s: number): string {
  const parts = [`${river.name}, from upstream to downstream.`];
  for (const s of river.sensors) {
    parts.push(`Sensor ${sensorName(s)} at ${givenPlace(river, s)}: ${sensorLines(s)[1]}.`);
  }
  if (incident?.interval) {
    const [from, to] = incident.interval.location_m;
    const branch = incident.estimate?.branch;
    parts.push(`The source lies between ${placeText(river, branch, from, to - from)} and ${km(to, to - from)}.`);
  }
  for (const t of incident ? threats(river, incident, now_s) : []) {
    const forecast = intakeLines(river, t, "", now_s)[1] ?? "";
    const { name, id, branch, location_m } = t.intake;
    parts.push(`Intake ${name || id} at ${givenPlace(river, { branch, location_m })}: ${forecast}.`);
  }
  return parts.join(" ");
}
