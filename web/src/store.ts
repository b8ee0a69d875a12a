/* What the page knows, and how it learns it.
 *
 * The stream says that something happened, and readings and estimates come with it; this asks for what is not in the
 * event. Questions of one kind are asked once at a time and no oftener than a person can read: under a fast replay the
 * service is left to its work. After a lost connection everything shown is asked for again, so nothing depends on
 * having heard every event. Rivers that are not on the screen cost a line of the overview.
 */
import * as api from "./api";
import { gradeOf, isIdle, isOrdering, ring, unheard, watchHands, type Grade } from "./attention";
import { riverNow } from "./clock";
import { FRAMES, frameAt, frameOf, frameTime, type Frame } from "./forecast";
import type {
  CenterlineFeature,
  Forecast,
  Incident,
  IncidentBrief,
  LogEvent,
  Plume,
  Posterior,
  Reading,
  Result,
  River,
  RiverBrief,
  Sensor,
  Track,
} from "./model";
import { Paced } from "./paced";
import { NONE, POINTS, united, type SensorReadings } from "./readings";
import { Stream } from "./stream";

export type Connection = "connecting" | "live" | "lost" | "token";

/* Why there is none: the method makes no forecast, or the incident's readings are no longer kept. */
export type NoForecast = null | "method" | "forgotten";

export interface State {
  connection: Connection;
  retry_at_ms: number;
  tokenRefused: boolean;
  loaded: boolean;
  overview: Map<string, RiverBrief>;
  tiles: string | null;
  rivers: Map<string, River>; /* whole: the one shown and those with a spill */
  incidents: Map<number, Incident>; /* open ones, and the one shown */
  past: { list: IncidentBrief[]; more: boolean };
  events: { list: LogEvent[]; more: boolean }; /* latest first */
  all: boolean; /* the overview is shown, and no river */
  river: string | null; /* shown */
  incident: number | null; /* shown */
  lines: CenterlineFeature[]; /* of the river shown, or in the overview of all */
  readings: Map<string, SensorReadings>; /* of the river shown, by sensor */
  history: Track[]; /* of the incident shown, and all below */
  forecasts: Map<string, Forecast>; /* by sensor */
  posterior: Posterior | null;
  frame: Frame | null;
  slider: number | null; /* a frame's index; null follows the clock */
  plumes: Plume[]; /* where the slider stands, one for each branch on the way */
  plumesNow: Plume[];
  noForecast: NoForecast;
}

const PACE_MS = 1500;
const SLOW_MS = 8000; /* forecasts, densities, history: dear to make, and little changes between two readings */
const PLUME_PACE_MS = 80;
const EVENTS = 200;
const PAST = 20;
const MERGE_MS = 250;
const CHARTS = 24;
const LOOK_MS = 30000;
const PLACES = 140;
const FORECAST_TIMES = 120;
const STEPS = 300; /* of a history */
const LINES_WITHIN_M = 250;

/* What rests on a source. */
const NOTHING_FORECAST = {
  forecasts: new Map(),
  posterior: null,
  frame: null,
  slider: null,
  plumes: [],
  plumesNow: [],
};

const NOTHING_SHOWN = { ...NOTHING_FORECAST, history: [], noForecast: null };

type ReadingEvent = Reading & { river: string; sensor: string };

/* The sensors there is room for, those above their background first. */
export function chartedSensors(river: River): Sensor[] {
  if (river.sensors.length <= CHARTS) return river.sensors;
  const alarmed = river.sensors.filter((s) => s.state === "alarm");
  return [...alarmed, ...river.sensors.filter((s) => s.state !== "alarm")].slice(0, CHARTS);
}

/* From when on readings are shown: a little before the incident, or the last day. */
export const shownFrom = (river: River, incident: Incident | undefined) =>
  incident ? incident.onset_s - 6 * 3600 : riverNow(river).now_s - 24 * 3600;

