/* The river as it lies, from its centreline: no tiles, north up. */
import { concentration, km, type Unit } from "../format";
import { pointAt, stretch, type Centerline } from "../geometry";
import type { Incident, Plume, River } from "../model";
import { harm, threats } from "../sentence";
import { CandidateMark, IntakeMark, SensorMark } from "./marks";
import { placeOnMap, type MapLabel } from "./labels";
import { candidateLines, describe, intakeLines, sensorLines } from "./schematic";

interface Props {
  river: River;
  line: Centerline;
  incident: Incident | undefined;
  plume: Plume | null;
  unit: Unit;
  now_s: number;
  width: number;
}

const EDGE = 48;
const KM_PER_DEGREE = 111.195;

/* Equirectangular about the middle latitude: true enough at the length of a river. */
function projection(line: Centerline, width: number) {
  const lon = line.points.map((p) => p[0]);
  const lat = line.points.map((p) => p[1]);
  const [west, east, south, north] = [Math.min(...lon), Math.max(...lon), Math.min(...lat), Math.max(...lat)];
  const squeeze = Math.cos((((south + north) / 2) * Math.PI) / 180);
  const spanX = (east - west) * squeeze || 1e-9;
  const spanY = north - south || 1e-9;
  const height = Math.max(260, Math.min(520, (width - 2 * EDGE) * (spanY / spanX) + 2 * EDGE));
  const scale = Math.min((width - 2 * EDGE) / spanX, (height - 2 * EDGE) / spanY);
  const left = (width - spanX * scale) / 2;
  const top = (height - spanY * scale) / 2;
  const project = ([x, y]: [number, number]): [number, number] => [left + (x - west) * squeeze * scale, top + (north - y) * scale];
  return { project, height, perKm: scale / KM_PER_DEGREE };
}

const path = (points: [number, number][]) => `M${points.map((p) => `${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join("L")}`;

export function RiverMap({ river, line, incident, plume, unit, now_s, width }: Props) {
  const { project, height, perKm } = projection(line, width);
  const at = (m: number) => project(pointAt(line, m));
  const between = (from: number, to: number) => path(stretch(line, from, to).map(project));
  const ahead = incident ? threats(river, incident, now_s) : [];
  const peak = plume ? Math.max(...plume.concentration_g_m3.map((c) => c[1])) : 0;
  const bar = [50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1].find((n) => n * perKm < width / 4) ?? 0.1;
  const label = (place: { location_m: number }, lines: string[], name: string): MapLabel => {
    const [x, y] = at(place.location_m);
    return { x, y, lines, class: name };
  };
  const labels = placeOnMap([
    ...river.intakes.map((i) => label(i, intakeLines(river, ahead.find((t) => t.intake.id === i.id), i.name || i.id, now_s), "label")),
    ...river.candidates.map((c) => label(c, candidateLines(incident, c), "label candidate-label")),
    ...river.sensors.map((s) => label(s, sensorLines(s), "label")),
  ], width);
  return (
    <svg class="schematic map" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={describe(river, incident, now_s)}>
      <path class="water-line" d={path(line.points.map(project))} />
      {incident?.interval && <path class="interval-line" d={between(...incident.interval.location_m)} />}
      {plume && peak > 0 && plume.x_m.slice(1).map((x, i) => {
        const share = plume.concentration_g_m3[i + 1]![1] / peak;
        return share > 0.02 ? <path key={i} class="plume-line" d={between(plume.x_m[i]!, x)} stroke-opacity={share} /> : null;
      })}
      {incident?.estimate && <circle class="estimate-dot" cx={at(incident.estimate.location_m)[0]} cy={at(incident.estimate.location_m)[1]} r={4} />}
      {river.candidates.map((c) => {
        const [x, y] = at(c.location_m);
        return <CandidateMark key={c.id} x={x} y={y} probability={incident?.candidates.find((s) => s.id === c.id)?.probability ?? null} />;
      })}
      {river.intakes.map((i) => {
        const threat = ahead.find((t) => t.intake.id === i.id);
        const [x, y] = at(i.location_m);
        return <IntakeMark key={i.id} x={x} y={y} level={threat ? harm(threat) : "none"} />;
      })}
      {river.sensors.map((s) => {
        const [x, y] = at(s.location_m);
        return <SensorMark key={s.id} x={x} y={y} state={s.state} />;
      })}
      {labels.map((l) => (
        <text key={`${l.lines[0]} ${l.x} ${l.y}`} class={l.class} x={l.textX} y={l.y + 4} text-anchor={l.anchor}>
          {l.lines.map((line, i) => <tspan key={i} x={l.textX} dy={i ? 14 : 0} class={i ? "second" : "first"}>{line}</tspan>)}
        </text>
      ))}
      <g class="axis" transform={`translate(16 ${height - 16})`}>
        <path d={`M0 -5V0H${bar * perKm}V-5`} />
        <text x={bar * perKm + 8} y={2}>{bar} km, north up{peak > 0 ? `; plume peak ${concentration(peak, unit)}` : ""}</text>
        <text class="unit" x={width - 32} y={2} text-anchor="end">river km {km(line.at_m[0]!)} to {km(line.at_m[line.at_m.length - 1]!)}</text>
      </g>
    </svg>
  );
}
