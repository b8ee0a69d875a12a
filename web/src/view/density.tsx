/* Where and when, together: the darker a cell, the more probable. */
import { useMemo, useRef } from "preact/hooks";
import { fixedKm, isCalendar, km, axisHours, utcDate, utcTime } from "../format";
import type { Branch, Incident, Posterior, River } from "../model";
import { branchName, branchOf } from "../network";
import { FORGOTTEN, silence } from "../sentence";
import type { NoForecast } from "../store";
import { HOUR_STEPS, kmDecimals, niceStep, ticksBy, timeTicks, TIME_STEPS } from "../ticks";
import { useWidth } from "./context";
import { svgToPng } from "./export";
import { Panel } from "./panel";

const HEIGHT = 300;
const [LEFT, RIGHT, TOP, BOTTOM] = [76, 12, 10, 40];

export function DensityPanel({
  river,
  incident,
  posterior,
  noForecast,
}: {
  river: River;
  incident: Incident;
  posterior: Posterior | null;
  noForecast: NoForecast;
}) {
  if (posterior?.grid)
    return (
      <Density
        river={river}
        incident={incident}
        origin_s={posterior.origin_s}
        grid={posterior.grid}
        branch={branchOf(river, posterior.branch)}
      />
    );
  return (
    <Panel id="density" title="Place and time of release">
      <p class="empty">
        {noForecast === "forgotten"
          ? FORGOTTEN
          : noForecast
            ? `The method ${incident.method} gives a point, not a density.`
            : incident.estimate
              ? "Being worked out."
              : silence(incident) === "too early" && incident.state === "open"
                ? "Appears with the first estimate."
                : "There is no source to draw."}
      </p>
    </Panel>
  );
}

function Density({
  river,
  incident,
  origin_s,
  grid,
  branch,
}: {
  river: River;
  incident: Incident;
  origin_s: number;
  grid: NonNullable<Posterior["grid"]>;
  branch: Branch | undefined;
}) {
  const [ref, width] = useWidth();
  const figure = useRef<SVGSVGElement>(null);
  const [l0, l1] = grid.location_m;
  const [t0, t1] = grid.time_s.map((t) => t + origin_s) as [number, number];
  const plotW = Math.max(40, width - LEFT - RIGHT);
  const plotH = HEIGHT - TOP - BOTTOM;
  const toX = (m: number) => LEFT + ((m - l0) / (l1 - l0)) * plotW;
  const toY = (t: number) => TOP + (1 - (t - t0) / (t1 - t0)) * plotH;
  const step_m = niceStep(l1 - l0, Math.min(6, plotW / 80));
  const most = Math.max(...grid.probability.flat());
  const cellW = plotW / grid.cells;
  const cellH = plotH / grid.cells;
  /* Made once per density: there are many cells, and the page is drawn again with every event. */
  const cells = useMemo(
    () =>
      grid.probability.map((row, r) =>
        row.map((p, c) =>
          p > 0.002 * most ? (
            <rect
              key={`${r} ${c}`}
              class="cell"
              x={LEFT + c * cellW}
              y={TOP + plotH - (r + 1) * cellH}
              width={cellW + 0.4}
              height={cellH + 0.4}
              fill-opacity={Math.sqrt(p / most)}
            />
          ) : null,
        ),
      ),
    [grid, width],
  );
  const timeText = (t: number) => (isCalendar(river) ? utcTime(t) : axisHours(t));
  const times = timeTicks(t0, t1, 7, isCalendar(river) ? TIME_STEPS : HOUR_STEPS);
  const severalDays = isCalendar(river) && utcDate(t0) !== utcDate(t1);
  const isNewDay = (i: number) => severalDays && (i === 0 || utcDate(times[i]!) !== utcDate(times[i - 1]!));
  const extent = `river km ${km(l0)} to ${km(l1)}, ${timeText(t0)} to ${timeText(t1)}`;
  const e = incident.estimate;
  const tools = (
    <button type="button" onClick={() => void svgToPng(figure.current!, `incident-${incident.id}-density.png`)}>
      PNG
    </button>
  );
  return (
    <Panel
      id="density"
      title="Place and time of release"
      tools={tools}
      note={
        <>
          Darker is more probable.{" "}
          {isCalendar(river)
            ? `Times in UTC, ${utcDate(t0)}${utcDate(t1) === utcDate(t0) ? "" : ` to ${utcDate(t1)}`}.`
            : "Hours on the readings' clock."}
        </>
      }
    >
      <div ref={ref}>
        {width > 0 && (
          <svg
            ref={figure}
            class="density"
            viewBox={`0 0 ${width} ${HEIGHT}`}
            role="img"
            aria-label={`Probability over place and time of release, ${extent}`}
          >
            <rect class="plot" x={LEFT} y={TOP} width={plotW} height={plotH} />
            {cells}
            {e && (
              <path
                class="cross"
                d={`M${toX(e.location_m)} ${TOP}v${plotH}M${LEFT} ${toY(e.time_s + incident.origin_s)}h${plotW}`}
              />
            )}
            <g class="axis">
              {ticksBy(l0, l1, step_m).map((m) => (
                <text
                  key={m}
                  x={toX(m)}
                  y={HEIGHT - BOTTOM + 16}
                  text-anchor={toX(m) > width - 2 * RIGHT ? "end" : "middle"} /* none beyond the picture */
                >
                  {fixedKm(m, kmDecimals(step_m))}
                </text>
              ))}
              {times.map((t, i) => (
                <text key={t} x={LEFT - 6} y={toY(t) + 4} text-anchor="end">
                  {timeText(t)}
                  {isNewDay(i) && (
                    <tspan x={LEFT - 6} dy={12}>
                      {utcDate(t).slice(0, -5)}
                    </tspan>
                  )}
                </text>
              ))}
              <text class="unit" x={LEFT + plotW / 2} y={HEIGHT - 6} text-anchor="middle">
                {branch ? branchName(branch) : "river"} km
              </text>
            </g>
          </svg>
        )}
      </div>
    </Panel>
  );
}
