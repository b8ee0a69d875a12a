/* Readings of each sensor against what the estimate says they should be. */
import { useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { riverNow } from "../clock";
import { withGaps } from "../forecast";
import { chartedSensors } from "../store";
import { concentration, duration, isCalendar, shortInstant, type Unit } from "../format";
import type { Forecast, Incident, River, Sensor } from "../model";
import { givenPlace, sensorName } from "../network";
import { NONE, type SensorReadings } from "../readings";
import { Chart } from "./chart";
import { steady, useStore } from "./context";
import { canvasToPng } from "./export";
import { STATE_TEXT, stateClass } from "./marks";
import { Panel } from "./panel";
import { color, useTheme } from "./theme";

/* Ends that move in steps: not every reading draws every chart again. */
function inSteps(from_s: number, to_s: number): [number, number] {
  const step = Math.max(60, 2 ** Math.floor(Math.log2((to_s - from_s) / 40)));
  return [from_s, from_s + step * Math.ceil((to_s - from_s) / step)];
}

const LEAST_SPAN_S = 3 * 3600;

/* One span of time for all sensors: from a little before the spill until its forecast has passed. */
function span(
  river: River,
  incident: Incident | undefined,
  readings: Map<string, SensorReadings>,
  forecasts: Map<string, Forecast>,
): [number, number] {
  const { now_s } = riverNow(river);
  const first = Math.min(...[...readings.values()].map((r) => r.list[0]?.time_s ?? Infinity));
  const latest = Math.max(...[...readings.values()].map((r) => r.list[r.list.length - 1]?.time_s ?? -Infinity));
  if (!Number.isFinite(first) || !Number.isFinite(latest)) return [now_s - 86400, now_s];
  if (!incident) return inSteps(first, Math.max(latest, first + 600));
  let to = latest;
  for (const f of forecasts.values()) {
    const peak = Math.max(...f.concentration_g_m3.map((c) => c[1] ?? 0));
    const passed = f.concentration_g_m3.reduce((last, c, i) => ((c[1] ?? 0) > 0.05 * peak ? i : last), 0);
    if (peak > 0) to = Math.max(to, f.time_s[passed]!);
  }
  to = Math.max(to + 0.04 * (to - incident.onset_s), first + 600);
  /* One that somebody has just opened by hand has no past of its own: what came before it is shown. */
  const before = Math.max(0.2 * (to - incident.onset_s), LEAST_SPAN_S - (to - incident.onset_s));
  return inSteps(Math.max(first, incident.onset_s - before), to);
}

const round = (value: number) => Number(value.toPrecision(6));

function SensorCard({
  river,
  sensor,
  unit,
  least,
  from_s,
  to_s,
  now_s,
  known,
  forecast,
  syncKey,
}: {
  river: River;
  sensor: Sensor;
  unit: Unit;
  least: number;
  from_s: number;
  to_s: number;
  now_s: number | undefined;
  known: SensorReadings;
  forecast: Forecast | undefined;
  syncKey: string;
}) {
  useTheme(); /* the colours below are of it */
  const [cursor, setCursor] = useState<number | null>(null);
  const readings = known.list;
  const thinned = known.total > readings.length;
  const data = useMemo(() => {
    const scale = (v: number | null) => (v === null ? null : round(v * unit.per_g_m3));
    const width = readings.length ? readings[readings.length - 1]!.time_s - readings[0]!.time_s : 0;
    const trace = withGaps(readings, thinned ? (2 * width) / readings.length : undefined);
    const tables: uPlot.AlignedData[] = [[trace.time_s, trace.value.map(scale), trace.below.map(scale)]];
    if (forecast)
      tables.push([
        forecast.time_s,
        ...[0, 1, 2].map((k) => forecast.concentration_g_m3.map((c) => scale(c[k] ?? null))),
      ] as uPlot.AlignedData);
    return tables.length > 1 ? uPlot.join(tables) : tables[0]!;
  }, [readings, forecast, unit.label]);
  const series: uPlot.Series[] = [
    { label: "reading", stroke: color("ink"), width: 1, points: { show: true, size: 4, fill: color("ink") } },
    {
      label: "below limit",
      stroke: color("muted"),
      width: 0,
      paths: () => null,
      points: { show: true, size: 6, fill: color("surface"), stroke: color("muted") },
    },
  ];
  if (forecast) {
    series.push(
      { label: "lo", stroke: "transparent", width: 0, points: { show: false }, spanGaps: true },
      { label: "forecast", stroke: color("plume"), width: 2, points: { show: false }, spanGaps: true },
      { label: "hi", stroke: "transparent", width: 0, points: { show: false }, spanGaps: true },
    );
  }
  const latest = sensor.latest_g_m3;
  const newest = readings[readings.length - 1];
  const below = newest !== undefined && newest.below_limit && newest.time_s === sensor.latest_s;
  const at = cursor === null ? null : data[0][cursor];
  const here = (k: number) => (cursor === null ? null : (data[k]?.[cursor] ?? null));
  const read =
    here(1) !== null ? `${here(1)} ${unit.label} read` : here(2) !== null ? `below ${here(2)} ${unit.label}` : "";
  const foreseen =
    here(4) !== null
      ? `${here(4)!.toPrecision(3)} forecast (${here(3)!.toPrecision(3)} to ${here(5)!.toPrecision(3)})`
      : "";
  const readout = at == null ? "" : `${shortInstant(river, at)}: ${[read, foreseen].filter(Boolean).join(", ")}`;
  const band = forecast ? ", with the forecast and its band" : "";
  return (
    <article class="sensor-card" data-sensor={sensor.id} data-readings={known.total}>
      <header>
        <h3>{sensorName(sensor)}</h3>
        <span class="range">
          {sensor.name && `${sensor.id}, `}
          {givenPlace(river, sensor)}
        </span>
        <span class={`badge ${stateClass(sensor.state)}`}>{STATE_TEXT[sensor.state]}</span>
      </header>
      <p class="last">
        {latest === null || sensor.latest_s === null ? (
          "No reading yet"
        ) : (
          <>
            <b>
              {below ? "below " : ""}
              {concentration(Math.max(0, latest), unit)}
            </b>{" "}
            at {shortInstant(river, sensor.latest_s)}
            {sensor.age_s !== null && <>, {duration(Math.max(0, sensor.age_s))} ago</>}
          </>
        )}
      </p>
      {(readings.length > 0 || forecast) && (
        <Chart
          label={`Readings of sensor ${sensor.id} in ${unit.label} over time${band}; ${known.total} readings`}
          data={data}
          series={series}
          {...(forecast ? { bands: [{ series: [5, 3] as [number, number], fill: color("plume-band") }] } : {})}
          xKind={isCalendar(river) ? "utc" : "hours"}
          x={[from_s, to_s]}
          yFormat={(v) => String(round(v))}
          least={least}
          {...(now_s === undefined ? {} : { now: now_s })}
          height={170}
          syncKey={syncKey}
          onCursor={setCursor}
        />
      )}
      {readings.length > 0 && (
        <footer>
          <p class="readout" aria-hidden="true">
            {readout || (thinned ? `${known.total} readings; shown: the lowest and highest of each stretch` : "")}
          </p>
          <button
            type="button"
            class="quiet"
            aria-label={`Chart of ${sensor.id} as PNG`}
            onClick={(event) =>
              canvasToPng(
                [...event.currentTarget.closest("article")!.querySelectorAll("canvas")],
                `${river.id}-${sensor.id}.png`,
              )
            }
          >
            PNG
          </button>
        </footer>
      )}
    </article>
  );
}

const SteadyCard = steady(SensorCard, {
  river: (a, b) => a.id === b.id && a.time_base === b.time_base,
  sensor: (a, b) => JSON.stringify(a) === JSON.stringify(b),
  unit: (a, b) => a.label === b.label,
});

/* A fiftieth of the highest reading: a sensor the spill has not reached shows a flat line. */
const LEAST_SHARE = 0.02;

export function Sensors({ river, unit, reference_g_m3 }: { river: River; unit: Unit; reference_g_m3: number }) {
  const [store, state] = useStore();
  const incident = store.shownIncident();
  const shown = chartedSensors(river);
  const least = incident ? LEAST_SHARE * reference_g_m3 * unit.per_g_m3 : 0;
  const [from_s, to_s] = span(river, incident, state.readings, state.forecasts);
  const now_s = incident ? 60 * Math.round(riverNow(river).now_s / 60) : undefined;
  const clock = isCalendar(river) ? "times in UTC" : "time in hours on the readings' clock";
  return (
    <Panel
      id="sensors"
      title="Sensors"
      class="sensors"
      note={
        <>
          Concentration in {unit.label}; {clock}.{" "}
          <span class="inline-key">
            <i class="k-reading" /> reading <i class="k-limit" /> below the detection limit{" "}
            {state.forecasts.size > 0 && (
              <>
                <i class="k-forecast" /> forecast with {Math.round(100 * (incident?.interval?.level ?? 0.9))} % band
              </>
            )}
          </span>
          {river.sensors.length > shown.length &&
            ` ${shown.length} of ${river.sensors.length} sensors, those above their background first.`}
        </>
      }
    >
      <div class="sensor-grid">
        {shown.map((s) => (
          <SteadyCard
            key={`${river.id} ${s.id}`}
            river={river}
            sensor={s}
            unit={unit}
            least={least}
            from_s={from_s}
            to_s={to_s}
            now_s={now_s}
            known={state.readings.get(s.id) ?? NONE}
            forecast={state.forecasts.get(s.id)}
            syncKey={`sensors-${incident?.id ?? river.id}`}
          />
        ))}
      </div>
    </Panel>
  );
}
