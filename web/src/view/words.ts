/* What pictures of the river say beside their marks, and in place of themselves. */
import { duration, km, percent, shortInstant } from "../format";
import type { Candidate, Incident, River, Sensor } from "../model";
import { placeText, sensorName } from "../network";
import { threats, type Threat } from "../sentence";
import { STATE_TEXT } from "./marks";

export function sensorLines(sensor: Sensor): string[] {
  const age = sensor.age_s === null ? "" : `, ${duration(Math.max(0, sensor.age_s))} ago`;
  return [sensorName(sensor), `${STATE_TEXT[sensor.state]}${age}`];
}

export function intakeLines(river: River, threat: Threat | undefined, name: string, now_s: number): string[] {
  if (!threat) return [name];
  if (threat.passed) return [name, "passed"];
  if (threat.first_s === null) return [name, "below its alarm level"];
  const wait = threat.first_s - now_s;
  const until = threat.window ? `, until ${shortInstant(river, threat.window.until[2])}` : "";
  return [name, `${wait > 60 ? `in ${duration(wait)}` : `since ${shortInstant(river, threat.first_s)}`}${until}`];
}

export function candidateLines(incident: Incident | undefined, candidate: Candidate): string[] {
  const found = incident?.candidates.find((s) => s.id === candidate.id);
  return [candidate.name || candidate.id, ...(found ? [percent(found.probability)] : [])];
}

/* The picture in words. */
export function describe(river: River, incident: Incident | undefined, now_s: number): string {
  const parts = [`${river.name}, from upstream to downstream.`];
  for (const s of river.sensors) {
    parts.push(`Sensor ${sensorName(s)} at ${placeText(river, s.branch, s.location_m)}: ${sensorLines(s)[1]}.`);
  }
  if (incident?.interval) {
    const [from, to] = incident.interval.location_m;
    const branch = incident.estimate?.branch;
    parts.push(`The source lies between ${placeText(river, branch, from)} and ${km(to)}.`);
  }
  for (const t of incident ? threats(river, incident, now_s) : []) {
    const forecast = intakeLines(river, t, "", now_s)[1] ?? "";
    const { name, id, branch, location_m } = t.intake;
    parts.push(`Intake ${name || id} at ${placeText(river, branch, location_m)}: ${forecast}.`);
  }
  return parts.join(" ");
}
