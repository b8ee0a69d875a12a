/* Questions to the service. Every call carries the token, when there is one. */
import type { CenterlineFeature, Forecast, Incident, LogEvent, Plume, Posterior, Reading, River, Track } from "./model";

const TOKEN = "headwater-token";

/* For this tab only: a shared screen forgets it when closed. */
export function token(): string | null {
  return sessionStorage.getItem(TOKEN);
}

export function setToken(value: string): void {
  if (value) sessionStorage.setItem(TOKEN, value);
  else sessionStorage.removeItem(TOKEN);
}

export function headers(): Record<string, string> {
  const value = token();
  return value ? { Authorization: `Bearer ${value}` } : {};
}

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

/* Events after this one, oldest first, however many there are. */
export async function events(after: number): Promise<LogEvent[]> {
  const all: LogEvent[] = [];
  for (;;) {
    const page = (await json<{ events: LogEvent[] }>(`/v1/events?after=${all[all.length - 1]?.id ?? after}`)).events;
    if (!page.length) return all;
    all.push(...page);
  }
}

export async function readings(river_id: string, sensor: string, from_s: number): Promise<Reading[]> {
  const query = new URLSearchParams({ sensor, from: String(from_s), limit: "5000" });
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
