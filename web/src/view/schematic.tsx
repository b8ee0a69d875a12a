/* The river as a straight line by river kilometre. From top to bottom: who may have done it, the
 * plume's long profile, the river with its sensors, who must be warned, the scale. */
import { concentration, fixedKm, type Unit } from "../format";
import { extent } from "../geometry";
import type { Candidate, Incident, Plume, River } from "../model";
import { harm, threats } from "../sentence";
import { kmDecimals, niceStep, ticksBy } from "../ticks";
import { AdviceMarks } from "./advice";
import { place, wrap, type Placed } from "./labels";
import { CandidateMark, IntakeMark, SensorMark } from "./marks";
import { candidateLines, candidateRank, describe, intakeLines, intakeRank, sensorLines, sensorRank } from "./words";

interface Props {
  river: River;
  incident: Incident | undefined;
  plume: Plume | null;
  reference_g_m3: number; /* below a fiftieth of it the profile is drawn flat */
  unit: Unit;
  now_s: number;
  width: number;
}

const PROFILE = 96;
const MARGIN = 22;
const LABELS = 16; /* with more sensors only those that are not quiet are named */

/* What is drawn: every place, and what the interval needs. */
function bounds(river: River, incident: Incident | undefined): [number, number] {
  const source = [
    ...(incident?.interval?.location_m ?? []),
    ...(incident?.estimate ? [incident.estimate.location_m] : []),
  ];
  const [lo, hi] = extent(river, source);
  const pad = 0.04 * (hi - lo) || 500;
  return [lo - pad, hi + pad];
}

function area(x: number[], upper: number[], lower: number[]): string {
  const forth = x.map((v, i) => `${v.toFixed(1)} ${upper[i]!.toFixed(1)}`);
  const back = x.map((v, i) => `${v.toFixed(1)} ${lower[i]!.toFixed(1)}`).reverse();
  return `M${[...forth, ...back].join("L")}Z`;
}

function Profile({
  plume,
  reference_g_m3,
  unit,
  toX,
  base,
}: {
  plume: Plume;
  reference_g_m3: number;
  unit: Unit;
  toX: (m: number) => number;
  base: number;
}) {
  const bands = plume.concentration_g_m3;
  const top = Math.max(...bands.map((b) => b[2] ?? b[1]), 0.02 * reference_g_m3) || 1;
  const toY = (c: number) => base - (PROFILE - 16) * Math.min(1, c / top);
  const x = plume.x_m.map(toX);
  const zero = bands.map(() => base);
  const best = bands.reduce((b, c, i) => (c[1] > bands[b]![1] ? i : b), 0);
  const peak = bands[best]![1];
  const inside = bands.map((_, i) => i).filter((i) => bands[i]![1] > 0.004 * top);
  const anchor = x[best]! < 120 ? "start" : "middle";
  return (
    <g class="plume">
      <path
        class="band"
        d={area(
          x,
          bands.map((b) => toY(b[2])),
          bands.map((b) => toY(b[0])),
        )}
      />
      <path
        class="fill"
        d={area(
          x,
          bands.map((b) => toY(b[1])),
          zero,
        )}
      />
      <path
        class="crest"
        d={
          inside.length < 2
            ? ""
            : `M${inside.map((i) => `${x[i]!.toFixed(1)} ${toY(bands[i]![1]).toFixed(1)}`).join("L")}`
        }
      />
      {peak > 1e-3 * reference_g_m3 && (
        <text x={x[best]} y={Math.max(toY(peak), toY(bands[best]![2])) - 6} text-anchor={anchor}>
          {concentration(peak, unit)}
        </text>
      )}
    </g>
  );
}

export function LabelText<T>({ label, y, class: name }: { label: Placed<T>; y: number; class: string }) {
  return (
    <text class={name} x={label.left + label.width / 2} y={y} text-anchor="middle">
      {label.lines.map((line, i) => (
        <tspan key={i} x={label.left + label.width / 2} dy={i ? 14 : 0} class={i < label.named ? "first" : "second"}>
          {line}
        </tspan>
      ))}
    </text>
  );
}

/* Of marks that there was no room to name. */
export const unnamedText = (count: number) =>
  count ? `; ${count} ${count === 1 ? "mark" : "marks"} without a label` : "";

/* What stands below the axis, in as many lines as it takes. */
export function Caption({ text, width, y }: { text: string; width: number; y: number }) {
  return (
    <text class="unit" y={y} text-anchor="middle">
      {wrap(text, width - 8).map((line, i) => (
        <tspan key={i} x={width / 2} dy={i ? 16 : 0}>
          {line}
        </tspan>
      ))}
    </text>
  );
}

export const captionHeight = (text: string, width: number) => 16 * wrap(text, width - 8).length + 22;

