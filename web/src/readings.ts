/* Readings on the page: what comes over the stream joins what was asked for, and a chart never holds more than it can
 * show. Those left out are the ones between the lowest and the highest of each stretch, as the service does it. */
import type { Reading } from "./model";

export interface SensorReadings {
  list: Reading[]; /* by time */
  total: number; /* of which the list is an outline, or all */
  seq: number; /* the highest number among them */
}

export const NONE: SensorReadings = { list: [], total: 0, seq: 0 };

/* Asked for of a sensor, and kept of those that come. */
export const POINTS = 400;
const MOST = 3 * POINTS;

const value = (r: Reading) => (r.below_limit ? 0 : r.concentration_g_m3);

/* The lowest and the highest of each of `points` / 2 runs of readings, in order of time. */
export function outline(list: Reading[], points: number): Reading[] {
  const run = Math.ceil(list.length / (points / 2));
  const out: Reading[] = [];
  for (let from = 0; from < list.length; from += run) {
    const part = list.slice(from, from + run);
    const low = part.reduce((a, b) => (value(b) < value(a) ? b : a));
    const high = part.reduce((a, b) => (value(b) > value(a) ? b : a));
    out.push(...(low === high ? [low] : low.time_s < high.time_s ? [low, high] : [high, low]));
  }
  return out;
}

/* Both, by time, each time once. */
export function united(known: SensorReadings, more: Reading[]): SensorReadings {
  const fresh = more.filter((r) => r.seq > known.seq);
  if (!fresh.length) return known;
  const last = known.list[known.list.length - 1]?.time_s ?? -Infinity;
  const late = fresh.some((r, i) => r.time_s <= (i ? fresh[i - 1]!.time_s : last));
  let list = [...known.list, ...fresh];
  if (late) list = [...new Map(list.map((r) => [r.time_s, r])).values()].sort((a, b) => a.time_s - b.time_s);
  const seq = fresh.reduce((most, r) => Math.max(most, r.seq), known.seq);
  /* The latest stay as they are: a chart's right end is what people look at. */
  if (list.length > MOST) list = [...outline(list.slice(0, -POINTS), POINTS), ...list.slice(-POINTS)];
  return { list, total: known.total + fresh.length, seq };
}
