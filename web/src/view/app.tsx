/* The screen: a sentence, four answers, the river, then everything they rest on. */
import { areCut, MOST_READINGS } from "../api";
import { riverNow, useTick } from "../clock";
import { duration, instant, unitFor, type Unit } from "../format";
import type { Incident, River } from "../model";
import { calmSentence, spillSentence } from "../sentence";
import type { State } from "../store";
import { Answers } from "./answers";
import { IncidentCommands } from "./command";
import { useStore } from "./context";
import { DensityPanel } from "./density";
import { EventPanel } from "./events";
import { printPage, saveBulletin, saveIncident, savePlaces, saveReadings } from "./export";
import { HistoryPanel } from "./history";
import { RiverPanel } from "./riverpanel";
import { Sensors } from "./sensors";
import { TokenPrompt } from "./token";
import { TopBar } from "./topbar";

/* The largest concentration on the screen, which chooses the unit. */
function largest(state: State, incident: Incident | undefined): number {
  let most = 0;
  for (const list of state.readings.values()) for (const r of list) most = Math.max(most, r.concentration_g_m3);
  for (const a of incident?.arrivals ?? []) most = Math.max(most, a.peak_g_m3?.[1] ?? 0);
  return most;
}

/* Spills that are not the one on the screen: nothing urgent hides behind it. */
function Others({ open, shown, rivers }: { open: Incident[]; shown: Incident | undefined; rivers: Map<string, River> }) {
  const others = open.filter((i) => i.id !== shown?.id).sort((a, b) => b.id - a.id);
  if (!others.length) return null;
  return (
    <ul class="others" role="alert">
      {others.map((i) => {
        const river = rivers.get(i.river_id);
        return <li key={i.id}><a href={`#/incident/${i.id}`}>{shown?.state === "open" ? "Another spill" : "Spill"}: {river ? river.name : i.river_id}, since {instant(river, i.opened_s)}</a></li>;
      })}
    </ul>
  );
}

/* The tab says it too: how many, and where the latest is. */
function titleOf(open: Incident[], rivers: Map<string, River>): string {
  const latest = open.reduce<Incident | null>((a, b) => (a && a.id > b.id ? a : b), null);
  return latest ? `(${open.length}) Spill: ${rivers.get(latest.river_id)?.name ?? latest.river_id}` : "headwater";
}

const NOTICES = 4;

function Notices({ river, incident }: { river: River; incident: Incident | undefined }) {
  const silent = river.sensors.filter((s) => s.state === "silent");
  const lines = silent.map((s) => `Sensor ${s.id} is silent${s.age_s === null ? "" : `, last reading ${duration(s.age_s)} ago`}.`);
  lines.push(...(incident?.warnings ?? []));
  if (!lines.length) return null;
  const items = (list: string[]) => list.map((l) => <li key={l}>{l}</li>);
  return (
    <>
      <ul class="notices" aria-label="Notices">{items(lines.slice(0, NOTICES))}</ul>
      {lines.length > NOTICES && (
        <details class="notices">
          <summary>{lines.length - NOTICES} more</summary>
          <ul>{items(lines.slice(NOTICES))}</ul>
        </details>
      )}
    </>
  );
}

function Exports({ river, incident }: { river: River; incident: Incident | undefined }) {
  const [, state] = useStore();
  return (
    <div class="exports" role="group" aria-label="Export">
      <span>Export</span>
      <button type="button" onClick={() => void saveReadings(river, incident, state.readings)}>Readings, CSV</button>
      {incident && <button type="button" onClick={() => void saveIncident(incident.id)}>Incident, JSON</button>}
      <button type="button" onClick={() => void savePlaces(river, incident)}>Places, GeoJSON</button>
      {incident && <button type="button" onClick={() => void saveBulletin(incident.id)}>Bulletin, text</button>}
      <button type="button" onClick={printPage}>Print</button>
      {!incident && areCut(state.readings) && <span>Readings: the last {MOST_READINGS} of each sensor.</span>}
    </div>
  );
}

function Spill({ river, incident, unit, reference }: { river: River; incident: Incident; unit: Unit; reference: number }) {
  const [, state] = useStore();
  const { now_s } = riverNow(river);
  return (
    <>
      <Answers river={river} incident={incident} plumeNow={state.plumeNow} noForecast={state.noForecast} readings={state.readings} unit={unit} now_s={now_s} />
      <RiverPanel river={river} unit={unit} reference_g_m3={reference} />
      <Sensors river={river} unit={unit} reference_g_m3={reference} />
      <DensityPanel river={river} incident={incident} posterior={state.posterior} noForecast={state.noForecast} />
      <HistoryPanel river={river} incident={incident} history={state.history} />
    </>
  );
}

export function App() {
  const [store, state] = useStore();
  useTick(10000); /* ages and countdowns */
  const river = store.shownRiver();
  const incident = store.shownIncident();
  if (state.connection === "token") return <TokenPrompt />;
  const reference = largest(state, incident);
  const unit = unitFor(reference);
  const open = [...state.incidents.values()].filter((i) => i.state === "open");
  document.title = titleOf(open, state.rivers);
  const sentence = !state.loaded ? "Asking the service\u2026"
    : !river ? "This service watches no river."
    : incident ? spillSentence(river, incident, riverNow(river).now_s, unit)
    : open.length ? calmSentence([river])
    : calmSentence([...state.rivers.values()]);
  const watched = open.length && river ? [river] : [...state.rivers.values()];
  const deaf = watched.some((r) => r.sensors.some((s) => s.state === "silent" || s.state === "no data"));
  const tone = !state.loaded || !river ? "" : incident ? (incident.state === "closed" ? "" : incident.provisional || !incident.estimate ? "warn" : "alarm") : deaf || open.length ? "warn" : "calm";
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>To the answer</a>
      <TopBar river={river} />
      <main id="main" tabIndex={-1} class={state.connection === "lost" ? "stale" : ""} data-incident={incident?.id} data-readings={incident?.readings}>
        <Others open={open} shown={incident} rivers={state.rivers} />
        <div class={`sentence ${tone}`}>
          <h1 aria-live="polite">{sentence}</h1>
          {river && <Notices river={river} incident={incident} />}
          {river && <IncidentCommands river={river} incident={incident} />}
        </div>
        {river && incident && <Spill river={river} incident={incident} unit={unit} reference={reference} />}
        {river && !incident && (
          <>
            <RiverPanel river={river} unit={unit} reference_g_m3={reference} />
            <Sensors river={river} unit={unit} reference_g_m3={reference} />
          </>
        )}
        {river && <EventPanel events={state.events} rivers={state.rivers} incidents={state.incidents} unit={unit} />}
        {river && <Exports river={river} incident={incident} />}
      </main>
    </>
  );
}
