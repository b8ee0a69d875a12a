/* Reading forecasts: which times and places they are for, where the plume is, gaps in readings. */
import type { Incident, Plume, Reading, River } from "./model";
import { courseFrom, endOf } from "./network";

/* When and where the plume is looked at; the slider runs over its times. */
export interface Frame {
  from_s: number;
  to_s: number;
  stretches: Reach[];
}

/* Of one branch. */
export interface Reach {
  branch: string | null;
  from_m: number;
  to_m: number;
}

export const FRAMES = 96;

export const frameTime = (frame: Frame, index: number) =>
  frame.from_s + ((frame.to_s - frame.from_s) * index) / (FRAMES - 1);

export function frameAt(frame: Frame, time_s: number): number {
  const share = (time_s - frame.from_s) / (frame.to_s - frame.from_s || 1);
  return Math.max(0, Math.min(FRAMES - 1, Math.round(share * (FRAMES - 1))));
}

/* From the release until the plume has passed the last place that matters; from the source's
 * interval down to a little below that place, through every branch on the way. */
export function frameOf(river: River, incident: Incident, now_s: number): Frame | null {
  const e = incident.estimate;
  if (!e) return null;
  const from_s = e.time_s + incident.origin_s;
  const peaks = incident.arrivals.map(
    (a) => Math.max(a.peak_s?.[1] ?? -Infinity, a.last_s?.[1] ?? -Infinity) + incident.origin_s,
  );
  const last_s = Math.max(now_s, from_s + 3600, ...peaks);
  const from_m = Math.min(incident.interval?.location_m[0] ?? Infinity, e.location_m);
  return { from_s, to_s: last_s + 0.15 * (last_s - from_s), stretches: stretchesOf(river, e, from_m) };
}

function stretchesOf(river: River, source: { branch?: string | null; location_m: number }, from_m: number): Reach[] {
  const course = courseFrom(river, source.branch);
  if (!course.length) {
    const to_m = Math.max(source.location_m + 1000, ...[...river.sensors, ...river.intakes].map((p) => p.location_m));
    return [{ branch: null, from_m, to_m: to_m + 0.04 * (to_m - from_m) }];
  }
  return course.map((branch, i) => ({
    branch: branch.id,
    from_m: i ? course[i - 1]!.joins_at_m! : Math.max(branch.head_m, from_m),
    to_m: branch.joins === null ? Math.max(endOf(river, branch), branch.head_m) + 1000 : 0,
  }));
}

/* Of the plume in every branch, the part with its highest point. */
export function highest(plumes: Plume[]): Plume | null {
  const top = (p: Plume) => Math.max(0, ...p.concentration_g_m3.map((c) => c[1]));
  return plumes.reduce<Plume | null>((best, p) => (best && top(best) >= top(p) ? best : p), null);
}

/* beyond: it is still rising at the last place looked at. */
export function peakOf(plume: Plume): { x_m: number; beyond: boolean; lo: number; mid: number; hi: number } {
  const top = plume.concentration_g_m3.reduce(
    (best, c, i) => (c[1] > plume.concentration_g_m3[best]![1] ? i : best),
    0,
  );
  const [lo, mid, hi] = plume.concentration_g_m3[top] ?? [0, 0, 0];
  return { x_m: plume.x_m[top] ?? 0, beyond: top > 0 && top === plume.x_m.length - 1, lo, mid, hi };
}

/* The stretch that holds more than a tenth of the plume's peak. */
export function spreadOf(plume: Plume): [number, number] {
  const level = 0.1 * peakOf(plume).mid;
  const inside = plume.x_m.filter((_, i) => plume.concentration_g_m3[i]![1] >= level);
  return [inside[0] ?? 0, inside[inside.length - 1] ?? 0];
}

/* Time between a sensor's readings, as it usually is. */
function typicalStep_s(readings: Reading[]): number {
  const steps = readings
    .slice(1)
    .map((r, i) => r.time_s - readings[i]!.time_s)
    .sort((a, b) => a - b);
  return steps[Math.floor(steps.length / 2)] ?? Infinity;
}

export interface Trace {
  time_s: number[];
  value: (number | null)[];
  below: (number | null)[]; /* the limit, where the value stayed below it */
}

/* Times and values with a null wherever readings are missing, so that a gap is drawn as one. */
export function withGaps(readings: Reading[], step = typicalStep_s(readings)): Trace {
  const out: Trace = { time_s: [], value: [], below: [] };
  readings.forEach((r, i) => {
    const before = readings[i - 1];
    if (before && r.time_s - before.time_s > 3 * step) {
      out.time_s.push((r.time_s + before.time_s) / 2);
      out.value.push(null);
      out.below.push(null);
    }
    out.time_s.push(r.time_s);
    out.value.push(r.below_limit ? null : r.concentration_g_m3);
    out.below.push(r.below_limit ? r.concentration_g_m3 : null);
  });
  return out;
}