export class Store {
  state: State = {
    connection: "connecting",
    retry_at_ms: 0,
    tokenRefused: false,
    loaded: false,
    overview: new Map(),
    tiles: null,
    rivers: new Map(),
    incidents: new Map(),
    past: { list: [], more: false },
    events: { list: [], more: false },
    all: false,
    river: null,
    incident: null,
    lines: [],
    readings: new Map(),
    ...NOTHING_SHOWN,
  };
  private readonly listeners = new Set<() => void>();
  private readonly stream: Stream;
  private incoming: ReadingEvent[] = [];
  private drawn = false;
  private plumeStale = true; /* since the estimate moved */
  private grades: Map<number, Grade> | null = null; /* told so far; null: nothing was asked yet */
  private readonly failed = (error: unknown) => this.onFailure(error);
  private readonly askAll = new Paced(() => this.loadAll(), PACE_MS, this.failed);
  private readonly askOverview = new Paced(() => this.loadOverview(), SLOW_MS, this.failed);
  private readonly askRiver = new Paced(() => this.loadShownRiver(), PACE_MS, this.failed);
  private readonly askMerge = new Paced(() => this.mergeReadings(), MERGE_MS, this.failed);
  private readonly askReadings = new Paced(() => this.loadReadings(), PACE_MS, this.failed);
  private readonly askHistory = new Paced(() => this.loadHistory(), SLOW_MS, this.failed);
  private readonly askForecast = new Paced(() => this.loadForecast(), SLOW_MS, this.failed);
  private readonly askPlume = new Paced(() => this.loadPlume(), PLUME_PACE_MS, this.failed);

  constructor() {
    this.stream = new Stream("/v1/stream", {
      onOpen: () => {
        this.set({ connection: "live", tokenRefused: false });
        this.askAll.poke();
        if (this.state.loaded) this.askShown();
      },
      onEvent: (kind, data) => this.onEvent(kind, data),
      onLost: (retry_at_ms) => this.set({ connection: "lost", retry_at_ms }),
      onRefused: () => this.needToken(),
    });
  }

