/* Questions to the service. Every call carries the token, when there is one. */
import type { Reach } from "./forecast";
import type {
  CenterlineFeature,
  Forecast,
  Incident,
  IncidentBrief,
  LogEvent,
  Method,
  Plume,
  Posterior,
  Reading,
  River,
  RiverBrief,
  Track,
} from "./model";
import type { SensorReadings } from "./readings";

const TOKEN = "headwater-token";
const ADMIN_TOKEN = "headwater-admin-token";

/* For this tab only: a shared screen forgets it when closed. */
export const token = () => sessionStorage.getItem(TOKEN);

function keep(key: string, value: string): void {
  if (value) sessionStorage.setItem(key, value);
  else sessionStorage.removeItem(key);
}

export const setToken = (value: string) => keep(TOKEN, value);
export const setAdminToken = (value: string) => keep(ADMIN_TOKEN, value);

const bearer = (value: string | null): Record<string, string> => (value ? { Authorization: `Bearer ${value}` } : {});

export const headers = () => bearer(token());

export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function request(path: string, accept: string): Promise<Response> {
  const response = await fetch(path, { headers: { ...headers(), Accept: accept }, cache: "no-store" });
  if (!response.ok) throw new Refused(response.status, `${path}: ${response.status} ${response.statusText}`);
  return response;
}

/* What changes something, in an administrator's name where the service has tokens. */
async function order<T>(path: string, body: object): Promise<T> {
  const allowed = bearer(sessionStorage.getItem(ADMIN_TOKEN) ?? token());
  const response = await fetch(path, {
    method: "POST",
    headers: { ...allowed, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json().catch(() => ({}))) as T & { error?: string };
  if (!response.ok) throw new Refused(response.status, answer.error ?? response.statusText);
  return answer;
}

const json = async <T>(path: string) => (await (await request(path, "application/json")).json()) as T;

const name = encodeURIComponent;

export const overview = () => json<{ rivers: RiverBrief[]; tiles: string | null }>("/v1/overview");
/* With all its sensors: a river file holds no more. */
export const river = (id: string) => json<River>(`/v1/rivers/${name(id)}?limit=10000`);

/* Every line of a river, or of all rivers, thinned to what a small picture shows. */
export async function centerline(id: string): Promise<CenterlineFeature[]> {
  const found = await json<CenterlineFeature | { features: CenterlineFeature[] }>(`/v1/rivers/${name(id)}/centerline`);
  return "features" in found ? found.features : [found];
}
export const centerlines = async (within_m: number) =>
  (await json<{ features: CenterlineFeature[] }>(`/v1/centerlines?within_m=${within_m}`)).features;

/* Every one, however many: the oldest may be the worst. */
export async function openIncidents(): Promise<Incident[]> {
  const all: Incident[] = [];
  for (let more = true; more;) {
    const last = all[all.length - 1];
    const before = last ? `&before=${last.id}` : "";
    const page = await json<{ incidents: Incident[]; more: boolean }>(`/v1/incidents?state=open${before}`);
    all.push(...page.incidents);
    more = page.more && page.incidents.length > 0;
  }
  return all;
}
/* Past and present ones without their results, the latest first, so many before that one. */
export const incidentsBefore = (id: number, limit: number) =>
  json<{ incidents: IncidentBrief[]; more: boolean }>(`/v1/incidents?brief=1&limit=${limit}&before=${id}`);
export const incident = (id: number) => json<Incident>(`/v1/incidents/${id}?history=0`);
/* Its history, thinned to so many steps. */
export const history = async (id: number, points: number) =>
  (await json<{ history: Track[] }>(`/v1/incidents/${id}?points=${points}`)).history;
/* All of it, as it is taken away. */
export const wholeIncident = async (id: number) => {
  const first = await json<Incident & { history: Track[]; history_more: boolean }>(`/v1/incidents/${id}?history=20000`);
  for (let more = first.history_more; more;) {
    const after = first.history[first.history.length - 1]!.seq;
    const next = await json<typeof first>(`/v1/incidents/${id}?history=20000&after=${after}`);
    first.history.push(...next.history);
    more = next.history_more;
  }
  return first;
};
export const posterior = (id: number) => json<Posterior>(`/v1/incidents/${id}/posterior?samples=0&grid=44`);
/* Everything with a place, as GeoJSON. */
export const places = async (river_id: string, incident: number | undefined) =>
  (
    await request(
      incident === undefined
        ? `/v1/rivers/${name(river_id)}/places`
        : `/v1/incidents/${incident}/export?format=geojson`,
      "application/geo+json",
    )
  ).text();
export const bulletin = async (id: number) => (await request(`/v1/incidents/${id}/bulletin`, "text/plain")).text();

export const methods = async () => (await json<{ methods: Method[] }>("/v1/methods")).methods;
export const acknowledge = (id: number, who: string, note: string) =>
  order<Incident>(`/v1/incidents/${id}/acknowledge`, { who, note });
export const closeIncident = (id: number) => order<Incident>(`/v1/incidents/${id}/close`, {});
/* method "": the service's own; from null: the latest reading. */
export const openIncident = (river_id: string, method: string, from: number | string | null) =>
  order<Incident>("/v1/incidents", {
    river: river_id,
    ...(method ? { method } : {}),
    ...(from === null ? {} : { from }),
  });

/* The latest events, oldest first; `more`: there are older ones. */
export const latestEvents = (count: number, before = 0) =>
  json<{ events: LogEvent[]; more: boolean }>(`/v1/events?latest=${count}&before=${before}`);
/* Events after this one, oldest first; `more`: there are later ones. */
export const eventsAfter = (after: number) => json<{ events: LogEvent[]; more: boolean }>(`/v1/events?after=${after}`);

/* Every reading as CSV, however many: of an incident all that its engine saw, of a river those since a time. */
export const readingsCsv = async (river_id: string, incident: number | undefined, from_s: number) =>
  (
    await request(
      incident === undefined
        ? `/v1/rivers/${name(river_id)}/readings?format=csv&from=${from_s}`
        : `/v1/incidents/${incident}/readings`,
      "text/csv",
    )
  ).blob();

/* An outline of a sensor's readings since a time. */
export async function readings(
  river_id: string,
  sensor: string,
  from_s: number,
  points: number,
): Promise<SensorReadings> {
  const query = new URLSearchParams({ sensor, from: String(from_s), points: String(points) });
  const found = await json<{ readings: Reading[]; total: number; seq: number }>(
    `/v1/rivers/${name(river_id)}/readings?${query}`,
  );
  return { list: found.readings, total: found.total, seq: found.seq };
}

const within = (branch: string | null): Record<string, string> => (branch === null ? {} : { branch });

export function forecast(
  id: number,
  place: { branch: string | null; location_m: number },
  frame: { from_s: number; to_s: number },
  count: number,
): Promise<Forecast> {
  const query = new URLSearchParams({
    ...within(place.branch),
    x_m: String(place.location_m),
    from: String(frame.from_s),
    to: String(frame.to_s),
    count: String(count),
  });
  return json<Forecast>(`/v1/incidents/${id}/forecast?${query}`);
}

export async function plume(id: number, time_s: number, reach: Reach, count: number): Promise<Plume> {
  const query = new URLSearchParams({
    ...within(reach.branch),
    time: String(time_s),
    from_m: String(reach.from_m),
    to_m: String(reach.to_m),
    count: String(count),
  });
  return { ...(await json<Plume>(`/v1/incidents/${id}/plume?${query}`)), branch: reach.branch };
}
