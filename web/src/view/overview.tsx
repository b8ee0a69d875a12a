/* All rivers: a map of their lines, and a list, the worst first, to be searched. */
import { useState } from "preact/hooks";
import { GRADE_WORD, type Grade } from "../attention";
import { riverNow } from "../clock";
import { duration } from "../format";
import type { Incident, RiverBrief } from "../model";
import { nameOf } from "../sentence";
import { Some } from "./card";
import { useStore, useWidth } from "./context";
import { RiversMap } from "./riversmap";
import { Panel } from "./panel";

export interface Entry {
  river: RiverBrief;
  incidents: Incident[];
  worst: Grade | -1; /* -1: none is open */
  tone: "alarm" | "warn" | "calm";
  word: string;
  href: string;
}

const LISTED = 30; /* at once; the others behind a word, and found by searching */

const deafOf = (r: RiverBrief) => r.sensors.silent + r.sensors["no data"];

function wordOf(river: RiverBrief): string {
  const { silent, total } = river.sensors;
  if (river.sensors["no data"] === total) return "no data";
  if (silent) return `${silent} of ${total} sensors silent`;
  if (river.sensors["no data"]) return `${river.sensors["no data"]} of ${total} sensors without data`;
  if (river.remarks.length) return "needs a look";
  return river.sensors.learning ? "learning" : "quiet";
}

/* The worst first; then those that hear least; then by name. */
export function entriesOf(rivers: Iterable<RiverBrief>, open: { incident: Incident; grade: Grade }[]): Entry[] {
  const entries = [...rivers].map((river): Entry => {
    const here = open.filter((o) => o.incident.river_id === river.id);
    const worst = here[0]?.grade ?? -1;
    return {
      river,
      incidents: here.map((o) => o.incident),
      worst,
      tone: here.length ? (worst >= 3 ? "alarm" : "warn") : deafOf(river) || river.remarks.length ? "warn" : "calm",
      word: here.length
        ? GRADE_WORD[worst as Grade] + (here.length > 1 ? `, ${here.length} incidents` : "")
        : wordOf(river),
      href: here.length === 1 ? `#/incident/${here[0]!.incident.id}` : `#/river/${encodeURIComponent(river.id)}`,
    };
  });
  const share = (e: Entry) => deafOf(e.river) / e.river.sensors.total;
  return entries.sort(
    (a, b) =>
      b.worst - a.worst ||
      share(b) - share(a) ||
      b.river.remarks.length - a.river.remarks.length ||
      nameOf(a.river).localeCompare(nameOf(b.river), undefined, { numeric: true }),
  );
}

const found = (entry: Entry, words: string[]) => {
  const text = `${entry.river.name} ${entry.river.id} ${entry.word}`.toLowerCase();
  return words.every((w) => text.includes(w));
};

function latestText(river: RiverBrief): string {
  if (river.present_s === null) return "no reading yet";
  const { live } = riverNow(river);
  const age = Date.now() / 1000 - river.present_s;
  return live ? "live" : river.time_base === "relative" ? "its own clock" : `of ${duration(Math.max(0, age))} ago`;
}

function List({ entries }: { entries: Entry[] }) {
  return (
    <ul class="rivers">
      {entries.map((e) => (
        <li key={e.river.id} class={e.tone}>
          <a href={e.href}>
            <i aria-hidden="true" />
            <b>{nameOf(e.river)}</b> <span>{e.word}</span>{" "}
            <span class="range">
              {e.river.sensors.total} {e.river.sensors.total === 1 ? "sensor" : "sensors"}, {latestText(e.river)}
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function MapPanel({ entries }: { entries: Entry[] }) {
  const [, state] = useStore();
  const [ref, width] = useWidth();
  return (
    <Panel id="rivers-map" title="Map" note="Every river with a centreline; press one to look at it.">
      <div ref={ref}>
        {width > 0 && <RiversMap entries={entries} lines={state.lines} tiles={state.tiles} width={width} />}
      </div>
    </Panel>
  );
}

export function Overview({ open }: { open: { incident: Incident; grade: Grade }[] }) {
  const [, state] = useStore();
  const [text, setText] = useState("");
  const entries = entriesOf(state.overview.values(), open);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = entries.filter((e) => found(e, words));
  const count = shown.length === entries.length ? entries.length : `${shown.length} of ${entries.length}`;
  return (
    <>
      {state.lines.length > 0 && <MapPanel entries={shown} />}
      <Panel
        id="rivers"
        title="Rivers"
        note={`${count}, the worst first.`}
        tools={
          <input
            type="search"
            aria-label="Search rivers"
            placeholder="Search by name or state"
            value={text}
            onInput={(e) => setText(e.currentTarget.value)}
          />
        }
      >
        <Some list={shown} most={LISTED} items={(part) => <List entries={part} />} />
        {!shown.length && <p class="empty">No river is called that.</p>}
      </Panel>
    </>
  );
}
