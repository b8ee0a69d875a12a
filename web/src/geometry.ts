/* The river on a map: from river metres to points of its centreline, which the service gives as a Feature
 * with a LineString and the river metre of each of its points. */
import type { CenterlineFeature, River } from "./model";

export interface Centerline {
  points: [lon: number, lat: number][];
  at_m: number[]; /* river metre of each point */
}

/* The stretch every place of the river file lies in, and those given. */
export function extent(river: River, more_m: number[] = []): [number, number] {
  const marks = [...river.sensors, ...river.candidates, ...river.intakes].map((p) => p.location_m).concat(more_m);
  return [Math.min(...marks), Math.max(...marks)];
}

/* Lines by the id of their branch; "" on a river without branches. */
export function centerlinesOf(features: CenterlineFeature[]): Map<string, Centerline> {
  return new Map(
    features.map((f) => [f.properties.branch ?? "", { points: f.geometry.coordinates, at_m: f.properties.at_m }]),
  );
}

/* The point at this river metre; the ends stand for everything beyond them. */
export function pointAt(line: Centerline, location_m: number): [number, number] {
  const { points, at_m } = line;
  const next = at_m.findIndex((m) => m >= location_m);
  if (next === 0) return points[0]!;
  if (next < 0) return points[points.length - 1]!;
  const share = (location_m - at_m[next - 1]!) / (at_m[next]! - at_m[next - 1]! || 1);
  const [a, b] = [points[next - 1]!, points[next]!];
  return [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])];
}

/* The centreline between two river metres. */
export function stretch(line: Centerline, from_m: number, to_m: number): [number, number][] {
  const inner = line.points.filter((_, i) => line.at_m[i]! > from_m && line.at_m[i]! < to_m);
  return [pointAt(line, from_m), ...inner, pointAt(line, to_m)];
}
