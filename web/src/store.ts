/* What the page knows, and how it learns it.
 *
 * The stream says that something happened; this asks for what is not in the event. Questions of one
 * kind are asked once at a time and no oftener than a person can read: under a fast replay the
 * service is left to its work. After a lost connection everything shown is asked for again, so
 * nothing depends on having heard every event.
 */
import * as api from "./api";
import { riverNow } from "./clock";
import { FRAMES, frameAt, frameOf, frameTime, type Frame } from "./forecast";
import type { CenterlineFeature, Forecast, Incident, LogEvent, Plume, Posterior, Reading, Result, River, Sensor, Track } from "./model";
import { Paced } from "./paced";
import { Stream } from "./stream";

export type Connection = "connecting" | "live" | "lost" | "token";

/* Why there is none: the method makes no forecast, or the incident's readings are no longer kept. */
export type NoForecast = null | "method" | "forgotten";

export interface State {
  connection: Connection;
  retry_at_ms: number;
  tokenRefused: boolean;
  loaded: boolean;
  rivers: Map<string, River>;
  incidents: Map<number, Incident>;
  events: LogEvent[]; /* latest first */
  river: string | null; /* shown */
  incident: number | null; /* shown */
  centerline: CenterlineFeature | null; /* of the river shown */
  readings: Map<string, Reading[]>; /* of the river shown, by sensor */
  history: Track[]; /* of the incident shown, and all below */
  forecasts: Map<string, Forecast>; /* by sensor */
  posterior: Posterior | null;
  frame: Frame | null;
  slider: number | null; /* a frame's index; null follows the clock */
  plume: Plume | null; /* where the slider stands */
  plumeNow: Plume | null;
  noForecast: NoForecast;
}

const PACE_MS = 1500;
const PLUME_PACE_MS = 80;
const EVENTS_KEPT = 400;
const MERGE_MS = 250;
const CHARTS = 24;
const LOOK_MS = 30000;
const FEW = 3; /* rivers asked for one by one */
const PLACES = 140;
const FORECAST_TIMES = 160;

const NOTHING_SHOWN = { history: [], forecasts: new Map(), posterior: null, frame: null, slider: null, plume: null, plumeNow: null, noForecast: null };

type ReadingEvent = Reading & { river: string; sensor: string };

/* The sensors there is room for, those above their background first. */
export function chartedSensors(river: River): Sensor[] {
  if (river.sensors.length <= CHARTS) return river.sensors;
  const alarmed = river.sensors.filter((s) => s.state === "alarm");
  return [...alarmed, ...river.sensors.filter((s) => s.state !== "alarm")].slice(0, CHARTS);
}

export class Store {
  state: State = {
    connection: "connecting",
    retry_at_ms: 0,
    tokenRefused: false,
    loaded: false,
    rivers: new Map(),
    incidents: new Map(),
    events: [],
    river: null,
    incident: null,
    centerline: null,
    readings: new Map(),
    ...NOTHING_SHOWN,
  };
  private readonly listeners = new Set<() => void>();
  private readonly stream: Stream;
  private readonly staleRivers = new Set<string>();
  private incoming: ReadingEvent[] = [];
  private drawn = false;
  private plumeStale = true; /* since the estimate moved */
  private opened: number | null = null; /* an incident that began while this page was open and is not looked at yet */
  private readonly failed = (error: unknown) => this.onFailure(error);
  private readonly askAll = new Paced(() => this.loadAll(), PACE_MS, this.failed);
  private readonly askRivers = new Paced(() => this.loadStaleRivers(), PACE_MS, this.failed);
  private readonly askMerge = new Paced(() => this.mergeReadings(), MERGE_MS, this.failed);
  private readonly askReadings = new Paced(() => this.loadReadings(), PACE_MS, this.failed);
  private readonly askIncident = new Paced(() => this.loadIncident(), PACE_MS, this.failed);
  private readonly askForecast = new Paced(() => this.loadForecast(), PACE_MS, this.failed);
  private readonly askPlume = new Paced(() => this.loadPlume(), PLUME_PACE_MS, this.failed);

  constructor() {
    this.stream = new Stream("/v1/stream", {
      onOpen: () => {
        this.set({ connection: "live", tokenRefused: false });
        this.askAll.poke();
      },
      onEvent: (kind, data) => this.onEvent(kind, data),
      onLost: (retry_at_ms) => this.set({ connection: "lost", retry_at_ms }),
      onRefused: () => this.needToken(),
    });
  }

  start(): void {
    window.addEventListener("hashchange", () => this.follow());
    setInterval(() => this.lookAround(), LOOK_MS);
    this.stream.start();
  }

