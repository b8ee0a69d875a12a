/* Readings of each sensor against what the estimate says they should be. */
import { useMemo, useState } from "preact/hooks";
import uPlot from "uplot";
import { riverNow } from "../clock";
import { withGaps } from "../forecast";
import { chartedSensors } from "../store";
import { concentration, duration, isCalendar, km, shortInstant, type Unit } from "../format";
import type { Forecast, Incident, Reading, River, Sensor } from "../model";
import { Chart } from "./chart";
import { useStore } from "./context";
import { canvasToPng } from "./export";
import { STATE_TEXT, stateClass } from "./marks";
import { Panel } from "./panel";
import { color } from "./theme";

/* One span of time for all sensors: from a little before the spill until its forecast has passed. */
function span(river: River, incident: Incident | undefined, readings: Map<string, Reading[]>, forecasts: Map<string, Forecast>): [number, number] {
  const { now_s } = riverNow(river);
  const first = Math.min(...[...readings.values()].map((r) => r[0]?.time_s ?? Infinity));
  const latest = Math.max(...[...readings.values()].map((r) => r[r.length - 1]?.time_s ?? -Infinity));
  if (!Number.isFinite(first) || !Number.isFinite(latest)) return [now_s - 86400, now_s];
  if (!incident) return [first, Math.max(latest, first + 600)];
  let to = latest;
  for (const f of forecasts.values()) {
    const peak = Math.max(...f.concentration_g_m3.map((c) => c[1] ?? 0));
    const passed = f.concentration_g_m3.reduce((last, c, i) => ((c[1] ?? 0) > 0.05 * peak ? i : last), 0);
    if (peak > 0) to = Math.max(to, f.time_s[passed]!);
  }
  to += 0.04 * (to - incident.onset_s);
  return [Math.max(first, incident.onset_s - 0.2 * (to - incident.onset_s)), to];
}

const round = (value: number) => Number(value.toPrecision(6));

function SensorCard({ river, sensor, unit, least, x }: { river: River; sensor: Sensor; unit: Unit; least: number; x: [number, number] }) {
  const [store, state] = useStore();
  const [cursor, setCursor] = useState<number | null>(null);
  const readings = state.readings.get(sensor.id) ?? [];
  const forecast = state.forecasts.get(sensor.id);
  const incident = store.shownIncident();
  const data = useMemo(() => {
    const scale = (v: number | null) => (v === null ? null : round(v * unit.per_g_m3));
    const trace = withGaps(readings);
    const tables: uPlot.AlignedData[] = [[trace.time_s, trace.value.map(scale), trace.below.map(scale)]];
    if (forecast) tables.push([forecast.time_s, ...[0, 1, 2].map((k) => forecast.concentration_g_m3.map((c) => scale(c[k] ?? null)))] as uPlot.AlignedData);
    return tables.length > 1 ? uPlot.join(tables) : tables[0]!;
  }, [readings, forecast, unit.label]);
  const series: uPlot.Series[] = [
    { label: "reading", stroke: color("ink"), width: 1, points: { show: true, size: 4, fill: color("ink") } },
    { label: "below limit", stroke: color("muted"), width: 0, paths: () => null, points: { show: true, size: 6, fill: color("surface"), stroke: color("muted") } },
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
  const readout = at == null ? "" : `${shortInstant(river, at)}: ${[here(1) !== null ? `${here(1)} ${unit.label} read` : here(2) !== null ? `below ${here(2)} ${unit.label}` : "", here(4) !== null ? `${here(4)!.toPrecision(3)} forecast (${here(3)!.toPrecision(3)} to ${here(5)!.toPrecision(3)})` : ""].filter(Boolean).join(", ")}`;
  return (
    <article class="sensor-card" data-sensor={sensor.id} data-readings={readings.length}>
      <header>
        <h3>{sensor.id}</h3>
        <span class="range">river km {km(sensor.location_m)}</span>
        <span class={`badge ${stateClass(sensor.state)}`}>{STATE_TEXT[sensor.state]}</span>
      </header>
      <p class="last">
        {latest === null || sensor.latest_s === null ? "No reading yet"
          : <><b>{below ? "below " : ""}{concentration(Math.max(0, latest), unit)}</b> at {shortInstant(river, sensor.latest_s)}{sensor.age_s !== null && <>, {duration(Math.max(0, sensor.age_s))} ago</>}</>}
      </p>
      {(readings.length > 0 || forecast) && <Chart label={`Readings of sensor ${sensor.id} in ${unit.label} over time${forecast ? ", with the forecast and its band" : ""}; ${readings.length} readings`}
        data={data} series={series} {...(forecast ? { bands: [{ series: [5, 3] as [number, number], fill: color("plume-band") }] } : {})}
        xKind={isCalendar(river) ? "utc" : "hours"} x={x} yFormat={(v) => String(round(v))} least={least} {...(incident ? { now: riverNow(river).now_s } : {})} height={170} syncKey={`sensors-${incident?.id ?? river.id}`} onCursor={setCursor} />}
      {readings.length > 0 && <footer>
        <p class="readout" aria-hidden="true">{readout}</p>
        <button type="button" class="quiet" aria-label={`Chart of ${sensor.id} as PNG`} onClick={(event) => canvasToPng([...event.currentTarget.closest("article")!.querySelectorAll("canvas")], `${river.id}-${sensor.id}.png`)}>PNG</button>
      </footer>}
    </article>
  );
}

/* A fiftieth of the highest reading: a sensor the spill has not reached shows a flat line. */
const LEAST_SHARE = 0.02;

export function Sensors({ river, unit, reference_g_m3 }: { river: River; unit: Unit; reference_g_m3: number }) {
  const [store, state] = useStore();
  const incident = store.shownIncident();
  const shown = chartedSensors(river);
  const least = incident ? LEAST_SHARE * reference_g_m3 * unit.per_g_m3 : 0;
  const x = span(river, incident, state.readings, state.forecasts);
  return (
    <Panel id="sensors" title="Sensors" class="sensors"
      note={<>Concentration in {unit.label}; {isCalendar(river) ? "times in UTC" : "time in hours on the readings' clock"}. <span class="inline-key"><i class="k-reading" /> reading <i class="k-limit" /> below the detection limit {state.forecasts.size > 0 && <><i class="k-forecast" /> forecast with {Math.round(100 * (incident?.interval?.level ?? 0.9))} % band</>}</span>{river.sensors.length > shown.length && ` ${shown.length} of ${river.sensors.length} sensors, those above their background first.`}</>}>
      <div class="sensor-grid">
        {shown.map((s) => <SensorCard key={`${river.id} ${s.id}`} river={river} sensor={s} unit={unit} least={least} x={x} />)}
      </div>
    </Panel>
  );
}
