/* Rivers with branches: how a place is called, where it lies on the way to the outlet, which way the water takes. On a
 * river without branches the branch is null and the way is the river. */
import { givenKm, km } from "./format";
import type { Branch, Incident, River, Stretch } from "./model";

export const isNetwork = (river: River) => river.branches.length > 0;

export const branchOf = (river: River, id: string | null | undefined): Branch | undefined =>
  river.branches.find((b) => b.id === id);

export const branchName = (branch: Branch) => branch.name || branch.id;

function onBranch(river: River, branch: string | null | undefined, km: string): string {
  const on = branchOf(river, branch);
  return `${on ? branchName(on) : "river"} km ${km}`;
}

/* "river km -12.0", or "Ash Brook km -9.0": a place that is estimated, within so many metres. */
export const placeText = (
  river: River,
  branch: string | null | undefined,
  location_m: number,
  span_m = Infinity,
): string => onBranch(river, branch, km(location_m, span_m));

/* One that the river file gives. */
export const givenPlace = (river: River, place: { branch: string | null; location_m: number }): string =>
  onBranch(river, place.branch, givenKm(place.location_m));

/* What people call a sensor. */
export const sensorName = (sensor: { id: string; name: string }) => sensor.name || sensor.id;

/* Where the pollution may have come in: the region, or those of all releases. */
export function regionsOf(incident: Incident | undefined): Stretch[] {
  const releases = incident?.releases ?? [];
  const several = releases.length > 1 ? releases.flatMap((r) => r.region ?? []) : [];
  return several.length ? several : (incident?.region ?? []);
}

/* Branches from this one down to the outlet. */
export function courseFrom(river: River, id: string | null | undefined): Branch[] {
  const course: Branch[] = [];
  for (let at = branchOf(river, id); at && !course.includes(at); at = branchOf(river, at.joins)) course.push(at);
  return course;
}

/* Metre of the outlet's own branch where the water from here would be after as long a way: one axis for all. */
export function downTo(river: River, id: string | null | undefined, location_m: number): number {
  return courseFrom(river, id)
    .filter((b) => b.joins !== null)
    .reduce((m, b) => m + b.joins_at_m!, location_m);
}

/* Does water from here come by there? */
export function liesBelow(
  river: River,
  here: { branch?: string | null | undefined; location_m: number },
  there: { branch: string | null; location_m: number },
): boolean {
  const course = courseFrom(river, here.branch);
  if (!course.length) return there.location_m > here.location_m;
  const step = course.findIndex((b) => b.id === there.branch);
  if (step < 0) return false;
  return step === 0 ? there.location_m > here.location_m : there.location_m >= course[step - 1]!.joins_at_m!;
}

/* The last metre of a branch that anything is known of: its mouth, or the last place on the outlet's. */
export function endOf(river: River, branch: Branch): number {
  if (branch.joins !== null) return 0;
  const places = [...river.sensors, ...river.candidates, ...river.intakes].filter((p) => p.branch === branch.id);
  const joints = river.branches.filter((b) => b.joins === branch.id).map((b) => b.joins_at_m!);
  return Math.max(branch.head_m, ...places.map((p) => p.location_m), ...joints);
}