  retry(): void {
    this.stream.retryNow();
  }

  useToken(value: string): void {
    api.setToken(value);
    this.set({ connection: "connecting" });
    this.stream.retryNow();
  }

  slideTo(index: number | null): void {
    this.set({ slider: index === null ? null : Math.max(0, Math.min(FRAMES - 1, index)) });
    this.askPlume.poke();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  shownRiver(): River | undefined {
    return this.state.river === null ? undefined : this.state.rivers.get(this.state.river);
  }

  shownIncident(): Incident | undefined {
    return this.state.incident === null ? undefined : this.state.incidents.get(this.state.incident);
  }

  private set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    if (this.drawn) return;
    this.drawn = true;
    queueMicrotask(() => {
      this.drawn = false;
      for (const listener of this.listeners) listener();
    });
  }

  private needToken(): void {
    this.set({ connection: "token", tokenRefused: api.token() !== null });
  }

  private onFailure(error: unknown): void {
    if (error instanceof api.Refused && error.status === 401) this.needToken();
  }

  /* --- what is shown: the address after the #, else the latest open incident --- */

  private follow(): void {
    const [, kind, id] = /^#\/(incident|river)\/(.+)$/.exec(location.hash) ?? [];
    const { incidents, rivers } = this.state;
    let river = kind === "river" ? decodeURIComponent(id!) : null;
    let incident = kind === "incident" && incidents.has(Number(id)) ? Number(id) : null;
    if (incident === null) {
      const open = [...incidents.values()].filter((i) => i.state === "open" && (river === null || i.river_id === river));
      incident = open.reduce<number | null>((a, b) => (a === null || b.id > a ? b.id : a), null);
    }
    if (incident !== null) river = incidents.get(incident)!.river_id;
    if (river === null || !rivers.has(river)) river = rivers.keys().next().value ?? null;
    const otherRiver = river !== this.state.river;
    if (!otherRiver && incident === this.state.incident) return;
    this.set({ river, incident, ...NOTHING_SHOWN, ...(otherRiver ? { readings: new Map(), centerline: null } : {}) });
    if (otherRiver) void this.loadCenterline().catch(this.failed);
    this.askReadings.poke();
    this.askIncident.poke();
  }

  /* A new spill takes the place of whatever is not one; beside an open one it is a line on top. */
  private takeOver(): void {
    const fresh = this.opened === null ? undefined : this.state.incidents.get(this.opened);
    if (!fresh) return;
    this.opened = null;
    if (fresh.state === "open" && this.shownIncident()?.state !== "open") location.hash = `#/incident/${fresh.id}`;
  }

  /* --- events --- */

  private onEvent(kind: string, data: string): void {
    let event: LogEvent;
    try {
      event = JSON.parse(data) as LogEvent;
    } catch {
      return;
    }
    if (kind === "reading") {
      this.staleRivers.add(event.river);
      this.askRivers.poke();
      this.incoming.push(event as unknown as ReadingEvent);
      this.askMerge.poke();
    } else if (kind === "estimate") {
      this.onEstimate(event.incident, event.body as unknown as Result);
    } else if (event.id) {
      if (kind === "incident_opened") this.opened = event.incident;
      this.addEvents([event]);
      this.askAll.poke();
    }
  }

  private onEstimate(id: number, result: Result): void {
    const known = this.state.incidents.get(id);
    if (!known) {
      this.askAll.poke();
      return;
    }
    this.set({ incidents: new Map(this.state.incidents).set(id, { ...known, ...result }) });
    if (id === this.state.incident) this.askIncident.poke();
  }

  private addEvents(events: LogEvent[]): void {
    const byId = new Map([...this.state.events, ...events].map((e) => [e.id, e]));
    this.set({ events: [...byId.values()].sort((a, b) => b.id - a.id).slice(0, EVENTS_KEPT) });
  }

  /* --- questions --- */

  private async loadAll(): Promise<void> {
    const [rivers, incidents, events] = await Promise.all([api.rivers(), api.incidents(), api.events(this.state.events[0]?.id ?? 0)]);
    this.set({
      rivers: new Map(rivers.map((r) => [r.id, r])),
      incidents: new Map(incidents.map((i) => [i.id, i])),
      loaded: true,
    });
    this.addEvents(events);
    this.takeOver();
    this.follow();
    this.askReadings.poke();
    this.askIncident.poke();
  }

  private async loadStaleRivers(): Promise<void> {
    const ids = [...this.staleRivers].filter((id) => this.state.rivers.has(id));
    this.staleRivers.clear();
    const fresh = ids.length > FEW ? await api.rivers() : await Promise.all(ids.map((id) => api.river(id)));
    const rivers = new Map(this.state.rivers);
    for (const river of fresh) rivers.set(river.id, river);
    this.set({ rivers });
  }