export function Schematic({ river, incident, plume, reference_g_m3, unit, now_s, width }: Props) {
  const [lo, hi] = bounds(river, incident);
  const toX = (m: number) => MARGIN + ((m - lo) / (hi - lo)) * (width - 2 * MARGIN);
  const probability = (c: Candidate) => incident?.candidates.find((s) => s.id === c.id)?.probability ?? null;
  const ahead = incident ? threats(river, incident, now_s) : [];
  const threatOf = (id: string) => ahead.find((t) => t.intake.id === id);

  const candidates = place(
    river.candidates.map((c) => ({
      item: c,
      x: toX(c.location_m),
      lines: candidateLines(incident, c),
      rank: candidateRank(incident, c),
    })),
    width,
  );
  const named =
    river.sensors.length > LABELS ? river.sensors.filter((s) => s.state !== "quiet").slice(0, LABELS) : river.sensors;
  const sensors = place(
    named.map((s) => ({ item: s, x: toX(s.location_m), lines: sensorLines(s), rank: sensorRank(s) })),
    width,
  );
  const intakes = place(
    river.intakes.map((i) => ({
      item: i,
      x: toX(i.location_m),
      lines: intakeLines(river, threatOf(i.id), i.name || i.id, now_s),
      rank: intakeRank(threatOf(i.id)),
    })),
    width,
  );

  const marks = river.candidates.length + river.sensors.length + river.intakes.length;
  const unnamed = marks - candidates.placed.length - sensors.placed.length - intakes.placed.length;
  const candidateY = 18 + candidates.height;
  const waterY = candidateY + (candidates.height ? 18 : 0) + (incident ? PROFILE : 16);
  const sensorY = waterY + 34;
  const intakeY = sensorY + sensors.height + 4;
  const axisY = intakeY + (intakes.height ? 26 + intakes.height : 6);
  const caption = `river km, downstream to the right${unnamedText(unnamed)}`;
  const height = axisY + captionHeight(caption, width);
  const step = niceStep(hi - lo, width / 90);
  const ticks = ticksBy(lo, hi, step);
  const interval = incident?.interval?.location_m;

  return (
    <svg class="schematic" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={describe(river, incident, now_s)}>
      {interval && (
        <g class="interval">
          <rect
            x={Math.min(toX(interval[0]), (toX(interval[0]) + toX(interval[1])) / 2 - 3)}
            y={candidateY - 6}
            width={Math.max(6, toX(interval[1]) - toX(interval[0]))}
            height={waterY - candidateY + 16}
          />
        </g>
      )}
      {plume && <Profile plume={plume} reference_g_m3={reference_g_m3} unit={unit} toX={toX} base={waterY - 8} />}
      <rect class="water" x={toX(lo)} y={waterY - 7} width={toX(hi) - toX(lo)} height={14} rx={7} />
      <path class="flow" d={`M${toX(hi) - 22} ${waterY - 3.5}l7 3.5l-7 3.5`} />
      {incident?.estimate && (
        <g class="estimate" transform={`translate(${toX(incident.estimate.location_m)} 0)`}>
          <path d={`M0 ${candidateY - 6}V${waterY + 7}`} />
        </g>
      )}
      {candidates.placed.map((l) => (
        <path key={l.item.id} class="leader" d={`M${l.x} ${candidateY}V${14 + l.y + 14 * (l.lines.length - 1) + 4}`} />
      ))}
      {sensors.placed.map((l) => (
        <path key={l.item.id} class="leader" d={`M${l.x} ${waterY + 8}V${sensorY + l.y - 11}`} />
      ))}
      {intakes.placed.map((l) => (
        <path key={l.item.id} class="leader intake-leader" d={`M${l.x} ${waterY + 7}V${intakeY + 26 + l.y - 11}`} />
      ))}
      {candidates.placed.map((l) => (
        <LabelText key={l.item.id} label={l} y={14 + l.y} class="label candidate-label" />
      ))}
      {river.candidates.map((c) => (
        <CandidateMark key={c.id} x={toX(c.location_m)} y={candidateY} probability={probability(c)} />
      ))}
      {river.sensors.map((s) => (
        <SensorMark key={s.id} x={toX(s.location_m)} y={waterY} state={s.state} />
      ))}
      {sensors.placed.map((l) => (
        <LabelText key={l.item.id} label={l} y={sensorY + l.y} class="label" />
      ))}
      {[...river.intakes]
        .sort((a, b) => intakeRank(threatOf(b.id)) - intakeRank(threatOf(a.id))) /* the worst on top */
        .map((i) => {
          const threat = threatOf(i.id);
          return <IntakeMark key={i.id} x={toX(i.location_m)} y={intakeY} level={threat ? harm(threat) : "none"} />;
        })}
      {intakes.placed.map((l) => (
        <LabelText key={l.item.id} label={l} y={intakeY + 26 + l.y} class="label" />
      ))}
      <AdviceMarks incident={incident} at={(p) => [toX(Math.min(Math.max(p.location_m, lo), hi)), waterY]} />
      <g class="axis">
        <path d={`M${toX(lo)} ${axisY}H${toX(hi)}`} />
        {ticks.map((t) => (
          <g key={t} transform={`translate(${toX(t)} ${axisY})`}>
            <path d="M0 0V5" />
            <text y={18} text-anchor="middle">
              {fixedKm(t, kmDecimals(step))}
            </text>
          </g>
        ))}
        <Caption text={caption} width={width} y={axisY + 34} />
      </g>
    </svg>
  );
}
