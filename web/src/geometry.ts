/* The river on a map: from river metres to points of its centreline.
 *
 * The centreline is GeoJSON: a LineString or MultiLineString, bare or in a Feature or a collection's
 * first such feature, drawn from upstream to downstream. Its properties `from_m` and `to_m` say
 * which river metres its first and last point stand for; without them the line is laid from the
 * most upstream to the most downstream place the river file knows.
 */
import type { River } from "./model";

export interface Centerline {
  points: [lon: number, lat: number][];
  at_m: number[]; /* river metre of each point */
}

type Json = Record<string, unknown>;

function lineOf(value: unknown): { points: [number, number][]; properties: Json } | null {
  if (typeof value !== "object" || value === null) return null;
  const json = value as Json;
  if (json["type"] === "FeatureCollection" && Array.isArray(json["features"])) {
    for (const feature of json["features"]) {
      const line = lineOf(feature);
      if (line) return line;
    }
    return null;
  }
  if (json["type"] === "Feature") {
    const line = lineOf(json["geometry"]);
    return line && { points: line.points, properties: (json["properties"] as Json | null) ?? {} };
  }
  const coordinates = json["coordinates"];
  if (!Array.isArray(coordinates)) return null;
  const flat: unknown = json["type"] === "MultiLineString" ? coordinates.flat() : json["type"] === "LineString" ? coordinates : null;
  if (!Array.isArray(flat)) return null;
  const points = flat.filter(
    (p): p is [number, number] => Array.isArray(p) && Number.isFinite(p[0]) && Number.isFinite(p[1]),
  );
  return points.length >= 2 ? { points, properties: {} } : null;
}

const RADIUS_M = 6371008.8;
const rad = (degrees: number) => (degrees * Math.PI) / 180;

/* Great-circle distance (haversine). */
function distance_m(a: [number, number], b: [number, number]): number {
  const h = Math.sin(rad(b[1] - a[1]) / 2) ** 2 + Math.cos(rad(a[1])) * Math.cos(rad(b[1])) * Math.sin(rad(b[0] - a[0]) / 2) ** 2;
  return 2 * RADIUS_M * Math.asin(Math.min(1, Math.sqrt(h)));
}

/* The stretch every place of the river file lies in, and those given. */
export function extent(river: River, more_m: number[] = []): [number, number] {
  const marks = [...river.sensors, ...river.candidates, ...river.intakes].map((p) => p.location_m).concat(more_m);
  return [Math.min(...marks), Math.max(...marks)];
}

export function centerlineOf(river: River, geojson: unknown): Centerline | null {
  const line = lineOf(geojson);
  if (!line) return null;
  const along = [0];
  for (let i = 1; i < line.points.length; i++) along.push(along[i - 1]! + distance_m(line.points[i - 1]!, line.points[i]!));
  const length = along[along.length - 1]!;
  if (!(length > 0)) return null;
  const [first, last] = extent(river);
  const number = (key: string) => (typeof line.properties[key] === "number" ? line.properties[key] : null);
  const from = number("from_m") ?? first;
  const to = number("to_m") ?? (number("from_m") === null ? last : from + length);
  return { points: line.points, at_m: along.map((d) => from + ((to - from) * d) / length) };
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
