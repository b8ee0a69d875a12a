/* Alarms of an incident, as far as other parts of the page go by them: which stand, and which were taken back. */
import { shortInstant } from "./format";
import type { Alarm, Incident } from "./model";

/* Raised, and neither withdrawn nor ended. */
export const stands = (alarm: Alarm) => alarm.state === "raised" || alarm.state === "changed";

/* Ids of intakes that were told to close, and not told otherwise since. */
export const warned = (incident: Incident): Set<string> =>
  new Set(incident.alarms.filter((a) => a.kind === "intake" && stands(a)).map((a) => a.subject));

/* What was taken back, when, and who had acted on it: a gate may still be shut. Intakes first. */
export function withdrawals(incident: Incident): string[] {
  const intakesFirst = (a: Alarm, b: Alarm) => Number(b.kind === "intake") - Number(a.kind === "intake");
  const gone = incident.alarms.filter((a) => a.state === "withdrawn").sort(intakesFirst);
  return gone.map((a) => {
    const at = a.at ? shortInstant({ time_base: "calendar" }, Date.parse(a.at) / 1000) : "";
    const by = a.acknowledged;
    const heard = by ? `acknowledged by ${by.who}${by.note ? `: ${by.note}` : ""}` : "";
    const known = [at, heard].filter(Boolean).join("; ");
    return `${a.sentence ?? `The alarm for ${a.subject} is withdrawn.`}${known ? ` (${known})` : ""}`;
  });
}
