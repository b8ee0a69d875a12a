/* The screen: a sentence, four answers, the river, then everything they rest on; or all rivers at a glance. */
import { withdrawals } from "../alarms";
import { GRADE_WORD, iconOf, showIcon, unheard, type Grade } from "../attention";
import { riverNow, useTick } from "../clock";
import { highest } from "../forecast";
import { duration, instant, isCalendar, unitFor, type Unit } from "../format";
import type { Incident, River } from "../model";
import { sensorName } from "../network";
import { calmSentence, nameOf, plainWarnings, spillSentence } from "../sentence";
import type { State } from "../store";
import { AlarmPanel } from "./alarms";
import { Answers } from "./answers";
import { IncidentCommands } from "./command";
import { useStore } from "./context";
import { AdvicePanel } from "./advice";
import { DensityPanel } from "./density";
import { EventPanel } from "./events";
import { Exports } from "./export_bar";
import { later } from "./later";
import { Overview } from "./overview";
import { RiverPanel } from "./riverpanel";
import { TokenPrompt } from "./token";
import { TopBar } from "./topbar";

/* Charts are half of the page's code, and none of its sentence. */
const HistoryPanel = later(async () => (await import("./history")).HistoryPanel);
const Sensors = later(async () => (await import("./sensors")).Sensors);

/* The largest concentration on the screen, which chooses the unit. */
function largest(state: State, incident: Incident | undefined): number {
  let most = 0;
  for (const { list } of state.readings.values()) for (const r of list) most = Math.max(most, r.concentration_g_m3);
  return incident ? Math.max(most, peakOf(incident)) : most;
}

const peakOf = (incident: Incident) => Math.max(0, ...incident.arrivals.map((a) => a.peak_g_m3?.[1] ?? 0));

/* Of readings that are of another day: what is said to come "in an hour" is meant from then. */
function oldNews(river: River): string {
  const { now_s, live } = riverNow(river);
  return live || !isCalendar(river) ? "" : `All of this is as of its latest reading, ${instant(river, now_s)}.`;
}

type Open = { incident: Incident; grade: Grade };