  /* Silence makes no event: somebody has to look. */
  private lookAround(): void {
    if (this.state.connection !== "live") return;
    for (const id of this.state.rivers.keys()) this.staleRivers.add(id);
    this.askRivers.poke();
  }

  private async loadCenterline(): Promise<void> {
    const river = this.shownRiver();
    if (!river?.has_centerline) return;
    const centerline = await api.centerline(river.id);
    if (this.state.river === river.id) this.set({ centerline });
  }

  private async loadReadings(): Promise<void> {
    const river = this.shownRiver();
    if (!river) return;
    /* A little before the incident, or the last day. */
    const incident = this.shownIncident();
    const from_s = incident ? incident.onset_s - 6 * 3600 : riverNow(river).now_s - 24 * 3600;
    const sensors = chartedSensors(river);
    const lists = await Promise.all(sensors.map((s) => api.readings(river.id, s.id, from_s)));
    if (this.state.river !== river.id) return;
    /* What came over the stream meanwhile stays. */
    const known = this.state.readings;
    this.set({ readings: new Map(sensors.map((s, i) => [s.id, united(lists[i]!, (known.get(s.id) ?? []).filter((r) => r.time_s >= from_s))])) });
  }

  /* Readings as they come; one that is known already changes nothing. */
  private async mergeReadings(): Promise<void> {
    const news = this.incoming.filter((r) => r.river === this.state.river);
    this.incoming = [];
    const readings = new Map(this.state.readings);
    for (const sensor of new Set(news.map((r) => r.sensor))) {
      readings.set(sensor, united(readings.get(sensor) ?? [], news.filter((r) => r.sensor === sensor)));
    }
    this.set({ readings });
  }

  private async loadIncident(): Promise<void> {
    const id = this.state.incident;
    if (id === null) return;
    const { history, ...incident } = await api.incident(id);
    if (this.state.incident !== id) return;
    this.set({ history, incidents: new Map(this.state.incidents).set(id, incident) });
    this.askForecast.poke();
  }

  private async loadForecast(): Promise<void> {
    const river = this.shownRiver();
    const incident = this.shownIncident();
    const frame = river && incident && frameOf(river, incident, riverNow(river).now_s);
    if (!frame || this.state.noForecast) return;
    const sensors = chartedSensors(river);
    try {
      const [posterior, ...forecasts] = await Promise.all([
        api.posterior(incident.id).catch(nothingFrom409),
        ...sensors.map((s) => api.forecast(incident.id, s.location_m, frame.from_s, frame.to_s, FORECAST_TIMES)),
      ]);
      if (this.state.incident !== incident.id) return;
      this.set({ frame, posterior, noForecast: null, forecasts: new Map(sensors.map((s, i) => [s.id, forecasts[i]!])) });
      this.plumeStale = true;
      this.askPlume.poke();
    } catch (error) {
      if (!(error instanceof api.Refused && (error.status === 409 || error.status === 410))) throw error;
      this.set({ frame: null, noForecast: error.status === 410 ? "forgotten" : "method" });
    }
  }

  private async loadPlume(): Promise<void> {
    const { frame, slider, incident } = this.state;
    const river = this.shownRiver();
    if (!frame || !river || incident === null) return;
    const at = (time_s: number) => api.plume(incident, Math.max(time_s, frame.from_s + 1), frame.from_m, frame.to_m, PLACES);
    const plumeNow = this.plumeStale ? await at(riverNow(river).now_s) : this.state.plumeNow;
    this.plumeStale = false;
    const plume = slider === null ? plumeNow : await at(frameTime(frame, slider));
    if (this.state.incident === incident) this.set({ plume, plumeNow });
  }

  /* Where the slider stands. */
  sliderIndex(): number {
    const { frame, slider } = this.state;
    const river = this.shownRiver();
    if (!frame || !river) return 0;
    return slider ?? frameAt(frame, riverNow(river).now_s);
  }
}

/* Both, by time, each time once. */
function united(first: Reading[], second: Reading[]): Reading[] {
  const times = new Set(first.map((r) => r.time_s));
  const fresh = second.filter((r) => !times.has(r.time_s));
  return fresh.length ? [...first, ...fresh].sort((a, b) => a.time_s - b.time_s) : first;
}

/* "This method has no samples" is an answer, not a failure. */
function nothingFrom409(error: unknown): null {
  if (error instanceof api.Refused && error.status === 409) return null;
  throw error;
}
