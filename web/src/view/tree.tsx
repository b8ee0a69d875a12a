/* A network as a tree, all on one axis: how far it is to the outlet. Every branch is a row that ends where it joins
 * another; a tributary stands above what it flows into, and of several the one that joins furthest down stands on top,
 * so that no joint crosses a branch. Stretches of the region are shaded, the plume colours the water. */
import { concentration, fixedKm, percent, type Unit } from "../format";
import type { Branch, Candidate, Incident, Intake, Plume, River, Sensor } from "../model";
import { branchName, downTo, endOf, regionsOf } from "../network";
import { harm, threats } from "../sentence";
import { kmDecimals, niceStep, ticksBy } from "../ticks";
import { AdviceMarks } from "./advice";
import { place, type Placed } from "./labels";
import { CandidateMark, IntakeMark, SensorMark } from "./marks";
import { Caption, captionHeight, LabelText, unnamedText } from "./schematic";
import { candidateLines, candidateRank, describe, intakeLines, intakeRank, sensorLines, sensorRank } from "./words";

interface Props {
  river: River;
  incident: Incident | undefined;
  plumes: Plume[];
  unit: Unit;
  now_s: number;
  width: number;
}

const MARGIN = 22;
const QUIET = 16; /* with more sensors only those that are not quiet are named */

/* From the top down. */
export function rowsOf(branches: Branch[], below: string | null = null): Branch[] {
  const here = branches.filter((b) => b.joins === below).sort((a, b) => (b.joins_at_m ?? 0) - (a.joins_at_m ?? 0));
  return here.flatMap((b) => [...rowsOf(branches, b.id), b]);
}

type Low = { sensor: Sensor } | { intake: Intake };

interface Row {
  branch: Branch;
  y: number; /* of the water */
  label: string;
  candidates: Placed<Candidate>[];
  low: Placed<Low>[]; /* sensors and intakes */
  top: number; /* of the candidates' labels, below the branch's own */
}

