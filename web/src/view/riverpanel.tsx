/* The river with the plume on it, and the slider that moves it through time. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { riverNow } from "../clock";
import { FRAMES, frameTime, highest, peakOf } from "../forecast";
import { concentration, duration, instant, type Unit } from "../format";
import { centerlinesOf } from "../geometry";
import type { River } from "../model";
import { isNetwork, placeText } from "../network";
import { useStore, useWidth } from "./context";
import { svgToPng } from "./export";
import { RiverMap } from "./map";
import { Panel } from "./panel";
import { Schematic } from "./schematic";
import { Tree } from "./tree";

const PLAY_MS = 180;

function Slider({ river, unit }: { river: River; unit: Unit }) {
  const [store, state] = useStore();
  const [playing, setPlaying] = useState(false);
  const index = store.sliderIndex();
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => {
      const next = store.sliderIndex() + 1;
      if (next >= FRAMES) setPlaying(false);
      else store.slideTo(next);
    }, PLAY_MS);
    return () => clearInterval(timer);
  }, [playing]);
  const { frame } = state;
  if (!frame) return null;
  const { now_s } = riverNow(river);
  const time_s = state.slider === null ? now_s : frameTime(frame, index);
  const away = time_s - now_s;
  const when =
    state.slider === null || Math.abs(away) < 60 ? "now" : away > 0 ? `in ${duration(away)}` : `${duration(away)} ago`;
  const plume = highest(state.plumes);
  const peak = plume && peakOf(plume);
  const near = peak && plume && `${peak.beyond ? "beyond" : "near"} ${placeText(river, plume.branch, peak.x_m)}`;
  const where = peak && peak.mid > 0 ? `peak ${near}, ${concentration(peak.mid, unit)}` : "";
  return (
    <div class="slider">
      <button type="button" onClick={() => setPlaying(!playing)} aria-pressed={playing}>
        {playing ? "Pause" : "Play"}
      </button>
      <button
        type="button"
        onClick={() => {
          setPlaying(false);
          store.slideTo(null);
        }}
        disabled={state.slider === null}
      >
        Now
      </button>
      <input
        type="range"
        min={0}
        max={FRAMES - 1}
        step={1}
        value={index}
        aria-label="Time of the plume's forecast"
        aria-valuetext={`${instant(river, time_s)}, ${when}. ${where}`}
        onInput={(event) => {
          setPlaying(false);
          store.slideTo(Number(event.currentTarget.value));
        }}
      />
      <output>
        <b>{when}</b> · {instant(river, time_s)}
        {where && ` · ${where}`}
      </output>
    </div>
  );
}

export function RiverPanel({ river, unit, reference_g_m3 }: { river: River; unit: Unit; reference_g_m3: number }) {
  const [store, state] = useStore();
  const [ref, width] = useWidth();
  const [asMap, setAsMap] = useState(false);
  const figure = useRef<HTMLDivElement>(null);
  const incident = store.shownIncident();
  const { now_s } = riverNow(river);
  const lines = useMemo(() => centerlinesOf(state.lines), [state.lines]);
  const tools = (
    <>
      {lines.size > 0 && (
        <div class="segmented" role="group" aria-label="Draw the river">
          <button type="button" aria-pressed={!asMap} onClick={() => setAsMap(false)}>
            {isNetwork(river) ? "as a tree" : "by kilometre"}
          </button>
          <button type="button" aria-pressed={asMap} onClick={() => setAsMap(true)}>
            as a map
          </button>
        </div>
      )}
      <button
        type="button"
        onClick={() => void svgToPng(figure.current!.querySelector("svg")!, `${river.id}-river.png`)}
      >
        PNG
      </button>
    </>
  );
  return (
    <Panel id="river" title={river.name} class="river" tools={tools}>
      <div ref={ref}>
        <div ref={figure}>
          {width > 0 &&
            (asMap && lines.size > 0 ? (
              <RiverMap
                river={river}
                lines={lines}
                incident={incident}
                plumes={state.plumes}
                unit={unit}
                now_s={now_s}
                width={width}
                tiles={state.tiles}
              />
            ) : isNetwork(river) ? (
              <Tree river={river} incident={incident} plumes={state.plumes} unit={unit} now_s={now_s} width={width} />
            ) : (
              <Schematic
                river={river}
                incident={incident}
                plume={state.plumes[0] ?? null}
                reference_g_m3={reference_g_m3}
                unit={unit}
                now_s={now_s}
                width={width}
              />
            ))}
        </div>
      </div>
      {incident && <Slider river={river} unit={unit} />}
      <ul class="key" aria-hidden="true">
        <li>
          <i class="k-ring" />
          sensor, quiet
        </li>
        <li>
          <i class="k-dot" />
          above background
        </li>
        <li>
          <i class="k-cross">×</i>silent
        </li>
        {river.candidates.length > 0 && (
          <li>
            <i class="k-diamond" />
            candidate, fuller is likelier
          </li>
        )}
        {river.intakes.length > 0 && (
          <li>
            <i class="k-drop" />
            intake
          </li>
        )}
        {incident?.interval && (
          <li>
            <i class="k-interval" />
            source, {Math.round(100 * incident.interval.level)} % {isNetwork(river) ? "region" : "interval"}
          </li>
        )}
        {state.plumes.length > 0 && (
          <li>
            <i class="k-plume" />
            {isNetwork(river) || asMap ? "plume, stronger where it is denser" : "plume, with its band"}
          </li>
        )}
      </ul>
    </Panel>
  );
}
