/* How the estimate narrowed, reading by reading. */
import { useMemo, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { axisHours, km, mass, isCalendar, shortInstant } from "../format";
import type { Incident, River, Source, Track } from "../model";
import { spanOf } from "../sentence";
import { Chart } from "./chart";
import { canvasToPng } from "./export";
import { Panel } from "./panel";
import { color, useTheme } from "./theme";

/* A step that had a source. */
type Found = Track & Source;
const hasSource = (t: Track): t is Found => t.mass_g !== null && t.location_m !== null && t.time_s !== null;

interface Quantity {
  key: keyof Source;
  title: string;
  toShown: (value: number, incident: Incident) => number;
  format: (value: number, river: River, span_m: number) => string;
  tick?: (value: number) => string; /* along the axis, where that is shorter */
}

const QUANTITIES: Quantity[] = [
  { key: "location_m", title: "Place, river km", toShown: (v) => v, format: (v, _, span_m) => km(v, span_m) },
  {
    key: "time_s",
    title: "Time of release",
    toShown: (v, i) => v + i.origin_s,
    format: (v, r) => shortInstant(r, v),
    tick: axisHours,
  },
  { key: "mass_g", title: "Amount", toShown: (v) => v, format: (v) => mass(v) },
];

const HEIGHT = matchMedia("(min-width: 1000px)").matches ? 235 : 150;

/* The scale follows the settled part: the first guesses may be anywhere in the box. */
function yRange(rows: [number, number, number][]): [number, number] {
  const settled = rows.slice(Math.floor(rows.length / 4));
  const lo = Math.min(...settled.map((r) => r[0]));
  const hi = Math.max(...settled.map((r) => r[2]));
  const pad = 0.06 * (hi - lo) || 1;
  return [lo - pad, hi + pad];
}

function Narrowing({
  river,
  incident,
  history,
  quantity,
}: {
  river: River;
  incident: Incident;
  history: Found[];
  quantity: Quantity;
}) {
  useTheme(); /* the colours below are of it */
  const { data, y } = useMemo(() => {
    const rows = history.map((t): [number, number, number] => {
      const mid = quantity.toShown(t[quantity.key], incident);
      const range = t.interval?.[quantity.key];
      return [
        range ? quantity.toShown(range[0], incident) : mid,
        mid,
        range ? quantity.toShown(range[1], incident) : mid,
      ];
    });
    return {
      data: [history.map((t) => t.readings), ...[0, 1, 2].map((k) => rows.map((r) => r[k]!))] as uPlot.AlignedData,
      y: yRange(rows),
    };
  }, [history, quantity, incident.origin_s]);
  const series: uPlot.Series[] = [
    { label: "lo", stroke: color("accent-soft"), width: 1, points: { show: false } },
    { label: quantity.title, stroke: color("accent"), width: 2, points: { show: false } },
    { label: "hi", stroke: color("accent-soft"), width: 1, points: { show: false } },
  ];
  const last = history[history.length - 1]!;
  return (
    <figure>
      <figcaption>
        {quantity.title} {/* What was found once and no longer holds is drawn, but is no answer. */}
        {incident.estimate && (
          <b>{quantity.format(quantity.toShown(last[quantity.key], incident), river, spanOf(last))}</b>
        )}
      </figcaption>
      <Chart
        label={`${quantity.title} after each of ${history.length} estimates`}
        data={data}
        series={series}
        bands={[{ series: [3, 1], fill: color("accent-band") }]}
        xKind="count"
        x={[history[0]!.readings, Math.max(history[0]!.readings + 1, last.readings)]}
        y={y}
        yFormat={quantity.tick ?? ((v) => quantity.format(v, river, y[1] - y[0]))}
        height={HEIGHT}
        wideAxis
        {...(quantity.key === "time_s" ? { yTime: isCalendar(river) ? ("utc" as const) : ("hours" as const) } : {})}
      />
    </figure>
  );
}

export function HistoryPanel({
  river,
  incident,
  history: steps,
}: {
  river: River;
  incident: Incident;
  history: Track[];
}) {
  const history = steps.filter(hasSource);
  const without = steps.length - history.length;
  const omitted = without === 0 ? "" : ` ${without} ${without === 1 ? "step" : "steps"} without a source not shown.`;
  const figures = useRef<HTMLDivElement>(null);
  const save = () =>
    canvasToPng([...figures.current!.querySelectorAll("canvas")], `incident-${incident.id}-history.png`);
  return (
    <Panel
      id="history"
      title="How the estimate narrowed"
      class="history"
      {...(history.length
        ? {
            tools: (
              <button type="button" onClick={save}>
                PNG
              </button>
            ),
          }
        : {})}
      note={
        history.length
          ? `By the number of readings used, ${incident.readings} so far; shaded: the interval.${omitted}`
          : undefined
      }
    >
      {history.length ? (
        <div class="history-grid" ref={figures}>
          {QUANTITIES.map((q) => (
            <Narrowing key={q.key} river={river} incident={incident} history={history} quantity={q} />
          ))}
        </div>
      ) : (
        <p class="empty">
          {without
            ? `${without} ${without === 1 ? "answer" : "answers"} so far, none with a source.`
            : "Appears with the first estimate."}
        </p>
      )}
    </Panel>
  );
}