export function Tree({ river, incident, plumes, unit, now_s, width }: Props) {
  const toWay = (branch: string | null | undefined, m: number) => downTo(river, branch, m);
  const ways = river.branches.flatMap((b) => [toWay(b.id, b.head_m), toWay(b.id, endOf(river, b))]);
  const [lo, hi] = [Math.min(...ways), Math.max(...ways)];
  const pad = 0.03 * (hi - lo) || 500;
  const toX = (branch: string | null | undefined, m: number) =>
    MARGIN + ((toWay(branch, m) - lo + pad) / (hi - lo + 2 * pad)) * (width - 2 * MARGIN);
  const ahead = incident ? threats(river, incident, now_s) : [];
  const threatOf = (id: string) => ahead.find((t) => t.intake.id === id);
  const named = river.sensors.length > QUIET ? river.sensors.filter((s) => s.state !== "quiet") : river.sensors;

  let y = 6;
  let unnamed = river.sensors.length - named.length;
  const rows = rowsOf(river.branches).map((branch): Row => {
    const on = <T extends { branch: string | null }>(list: T[]) => list.filter((p) => p.branch === branch.id);
    const x = (p: { location_m: number }) => toX(branch.id, p.location_m);
    const wanted = on(river.candidates).map((c) => ({
      item: c,
      x: x(c),
      lines: candidateLines(incident, c),
      rank: candidateRank(incident, c),
    }));
    const candidates = place(wanted, width);
    const lows = [
      ...on(named).map((s) => ({
        item: { sensor: s } as Low,
        x: x(s),
        lines: sensorLines(s),
        rank: 5 + sensorRank(s),
      })),
      ...on(river.intakes).map((i) => ({
        item: { intake: i } as Low,
        x: x(i),
        lines: intakeLines(river, threatOf(i.id), i.name || i.id, now_s),
        rank: intakeRank(threatOf(i.id)),
      })),
    ];
    const low = place(lows, width);
    unnamed += wanted.length - candidates.placed.length + lows.length - low.placed.length;
    const share = incident?.branches?.find((b) => b.id === branch.id)?.probability;
    const label = `${branchName(branch)}${share === undefined ? "" : ` ${percent(share)}`}`;
    const top = y + 18;
    const water = top + candidates.height + (candidates.height ? 22 : 4);
    y = water + 20 + low.height;
    return { branch, y: water, label, candidates: candidates.placed, low: low.placed, top };
  });
  const yOf = (id: string | null | undefined) => rows.find((r) => r.branch.id === id)?.y ?? 0;
  const axisY = y + 8;
  const step = niceStep(hi - lo, width / 90);
  const ticks = ticksBy(lo, hi, step);
  const outlet = river.branches.find((b) => b.joins === null)!;
  const peak = Math.max(0, ...plumes.flatMap((p) => p.concentration_g_m3.map((c) => c[1])));
  const source = incident?.estimate;
  const caption = [
    `km of ${branchName(outlet)}, tributaries by their way to it`,
    ...(peak > 0 ? [`plume peak ${concentration(peak, unit)}`] : []),
  ]
    .join("; ")
    .concat(unnamedText(unnamed));

  return (
    <svg
      class="schematic tree"
      viewBox={`0 0 ${width} ${axisY + captionHeight(caption, width)}`}
      role="img"
      aria-label={describe(river, incident, now_s)}
    >
      {rows.map(({ branch, y: at }) => {
        const end = toX(branch.id, endOf(river, branch));
        const joint = branch.joins === null ? "" : `V${yOf(branch.joins)}`;
        return (
          <path
            key={branch.id}
            class="water-line"
            data-branch={branch.id}
            d={`M${toX(branch.id, branch.head_m)} ${at}H${end}${joint}`}
          />
        );
      })}
      {regionsOf(incident).map((r, i) => {
        const [from, to] = [toX(r.branch, r.location_m[0]), toX(r.branch, r.location_m[1])];
        const at = yOf(r.branch);
        return (
          <g key={i} class="interval">
            <rect x={Math.min(from, (from + to) / 2 - 3)} y={at - 18} width={Math.max(6, to - from)} height={36} />
          </g>
        );
      })}
      {peak > 0 &&
        plumes.flatMap((p) =>
          p.x_m.slice(1).map((m, i) => {
            const share = p.concentration_g_m3[i + 1]![1] / peak;
            const d = `M${toX(p.branch, p.x_m[i]!).toFixed(1)} ${yOf(p.branch)}H${(toX(p.branch, m) + 0.5).toFixed(1)}`;
            return share > 0.02 ? (
              <path key={`${p.branch} ${i}`} class="plume-line" d={d} stroke-opacity={share} />
            ) : null;
          }),
        )}
      {source && (
        <g class="estimate" transform={`translate(${toX(source.branch, source.location_m)} ${yOf(source.branch)})`}>
          <path d="M0 -20V20" />
        </g>
      )}
      {rows.map((row) => (
        <BranchRow key={row.branch.id} row={row} headX={toX(row.branch.id, row.branch.head_m)} width={width} />
      ))}
      {river.candidates.map((c) => (
        <CandidateMark
          key={c.id}
          x={toX(c.branch, c.location_m)}
          y={yOf(c.branch) - 14}
          probability={incident?.candidates.find((s) => s.id === c.id)?.probability ?? null}
        />
      ))}
      {[...river.intakes]
        .sort((a, b) => intakeRank(threatOf(b.id)) - intakeRank(threatOf(a.id))) /* the worst on top */
        .map((i) => {
          const threat = threatOf(i.id);
          const x = toX(i.branch, i.location_m);
          return <IntakeMark key={i.id} x={x} y={yOf(i.branch) + 2} level={threat ? harm(threat) : "none"} />;
        })}
      <AdviceMarks incident={incident} at={(p) => [toX(p.branch, p.location_m), yOf(p.branch)]} />
      {river.sensors.map((s) => (
        <SensorMark key={s.id} x={toX(s.branch, s.location_m)} y={yOf(s.branch)} state={s.state} />
      ))}
      <g class="axis">
        <path d={`M${MARGIN} ${axisY}H${width - MARGIN}`} />
        {ticks.map((t) => (
          <g key={t} transform={`translate(${toX(outlet.id, t)} ${axisY})`}>
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

/* The labels of a branch: its own at its head, its candidates' above the water, the others' below. */
function BranchRow({ row, headX, width }: { row: Row; headX: number; width: number }) {
  const own = place([{ item: row.branch, x: headX, lines: [row.label] }], width).placed[0]!;
  return (
    <g>
      {row.candidates.map((l) => (
        <g key={l.item.id}>
          <path class="leader" d={`M${l.x} ${row.y - 14}V${row.top + 12 + l.y + 14 * (l.lines.length - 1) + 4}`} />
          <LabelText label={l} y={row.top + 12 + l.y} class="label candidate-label" />
        </g>
      ))}
      {row.low.map((l) => {
        const labelY = row.y + 26 + l.y;
        const key = "sensor" in l.item ? `s ${l.item.sensor.id}` : `i ${l.item.intake.id}`;
        return (
          <g key={key}>
            <path class="leader" d={`M${l.x} ${row.y + 8}V${labelY - 11}`} />
            <LabelText label={l} y={labelY} class="label" />
          </g>
        );
      })}
      <text class="label branch-label" x={Math.max(2, Math.min(headX, width - own.width))} y={row.top - 4}>
        {row.label}
      </text>
    </g>
  );
}