/* Spills that are not the one on the screen: nothing urgent hides behind it. What is as bad is said in full. */
function Others({ open, shown, state }: { open: Open[]; shown: Incident | undefined; state: State }) {
  const others = open.filter((o) => o.incident.id !== shown?.id);
  if (!others.length) return null;
  const grade = open.find((o) => o.incident.id === shown?.id)?.grade ?? -1;
  return (
    <ul class="others" role="alert">
      {others.map(({ incident, grade: theirs }) => {
        const river = state.rivers.get(incident.river_id);
        const name = river ? nameOf(river) : incident.river_id;
        const full = river && theirs >= grade;
        const heard = unheard(incident).length ? "" : ", acknowledged";
        const tone = `${theirs >= 3 ? "alarm" : "warn"} ${full ? "full" : ""} ${theirs > grade ? "worse" : ""}`;
        return (
          <li key={incident.id} class={tone}>
            <a href={`#/incident/${incident.id}`}>
              {GRADE_WORD[theirs]} on {name}, since {instant(river, incident.opened_s)}
              {heard}
            </a>
            {full && (
              <p>
                {spillSentence(river, incident, riverNow(river).now_s, unitFor(peakOf(incident)))} {oldNews(river)}
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
}

const nameIn = (state: State, id: string) => {
  const river = state.overview.get(id);
  return river ? nameOf(river) : id;
};

/* Above all rivers: how many, and the worst of them. */
function openSentence(open: Open[], state: State): string {
  const worst = `${GRADE_WORD[open[0]!.grade].toLowerCase()} on ${nameIn(state, open[0]!.incident.river_id)}`;
  return open.length === 1
    ? `One incident is open: ${worst}.`
    : `${open.length} incidents are open. The worst: ${worst}.`;
}

/* The tab says it too: how many, how bad the worst is, and where. */
function titleOf(open: Open[], state: State): string {
  const worst = open[0];
  if (!worst) return "headwater";
  return `(${open.length}) ${GRADE_WORD[worst.grade]}: ${nameIn(state, worst.incident.river_id)}`;
}

const NOTICES = 4;

function Notices({ river, incident, unit }: { river: River; incident: Incident | undefined; unit: Unit }) {
  const silent = river.sensors.filter((s) => s.state === "silent");
  const lines = silent.map(
    (s) => `Sensor ${sensorName(s)} is silent${s.age_s === null ? "" : `, last reading ${duration(s.age_s)} ago`}.`,
  );
  if (incident?.state === "open") lines.push(...withdrawals(incident));
  lines.push(...(incident ? plainWarnings(river, incident, unit) : river.remarks));
  const old = incident?.state === "open" ? oldNews(river) : "";
  if (old) lines.unshift(old);
  if (!lines.length) return null;
  const items = (list: string[]) => list.map((l) => <li key={l}>{l}</li>);
  return (
    <>
      <ul class="notices" aria-label="Notices">
        {items(lines.slice(0, NOTICES))}
      </ul>
      {lines.length > NOTICES && (
        <details class="notices">
          <summary>{lines.length - NOTICES} more</summary>
          <ul>{items(lines.slice(NOTICES))}</ul>
        </details>
      )}
    </>
  );
}

function Spill({ river, incident, unit }: { river: River; incident: Incident; unit: Unit }) {
  const [, state] = useStore();
  const { now_s } = riverNow(river);
  const reference = largest(state, incident);
  return (
    <>
      <Answers
        river={river}
        incident={incident}
        plumeNow={highest(state.plumesNow)}
        noForecast={state.noForecast}
        readings={state.readings}
        unit={unit}
        now_s={now_s}
      />
      <AlarmPanel incident={incident} />
      <RiverPanel river={river} unit={unit} reference_g_m3={reference} />
      <Sensors river={river} unit={unit} reference_g_m3={reference} />
      <AdvicePanel river={river} incident={incident} unit={unit} />
      <DensityPanel river={river} incident={incident} posterior={state.posterior} noForecast={state.noForecast} />
      <HistoryPanel river={river} incident={incident} history={state.history} />
    </>
  );
}

/* Colour of the sentence: what is known, or that too little is heard to know. */
function toneOf(state: State, open: Open[], river: River | undefined, incident: Incident | undefined): string {
  if (!state.loaded || (!river && !state.all)) return "";
  if (incident) {
    if (incident.state === "closed") return "";
    return (open.find((o) => o.incident.id === incident.id)?.grade ?? 0) >= 3 ? "alarm" : "warn";
  }
  const watched = [...state.overview.values()].filter((r) => !open.length || !river || r.id === river.id);
  if (state.all && (open[0]?.grade ?? 0) >= 3) return "alarm";
  const deaf = watched.some((r) => r.sensors.silent + r.sensors["no data"] > 0 || r.remarks.length > 0);
  return deaf || open.length ? "warn" : "calm";
}

export function App() {
  const [store, state] = useStore();
  useTick(10000); /* ages and countdowns */
  const river = store.shownRiver();
  const incident = store.shownIncident();
  if (state.connection === "token") return <TokenPrompt />;
  const reference = largest(state, incident);
  const unit = unitFor(reference);
  const open = store.open();
  document.title = titleOf(open, state);
  showIcon(iconOf(open.length, open[0]?.grade ?? 0));
  const brief = river && state.overview.get(river.id);
  const sentence = !state.loaded
    ? "Asking the service\u2026"
    : !state.overview.size
      ? "This service watches no river."
      : river && incident
        ? spillSentence(river, incident, riverNow(river).now_s, unit)
        : calmSentence(brief && open.length ? [brief] : [...state.overview.values()]);
  const told = open.length > 0 && state.all ? openSentence(open, state) : "";
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(e) => {
          e.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        To the answer
      </a>
      <TopBar river={river} />
      <main
        id="main"
        tabIndex={-1}
        class={state.connection === "lost" ? "stale" : ""}
        data-incident={incident?.id}
        data-readings={incident?.readings}
      >
        <Others open={open} shown={incident} state={state} />
        <div class={`sentence ${toneOf(state, open, river, incident)}`}>
          <h1 aria-live="polite">{told || sentence}</h1>
          {river && <Notices river={river} incident={incident} unit={unit} />}
          {river && <IncidentCommands river={river} incident={incident} />}
        </div>
        {state.loaded && state.all && <Overview open={open} />}
        {river && incident && <Spill river={river} incident={incident} unit={unit} />}
        {river && !incident && (
          <>
            <RiverPanel river={river} unit={unit} reference_g_m3={reference} />
            <Sensors river={river} unit={unit} reference_g_m3={reference} />
          </>
        )}
        {state.loaded && <EventPanel unit={unit} />}
        {river && <Exports river={river} incident={incident} />}
      </main>
    </>
  );
}
