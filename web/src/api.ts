/* Questions to the service. Every call carries the token, when there is one. */
import type { CenterlineFeature, Forecast, Incident, LogEvent, Method, Plume, Posterior, Reading, River, Track } from "./model";

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
  constructor(readonly status: number, message: string) {
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
  const response = await fetch(path, { method: "POST", headers: { ...allowed, "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const answer = (await response.json().catch(() => ({}))) as T & { error?: string };
  if (!response.ok) throw new Refused(response.status, answer.error ?? response.statusText);
  return answer;
}

const json = async <T>(path: string) => (await (await request(path, "application/json")).json()) as T;

const name = encodeURIComponent;

export const rivers = async () => (await json<{ rivers: River[] }>("/v1/rivers")).rivers;
export const river = (id: string) => json<River>(`/v1/rivers/${name(id)}`);
export const centerline = (id: string) => json<CenterlineFeature>(`/v1/rivers/${name(id)}/centerline`);
export const incidents = async () => (await json<{ incidents: Incident[] }>("/v1/incidents")).incidents;
export const incident = (id: number) => json<Incident & { history: Track[] }>(`/v1/incidents/${id}`);
export const posterior = (id: number) => json<Posterior>(`/v1/incidents/${id}/posterior?samples=0&grid=44`);
/* Everything with a place, as GeoJSON. */
export const places = async (river_id: string, incident: number | undefined) =>
  (await request(incident === undefined ? `/v1/rivers/${name(river_id)}/places` : `/v1/incidents/${incident}/export?format=geojson`, "application/geo+json")).text();
export const bulletin = async (id: number) => (await request(`/v1/incidents/${id}/bulletin`, "text/plain")).text();

export const methods = async () => (await json<{ methods: Method[] }>("/v1/methods")).methods;
export const closeIncident = (id: number) => order<Incident>(`/v1/incidents/${id}/close`, {});
/* method "": the service's own; from null: the latest reading. */
export const openIncident = (river_id: string, method: string, from: number | string | null) =>
  order<Incident>("/v1/incidents", { river: river_id, ...(method ? { method } : {}), ...(from === null ? {} : { from }) });

/* Events after this one, oldest first, however many there are. */
export async function events(after: number): Promise<LogEvent[]> {
  const all: LogEvent[] = [];
  for (;;) {
    const page = (await json<{ events: LogEvent[] }>(`/v1/events?after=${all[all.length - 1]?.id ?? after}`)).events;
    if (!page.length) return all;
    all.push(...page);
  }
}

/* Of a sensor, the latest; where there may be more, whoever shows them says so. */
export const MOST_READINGS = 5000;
export const areCut = (readings: Map<string, Reading[]>) => [...readings.values()].some((list) => list.length >= MOST_READINGS);

/* All that the incident's engine saw, as CSV. */
export const incidentReadings = async (id: number) => (await request(`/v1/incidents/${id}/readings`, "text/csv")).text();

export async function readings(river_id: string, sensor: string, from_s: number): Promise<Reading[]> {
  const query = new URLSearchParams({ sensor, from: String(from_s), limit: String(MOST_READINGS) });
  return (await json<{ readings: Reading[] }>(`/v1/rivers/${name(river_id)}/readings?${query}`)).readings;
}

export function forecast(id: number, x_m: number, from_s: number, to_s: number, count: number): Promise<Forecast> {
  const query = new URLSearchParams({ x_m: String(x_m), from: String(from_s), to: String(to_s), count: String(count) });
  return json<Forecast>(`/v1/incidents/${id}/forecast?${query}`);
}

export function plume(id: number, time_s: number, from_m: number, to_m: number, count: number): Promise<Plume> {
  const query = new URLSearchParams({ time: String(time_s), from_m: String(from_m), to_m: String(to_m), count: String(count) });
  return json<Plume>(`/v1/incidents/${id}/plume?${query}`);
}
