/* Who watches what, which time it is, and whether the line to the service holds. */
import { useState } from "preact/hooks";
import { riverNow, useTick } from "../clock";
import { localOffset, relativeTime, utcDate, utcTime } from "../format";
import type { River } from "../model";
import { nameOf } from "../sentence";
import { useStore } from "./context";
import { chooseTheme, chosenTheme, type Theme } from "./theme";

const pad = (n: number) => String(n).padStart(2, "0");

function Clocks({ river }: { river: River | undefined }) {
  const now_s = useTick(1000) / 1000;
  const local = new Date(now_s * 1000);
  const other = river && riverNow(river);
  return (
    <div class="clocks">
      <p><b>{utcTime(now_s)}</b> <span class="zone">UTC</span> <span class="date">{utcDate(now_s)}</span></p>
      <p><b>{pad(local.getHours())}:{pad(local.getMinutes())}</b> <span class="zone">local, UTC{localOffset(now_s)}</span></p>
      {other && !other.live && river.present_s !== null && (
        <p class="river-clock">
          <span class="zone">river</span> <b>{river.time_base === "relative" ? relativeTime(other.now_s) : `${utcDate(other.now_s)} ${utcTime(other.now_s)} UTC`}</b>
        </p>
      )}
    </div>
  );
}

function Line() {
  const [store, state] = useStore();
  useTick(1000);
  const wait = Math.max(0, Math.ceil((state.retry_at_ms - Date.now()) / 1000));
  const text = { connecting: "Connecting", live: "Live", lost: `Connection lost, next try in ${wait} s`, token: "Token needed" }[state.connection];
  return (
    <div class={`line ${state.connection}`} role="status">
      <i aria-hidden="true" /> <span>{text}</span>
      {state.connection === "lost" && <button type="button" onClick={() => store.retry()}>Try now</button>}
    </div>
  );
}

/* One entry per river, and one per further incident on it. */
function Places() {
  const [, state] = useStore();
  const entries = [...state.rivers.values()].flatMap((river) => {
    const open = [...state.incidents.values()].filter((i) => i.state === "open" && i.river_id === river.id);
    if (!open.length) return [{ key: river.id, href: `#/river/${encodeURIComponent(river.id)}`, river, incident: null as number | null }];
    return open.map((i) => ({ key: `${river.id} ${i.id}`, href: `#/incident/${i.id}`, river, incident: i.id as number | null }));
  });
  if (entries.length < 2) return null;
  return (
    <nav class="places" aria-label="Rivers and incidents">
      {entries.map((e) => {
        const shown = e.incident === null ? state.incident === null && state.river === e.river.id : state.incident === e.incident;
        const silent = e.river.sensors.some((s) => s.state === "silent");
        const empty = e.river.sensors.every((s) => s.state === "no data");
        const tone = e.incident !== null ? "alarm" : silent || empty ? "warn" : "calm";
        const several = entries.filter((o) => o.river.id === e.river.id).length > 1;
        const word = e.incident !== null ? (several ? `spill ${e.incident}` : "spill") : empty ? "no data" : silent ? "sensor silent" : "quiet";
        return <a key={e.key} href={e.href} class={tone} aria-current={shown ? "page" : undefined}><i aria-hidden="true" />{nameOf(e.river)} <span>{word}</span></a>;
      })}
    </nav>
  );
}

const THEMES: Theme[] = ["auto", "light", "dark"];

export function TopBar({ river }: { river: River | undefined }) {
  const [theme, setTheme] = useState(chosenTheme());
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  return (
    <header class="topbar">
      <a class="brand" href="#/">headwater</a>
      <Places />
      <Line />
      <Clocks river={river} />
      <button type="button" class="quiet" onClick={() => { chooseTheme(next); setTheme(next); }} aria-label={`Colours: ${theme}. Change to ${next}`}>{{ auto: "Auto", light: "Light", dark: "Dark" }[theme]}</button>
    </header>
  );
}