  start(): void {
    watchHands();
    window.addEventListener("hashchange", () => void this.follow().catch(this.failed));
    setInterval(() => this.lookAround(), LOOK_MS);
    this.stream.start();
    this.askAll.poke(); /* beside the stream; asked again when that is open, so that nothing falls between */
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

  /* Open incidents, the worst first, among equals the latest. */
  open(): { incident: Incident; grade: Grade }[] {
    return [...this.state.incidents.values()]
      .filter((i) => i.state === "open")
      .map((incident) => ({ incident, grade: gradeOf(incident, this.nowOn(incident.river_id)) }))
      .sort((a, b) => b.grade - a.grade || b.incident.id - a.incident.id);
  }

  private nowOn(river_id: string): number {
    const river = this.state.overview.get(river_id);
    return river ? riverNow(river).now_s : 0;
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

  /* --- what is shown: the address after the #, else the worst open incident, else the river or all of them --- */

  private async follow(): Promise<void> {
    const [, kind, id] = /^#\/(incident|river|all)\/?(.*)$/.exec(location.hash) ?? [];
    const { incidents, overview } = this.state;
    let river = kind === "river" ? decodeURIComponent(id!) : null;
    let incident = kind === "incident" && Number(id) > 0 ? Number(id) : null;
    if (incident !== null && !incidents.has(incident)) {
      const found = await api.incident(incident).catch(() => null); /* a past one, or none */
      if (found) this.set({ incidents: new Map(this.state.incidents).set(incident, found) });
      else incident = null;
    }
    /* With nothing asked for, an open incident stays until takeOver says otherwise. */
    if (kind === undefined && this.shownIncident()?.state === "open") incident = this.state.incident;
    if (incident === null && kind !== "all") {
      incident = this.open().find((o) => river === null || o.incident.river_id === river)?.incident.id ?? null;
    }
    if (incident !== null) river = this.state.incidents.get(incident)!.river_id;
    if (river !== null && !overview.has(river)) river = null;
    const all = river === null && overview.size > 1;
    if (river === null && !all) river = overview.keys().next().value ?? null;
    const other = river !== this.state.river || all !== this.state.all;
    if (!other && incident === this.state.incident) return;
    this.set({ all, river, incident, ...NOTHING_SHOWN, ...(other ? { readings: new Map(), lines: [] } : {}) });
    if (river !== null && !this.state.rivers.has(river)) await this.loadRivers([river]);
    if (other) void this.loadLines().catch(this.failed);
    this.askShown();
  }

  private askShown(): void {
    this.askReadings.hurry();
    this.askHistory.hurry();
    this.askForecast.hurry();
  }

  /* A new incident, or one that got worse, takes the place of whatever is no worse, unless somebody is at work here:
   * then it stands above it, in full (view/app.tsx). */
  private takeOver(): void {
    const open = this.open();
    const known = this.grades;
    this.grades = new Map(open.map((o) => [o.incident.id, o.grade]));
    if (!known) return;
    const worst = open.find((o) => o.grade > (known.get(o.incident.id) ?? -1));
    if (!worst) return;
    ring(worst.grade);
    const shown = open.find((o) => o.incident.id === this.state.incident);
    if (shown?.incident.id === worst.incident.id) return;
    const free = shown ? isIdle() && worst.grade >= shown.grade : !isOrdering();
    if (free) location.hash = `#/incident/${worst.incident.id}`;
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
      if (event.river !== this.state.river) {
        this.askOverview.poke();
        return;
      }
      this.askRiver.poke();
      this.incoming.push(event as unknown as ReadingEvent);
      this.askMerge.poke();
    } else if (kind === "estimate") {
      this.onEstimate(event.incident, event.body as unknown as Result);
    } else if (event.id) {
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
    this.dropForecast();
    this.takeOver();
    if (id !== this.state.incident) return;
    this.askHistory.poke();
    this.askForecast.poke();
  }

  private addEvents(events: LogEvent[]): void {
    const byId = new Map([...this.state.events.list, ...events].map((e) => [e.id, e]));
    this.set({ events: { ...this.state.events, list: [...byId.values()].sort((a, b) => b.id - a.id) } });
  }

  /* --- questions --- */

  private async loadAll(): Promise<void> {
    const [overview, incidents] = await Promise.all([api.overview(), api.openIncidents()]);
    const open = new Map(incidents.map((i) => [i.id, i]));
    const shown = this.state.incident;
    if (shown !== null && !open.has(shown)) open.set(shown, await api.incident(shown));
    this.set({ overview: new Map(overview.rivers.map((r) => [r.id, r])), tiles: overview.tiles, incidents: open });
    const wanted = new Set([...open.values()].map((i) => i.river_id));
    if (this.state.river !== null) wanted.add(this.state.river);
    this.dropForecast();
    await this.loadRivers([...wanted].filter((id) => this.state.overview.has(id)));
    this.takeOver();
    await this.follow();
    this.set({ loaded: true });
    await this.loadLog();
  }

  private async loadRivers(ids: string[]): Promise<void> {
    const fresh = await Promise.all(ids.map((id) => api.river(id)));
    const rivers = new Map(this.state.rivers);
    for (const river of fresh) rivers.set(river.id, river);
    this.set({ rivers });
  }

  /* What happened lately; after a pause what came since, or, when that is much, the latest alone. */
  private async loadLog(): Promise<void> {
    const last = this.state.events.list[0]?.id;
    const since = last === undefined ? null : await api.eventsAfter(last);
    if (since && !since.more) this.addEvents(since.events);
    else {
      const { events, more } = await api.latestEvents(EVENTS);
      this.set({ events: { list: [], more } });
      this.addEvents(events);
    }
    if (!this.state.past.more || this.state.past.list.length <= PAST) await this.loadPast(false);
  }

  async loadOlderEvents(): Promise<void> {
    const { events, more } = await api.latestEvents(
      EVENTS,
      this.state.events.list[this.state.events.list.length - 1]?.id,
    );
    this.set({ events: { ...this.state.events, more } });
    this.addEvents(events);
  }

  async loadPast(older: boolean): Promise<void> {
    const known = older ? this.state.past.list : [];
    const { incidents, more } = await api.incidentsBefore(known[known.length - 1]?.id ?? 0, PAST);
    this.set({ past: { list: [...known, ...incidents], more } });
  }

  private async loadOverview(): Promise<void> {
    const { rivers } = await api.overview();
    this.set({ overview: new Map(rivers.map((r) => [r.id, r])) });
  }

  private async loadShownRiver(): Promise<void> {
    if (this.state.river === null) return;
    await this.loadRivers([this.state.river]);
    const river = this.shownRiver(); /* another sensor may have come to the front */
    if (river && chartedSensors(river).some((s) => !this.state.readings.has(s.id))) this.askReadings.poke();
  }

  /* Silence makes no event: somebody has to look. What nobody has acknowledged is heard again. */
  private lookAround(): void {
    if (this.state.connection !== "live") return;
    this.askOverview.poke();
    this.askRiver.poke();
    const [worst] = this.open().filter((o) => unheard(o.incident).length > 0);
    if (worst && worst.grade >= 3) ring(worst.grade);
  }

  private async loadLines(): Promise<void> {
    const { river, all } = this.state;
    const mapped = all
      ? [...this.state.overview.values()].some((r) => r.has_centerline)
      : this.shownRiver()?.has_centerline;
    if (!mapped) return;
    const lines = all ? await api.centerlines(LINES_WITHIN_M) : await api.centerline(river!);
    if (this.state.river === river && this.state.all === all) this.set({ lines });
  }

  private async loadReadings(): Promise<void> {
    const river = this.shownRiver();
    if (!river) return;
    const from_s = shownFrom(river, this.shownIncident());
    const sensors = chartedSensors(river);
    const found = await Promise.all(sensors.map((s) => api.readings(river.id, s.id, from_s, POINTS)));
    if (this.state.river !== river.id) return;
    /* What came over the stream meanwhile stays. */
    const known = this.state.readings;
    const readings = new Map(sensors.map((s, i) => [s.id, united(found[i]!, known.get(s.id)?.list ?? [])]));
    this.set({ readings });
  }

  private async mergeReadings(): Promise<void> {
    const news = this.incoming.filter((r) => r.river === this.state.river);
    this.incoming = [];
    const readings = new Map(this.state.readings);
    for (const sensor of new Set(news.map((r) => r.sensor))) {
      const more = news.filter((r) => r.sensor === sensor);
      readings.set(sensor, united(readings.get(sensor) ?? NONE, more));
    }
    this.set({ readings });
  }

  private async loadHistory(): Promise<void> {
    const id = this.state.incident;
    if (id === null) return;
    const history = await api.history(id, STEPS);
    if (this.state.incident === id) this.set({ history });
  }

  /* A source that is taken back takes its plume, its bands and its density with it. */
  private dropForecast(): void {
    const shown = this.shownIncident();
    if (shown && !shown.estimate && this.state.frame) this.set(NOTHING_FORECAST);
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
        ...sensors.map((s) => api.forecast(incident.id, s, frame, FORECAST_TIMES)),
      ]);
      if (this.state.incident !== incident.id || !this.shownIncident()?.estimate) return;
      this.set({
        frame,
        posterior,
        noForecast: null,
        forecasts: new Map(sensors.map((s, i) => [s.id, forecasts[i]!])),
      });
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
    const at = (time_s: number) =>
      Promise.all(frame.stretches.map((s) => api.plume(incident, Math.max(time_s, frame.from_s + 1), s, PLACES)));
    const plumesNow = this.plumeStale ? await at(riverNow(river).now_s) : this.state.plumesNow;
    const plumes = slider === null ? plumesNow : await at(frameTime(frame, slider));
    if (this.state.incident !== incident || this.state.frame !== frame) return; /* of what is no longer shown */
    this.plumeStale = false;
    this.set({ plumes, plumesNow });
  }

  /* Where the slider stands. */
  sliderIndex(): number {
    const { frame, slider } = this.state;
    const river = this.shownRiver();
    if (!frame || !river) return 0;
    return slider ?? frameAt(frame, riverNow(river).now_s);
  }
}

/* "This method has no samples" is an answer, not a failure. */
function nothingFrom409(error: unknown): null {
  if (error instanceof api.Refused && error.status === 409) return null;
  throw error;
}
