/* Who watches what, which time it is, and whether the line to the service holds. */
import { useEffect, useRef, useState } from "preact/hooks";
import { chooseSound, GRADE_WORD, sound } from "../attention";
import { riverNow, useTick } from "../clock";
import { localOffset, relativeTime, utcDate, utcTime } from "../format";
import type { River } from "../model";
import { nameOf } from "../sentence";
import { useStore } from "./context";
import { entriesOf } from "./overview";
import { chooseTheme, chosenTheme, type Theme } from "./theme";

const pad = (n: number) => String(n).padStart(2, "0");

function Clocks({ river }: { river: River | undefined }) {
  const now_s = Math.floor(useTick(1000) / 60000) * 60; /* a clock does not round up */
  const local = new Date(now_s * 1000);
  const other = river && riverNow(river);
  return (
    <div class="clocks">
      <p>
        <b>{utcTime(now_s)}</b> <span class="zone">UTC</span> <span class="date">{utcDate(now_s)}</span>
      </p>
      <p>
        <b>
          {pad(local.getHours())}:{pad(local.getMinutes())}
        </b>{" "}
        <span class="zone">local, UTC{localOffset(now_s)}</span>
      </p>
      {other && !other.live && river.present_s !== null && (
        <p class="river-clock">
          <span class="zone">river</span>{" "}
          <b>
            {river.time_base === "relative"
              ? relativeTime(other.now_s)
              : `${utcDate(other.now_s)} ${utcTime(other.now_s)} UTC`}
          </b>
        </p>
      )}
    </div>
  );
}

function Line() {
  const [store, state] = useStore();
  useTick(1000);
  const wait = Math.max(0, Math.ceil((state.retry_at_ms - Date.now()) / 1000));
  const text = {
    connecting: "Connecting",
    live: "Live",
    lost: `Connection lost, next try in ${wait} s`,
    token: "Token needed",
  }[state.connection];
  return (
    <div class={`line ${state.connection}`} role="status">
      <i aria-hidden="true" /> <span>{text}</span>
      {state.connection === "lost" && (
        <button type="button" onClick={() => store.retry()}>
          Try now
        </button>
      )}
    </div>
  );
}

const PILLS = 6; /* rivers named in the bar; more of them are in the overview */

/* All rivers, open incidents, and, where there are few, every river. */
function Places() {
  const [store, state] = useStore();
  const open = store.open();
  const entries = entriesOf(state.overview.values(), open);
  const wordOf = (id: number) => GRADE_WORD[open.find((o) => o.incident.id === id)?.grade ?? 0].toLowerCase();
  const few = entries.length <= PILLS;
  const strip = useRef<HTMLElement>(null);
  const shown = `${state.all} ${state.river} ${state.incident}`;
  /* On a phone the bar is a strip that slides: what is open is not to be looked for. */
  useEffect(() => {
    const here = strip.current?.querySelector<HTMLElement>("[aria-current]");
    if (here && strip.current) strip.current.scrollLeft = here.offsetLeft - strip.current.offsetLeft - 12;
  }, [shown, state.overview.size]);
  if (state.overview.size < 2 && open.length < 2) return null;
  return (
    <nav class="places" ref={strip} aria-label="Rivers and incidents">
      {state.overview.size > 1 && (
        <a href="#/all" class="all" aria-current={state.all ? "page" : undefined}>
          All {state.overview.size} rivers
        </a>
      )}
      {entries.flatMap((e) => {
        const several = e.incidents.length > 1;
        const pill = (key: string, href: string, word: string, shown: boolean) => (
          <a key={key} href={href} class={e.tone} aria-current={shown ? "page" : undefined}>
            <i aria-hidden="true" />
            {nameOf(e.river)} <span>{word}</span>
          </a>
        );
        const here = state.river === e.river.id;
        if (e.incidents.length)
          return e.incidents.map((i) =>
            pill(
              `${e.river.id} ${i.id}`,
              `#/incident/${i.id}`,
              several ? `${wordOf(i.id)} ${i.id}` : wordOf(i.id),
              state.incident === i.id,
            ),
          );
        return few || here ? [pill(e.river.id, e.href, e.word, here && state.incident === null)] : [];
      })}
    </nav>
  );
}

/* Whether a new or worse spill is heard in the room. */
function SoundSwitch() {
  const [state, setState] = useState(sound());
  const tick = useTick(2000);
  useEffect(() => setState(sound()), [tick]);
  const text = { off: "Sound off", on: "Sound on", waiting: "Sound: press to allow" }[state];
  return (
    <button
      type="button"
      class="quiet"
      role="switch"
      aria-checked={state !== "off"}
      aria-label="Sound for new and worse spills"
      onClick={() => void chooseSound(state !== "on").then(() => setState(sound()))}
    >
      {text}
    </button>
  );
}

const THEMES: Theme[] = ["auto", "light", "dark"];

export function TopBar({ river }: { river: River | undefined }) {
  const [theme, setTheme] = useState(chosenTheme());
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  return (
    <header class="topbar">
      <a class="brand" href="#/">
        headwater
      </a>
      <Places />
      <Line />
      <Clocks river={river} />
      <SoundSwitch />
      <button
        type="button"
        class="quiet"
        onClick={() => {
          chooseTheme(next);
          setTheme(next);
        }}
        aria-label={`Colours: ${theme}. Change to ${next}`}
      >
        {{ auto: "Auto", light: "Light", dark: "Dark" }[theme]}
      </button>
    </header>
  );
}
