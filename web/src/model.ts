/* What the service says, as it says it: the names and units of docs/api.md. */

export type Triple = [lo: number, mid: number, hi: number];
export type Pair = [lo: number, hi: number];

export type SensorState = "no data" | "learning" | "quiet" | "alarm" | "silent";

export interface Sensor {
  id: string;
  name: string; /* "": its id */
  branch: string | null; /* on a river without branches null, as below */
  location_m: number;
  state: SensorState;
  latest_s: number | null;
  latest_g_m3: number | null;
  age_s: number | null;
  interval_s: number | null;
  background_g_m3: number | null;
  noise_g_m3: number | null;
  detection_limit_g_m3: number | null;
}

export interface Candidate {
  id: string;
  name: string;
  branch: string | null;
  location_m: number;
  extent_m: number;
}

export interface Intake {
  id: string;
  name: string;
  branch: string | null;
  location_m: number;
  alarm_g_m3: number | null;
}

/* It ends at its metre 0, where it joins another; one joins nothing. */
export interface Branch {
  id: string;
  name: string;
  head_m: number;
  joins: string | null;
  joins_at_m: number | null;
  search_m: [number | null, number | null];
}

export type TimeBase = "calendar" | "relative" | "unset";

/* A river in a list of many. */
export interface RiverBrief {
  id: string;
  name: string;
  time_base: TimeBase;
  present_s: number | null;
  sensors: Record<SensorState | "total", number>;
  remarks: string[];
  has_centerline: boolean;
}

export interface River {
  id: string;
  name: string;
  time_base: TimeBase;
  /* The wall clock, or the latest reading's where times carry no date or the data are of another day. */
  present_s: number | null;
  sensors: Sensor[];
  candidates: Candidate[];
  intakes: Intake[];
  branches: Branch[];
  remarks: string[]; /* what whoever looks after it should know before a spill */
  has_centerline: boolean;
}

/* Upstream end first. */
export interface CenterlineFeature {
  properties: { at_m: number[]; river: string; branch: string | null };
  geometry: { coordinates: [lon: number, lat: number][] };
}

/* Part of the region that holds `level` of the probability. */
export interface Stretch {
  branch: string | null;
  location_m: Pair;
  probability: number;
}

export interface Source {
  mass_g: number;
  location_m: number;
  time_s: number;
}

export interface Interval {
  level: number;
  mass_g: Pair;
  location_m: Pair;
  time_s: Pair;
}

export interface Arrival {
  id: string;
  first_s: Triple | null;
  peak_s: Triple | null;
  last_s?: Triple | null; /* the level is passed downwards; absent in results of former versions */
  peak_g_m3: Triple | null;
  exceeds_alarm: number | null;
}

/* Keys that a result of a former version lacks may be missing. */
export interface Estimate extends Source {
  time: string | null;
  branch?: string | null;
  duration_s?: number | null; /* 0: an instant */
  rate_g_s?: number | null;
}

/* headwater.estimate/1. Add origin_s of the incident to its times to be on the clock of the readings. */
export interface Result {
  method: string;
  seed: number;
  readings: number;
  provisional: boolean;
  spill?: number | null; /* the probability that there is one at all */
  trust?: "full" | "provisional" | "none" | null;
  trust_reason?: string | null;
  estimate: Estimate | null;
  still_flowing?: number | null; /* a probability */
  region?: Stretch[] | null;
  branches?: { id: string | null; probability: number }[] | null;
  releases?:
    | {
        probability: number;
        estimate: Estimate | null;
        region?: Stretch[] | null;
        candidates?: Result["candidates"];
      }[]
    | null;
  interval: Interval | null;
  hydraulics: { velocity_m_s: Triple | null; dispersion_m2_s: Triple | null } | null;
  candidates: { id: string | null; probability: number }[];
  arrivals: Arrival[];
  warnings: string[];
}

/* One step of an incident's history; without a source its numbers are null. */
export interface Track {
  seq: number;
  mass_g: number | null;
  location_m: number | null;
  time_s: number | null;
  reading_s: number;
  readings: number;
  provisional: boolean;
  interval: Omit<Interval, "level"> | null;
}

/* Raised, acknowledged, changed, withdrawn, closed: the life of what was told of an incident, itself the first. */
export interface Alarm {
  kind: "incident" | "candidate" | "intake";
  subject: string;
  state: "raised" | "changed" | "withdrawn" | "closed";
  since: string | null;
  at: string | null;
  sentence: string | null;
  trust: string | null;
  provisional: boolean | null;
  acknowledged: { who: string; note: string; at: string | null } | null;
}

/* What the service knows of an incident, without its result. */
export interface IncidentBrief {
  id: number;
  river_id: string;
  state: "open" | "closed";
  sensor: string | null; /* that noticed it; null: a person */
  opened_s: number;
  onset_s: number;
  origin_s: number;
  noticed: string | null;
  closed_s: number | null;
  close_reason: string | null;
}

/* The result, and what the service knows of the incident. */
export interface Incident extends Result, IncidentBrief {
  alarms: Alarm[];
}

export interface Reading {
  seq: number;
  time_s: number;
  concentration_g_m3: number;
  below_limit: boolean;
  above_limit?: boolean;
}

/* Bands over time at one place. */
export interface Forecast {
  x_m: number;
  time_s: number[];
  concentration_g_m3: Triple[];
}

/* Bands along a branch at one time. */
export interface Plume {
  branch: string | null;
  time_s: number;
  x_m: number[];
  concentration_g_m3: Triple[];
}

/* Probability per cell; rows run over time, columns over place. Times count from origin_s. */
export interface Posterior {
  origin_s: number;
  branch: string | null;
  grid: { location_m: Pair; time_s: Pair; cells: number; probability: number[][] } | null;
}

export interface LogEvent {
  id: number;
  seq: number;
  kind: string;
  river: string;
  incident: number;
  subject: string;
  at: string | null;
  body: Record<string, unknown> | null;
}

export interface Method {
  name: string;
  summary: string;
}
