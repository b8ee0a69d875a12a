/* The river as it lies, from its centrelines, branch by branch; north up, tiles only where the service names some. */
import { concentration, fixedKm, type Unit } from "../format";
import { pointAt, stretch, type Centerline } from "../geometry";
import { fit } from "../mercator";
import type { Incident, Plume, River } from "../model";
import { branchName, regionsOf } from "../network";
import { harm, threats } from "../sentence";
import { AdviceMarks } from "./advice";
import { CandidateMark, IntakeMark, SensorMark } from "./marks";
import { placeOnMap, type MapLabel } from "./labels";
import { candidateLines, describe, intakeLines, intakeRank, sensorLines } from "./words";
import { Caption, captionHeight, unnamedText } from "./schematic";
import { linePath, ScaleBar, Tiles } from "./tiles";

interface Props {
  river: River;
  lines: Map<string, Centerline>;
  incident: Incident | undefined;
  plumes: Plume[];
  unit: Unit;
  now_s: number;
  width: number;
  tiles: string | null;
}

const EDGE = 48;

interface Place {
  branch?: string | null | undefined;
  location_m: number;
}

export function RiverMap({ river, lines, incident, plumes, unit, now_s, width, tiles }: Props) {
  const frame = fit(
    [...lines.values()].flatMap((l) => l.points),
    width,
    260,
    520,
    EDGE,
  );
  const lineOf = (branch: string | null | undefined) => lines.get(branch ?? "");
  const at = (place: Place): [number, number] | null => {
    const line = lineOf(place.branch);
    return line ? frame.project(pointAt(line, place.location_m)) : null;
  };
  const between = (branch: string | null | undefined, from_m: number, to_m: number) => {
    const line = lineOf(branch);
    return line ? linePath(stretch(line, from_m, to_m).map(frame.project)) : "";
  };
  const ahead = incident ? threats(river, incident, now_s) : [];
  const peak = Math.max(0, ...plumes.flatMap((p) => p.concentration_g_m3.map((c) => c[1])));
  const label = (place: Place, said: string[], name: string): MapLabel[] => {
    const point = at(place);
    return point ? [{ x: point[0], y: point[1], lines: said, class: name }] : [];
  };
  const threatAt = (id: string) => ahead.find((t) => t.intake.id === id);
  const urgent = [...river.intakes].sort((a, b) => intakeRank(threatAt(a.id)) - intakeRank(threatAt(b.id)));
  const wanted = [
    ...urgent.flatMap((i) => label(i, intakeLines(river, threatAt(i.id), i.name || i.id, now_s), "label")),
    ...river.candidates.flatMap((c) => label(c, candidateLines(incident, c), "label candidate-label")),
    ...river.sensors.flatMap((s) => label(s, sensorLines(s), "label")),
    ...river.branches.flatMap((b) =>
      label({ branch: b.id, location_m: b.head_m }, [branchName(b)], "label branch-label"),
    ),
  ];
  const labels = placeOnMap(wanted, width);
  const places = [...river.sensors, ...river.candidates, ...river.intakes];
  const off = places.filter((p) => !lineOf(p.branch)).length;
  const beyond = places.filter((p) => {
    const along = lineOf(p.branch)?.at_m;
    return along && (p.location_m < along[0]! || p.location_m > along[along.length - 1]!);
  }).length;
  const found = regionsOf(incident);
  const regions = found.length
    ? found
    : incident?.interval
      ? [{ branch: incident.estimate?.branch ?? null, location_m: incident.interval.location_m }]
      : [];
  const source = incident?.estimate && at(incident.estimate);
  const single = lines.size === 1 ? [...lines.values()][0]! : null;
  const unnamed = wanted.length - labels.length;
  const caption = [
    peak > 0 ? `plume peak ${concentration(peak, unit)}` : "",
    single ? `river km ${fixedKm(single.at_m[0]!, 1)} to ${fixedKm(single.at_m[single.at_m.length - 1]!, 1)}` : "",
    off ? `${off} on a branch without a line` : "",
    beyond ? `${beyond} beyond the line, drawn at its ends` : "",
  ]
    .filter(Boolean)
    .join("; ")
    .concat(unnamedText(unnamed));
  return (
    <svg
      class="schematic map"
      viewBox={`0 0 ${width} ${frame.height + captionHeight(caption, width)}`}
      role="img"
      aria-label={describe(river, incident, now_s)}
    >
      <Tiles frame={frame} width={width} url={tiles} />
      {[...lines].map(([id, line]) => (
        <path key={id} class="water-line" d={linePath(line.points.map(frame.project))} />
      ))}
      {regions.map((r, i) => (
        <path key={i} class="interval-line" d={between(r.branch, ...r.location_m)} />
      ))}
      {peak > 0 &&
        plumes.flatMap((p) =>
          p.x_m.slice(1).map((x, i) => {
            const share = p.concentration_g_m3[i + 1]![1] / peak;
            const key = `${p.branch} ${i}`;
            return share > 0.02 ? (
              <path key={key} class="plume-line" d={between(p.branch, p.x_m[i]!, x)} stroke-opacity={share} />
            ) : null;
          }),
        )}
      <AdviceMarks incident={incident} at={at} />
      {source && <circle class="estimate-dot" cx={source[0]} cy={source[1]} r={4} />}
      {river.candidates.map((c) => {
        const point = at(c);
        const probability = incident?.candidates.find((s) => s.id === c.id)?.probability ?? null;
        return point && <CandidateMark key={c.id} x={point[0]} y={point[1]} probability={probability} />;
      })}
      {river.intakes.map((i) => {
        const threat = threatAt(i.id);
        const point = at(i);
        return point && <IntakeMark key={i.id} x={point[0]} y={point[1]} level={threat ? harm(threat) : "none"} />;
      })}
      {river.sensors.map((s) => {
        const point = at(s);
        return point && <SensorMark key={s.id} x={point[0]} y={point[1]} state={s.state} />;
      })}
      {labels.map((l) => (
        <text key={`${l.lines[0]} ${l.x} ${l.y}`} class={l.class} x={l.textX} y={l.y + 4} text-anchor={l.anchor}>
          {l.lines.map((line, i) => (
            <tspan key={i} x={l.textX} dy={i ? 14 : 0} class={i ? "second" : "first"}>
              {line}
            </tspan>
          ))}
        </text>
      ))}
      <g class="axis" transform={`translate(16 ${frame.height - 16})`}>
        <ScaleBar frame={frame} width={width} />
      </g>
      <g class="axis">
        <Caption text={caption} width={width} y={frame.height + 16} />
      </g>
    </svg>
  );
}
