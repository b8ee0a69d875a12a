/* A uPlot chart that follows its container, the theme and its data. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { MINUS, utcDate, utcTime } from "../format";
import { COUNT_STEPS, HOUR_STEPS, TIME_STEPS } from "../ticks";
import { useTheme, color } from "./theme";

export interface ChartProps {
  label: string; /* what a person who does not see it is told */
  data: uPlot.AlignedData;
  series: uPlot.Series[]; /* beside the first, of times */
  bands?: uPlot.Band[];
  xKind: "utc" | "hours" | "count";
  x: [number, number];
  y?: [number, number]; /* else from zero, or the lowest value below it */
  least?: number; /* what the scale reaches at least, so that noise stays small */
  yFormat: (value: number) => string;
  height: number;
  wideAxis?: boolean; /* room for long tick labels */
  yTime?: "utc" | "hours"; /* the values are times */
  syncKey?: string;
  onCursor?: (index: number | null) => void;
  now?: number; /* where what was measured ends and what is expected begins */
}

const HOUR = 3600;

/* Ticks in UTC (the date where the day changes), or hours for readings without dates, or a count. */
function ticksOf(kind: ChartProps["xKind"]) {
  return (_: uPlot, ticks: number[]): string[] =>
    ticks.map((t, i) => {
      if (kind === "count") return String(t);
      if (kind === "hours") {
        const hours = t / HOUR;
        const text = Math.abs(hours) >= 10 || Number.isInteger(hours) ? hours.toFixed(0) : hours.toFixed(1);
        return text.replace("-", MINUS);
      }
      const newDay = i === 0 || utcDate(t) !== utcDate(ticks[i - 1]!);
      return newDay ? `${utcTime(t)}\n${utcDate(t).slice(0, -5)}` : utcTime(t);
    });
}

function drawNow(props: () => ChartProps) {
  return (plot: uPlot): void => {
    const { now, x } = props();
    if (now === undefined || !(now > x[0] && now < x[1])) return;
    const at = plot.valToPos(now, "x", true);
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = color("muted");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.fillText("now", at + 4 * devicePixelRatio, bbox.top + 11 * devicePixelRatio);
    ctx.restore();
  };
}

function build(props: () => ChartProps, width: number): uPlot.Options {
  const made = props();
  const size = Math.round(0.7 * parseFloat(getComputedStyle(document.documentElement).fontSize));
  const font = `${size}px system-ui, sans-serif`;
  const axis = {
    stroke: color("muted"),
    grid: { stroke: color("grid"), width: 1 },
    ticks: { stroke: color("line"), width: 1, size: 4 },
    font,
  };
  return {
    width,
    height: made.height,
    legend: { show: false },
    padding: [8, 20, 0, 0],
    cursor: {
      points: { size: 7 },
      drag: { x: false, y: false },
      ...(made.syncKey ? { sync: { key: made.syncKey } } : {}),
    },
    scales: {
      x: { time: false, range: () => props().x },
      y: {
        range: (_u, lo, hi) => props().y ?? [Math.min(0, lo ?? 0), Math.max(1.08 * (hi ?? 0), props().least ?? 0) || 1],
      },
    },
    axes: [
      {
        ...axis,
        values: ticksOf(made.xKind),
        ...(made.xKind === "count" ? { space: 36, incrs: COUNT_STEPS } : { incrs: TIME_STEPS, space: 56 }),
        size: made.xKind === "utc" ? 36 : 24,
      },
      {
        ...axis,
        ...(made.yTime ? { incrs: made.yTime === "utc" ? TIME_STEPS : HOUR_STEPS } : {}),
        values: made.yTime === "utc" ? ticksOf("utc") : (_u, ticks) => ticks.map((t) => props().yFormat(t)),
        size: made.wideAxis ? 58 : 46,
        space: 28,
      },
    ],
    series: [{}, ...made.series],
    ...(made.bands ? { bands: made.bands } : {}),
    hooks: {
      draw: [drawNow(props)],
      setCursor: [(plot) => props().onCursor?.(plot.cursor.idx ?? null)],
    },
  };
}

export function Chart(props: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const theme = useTheme();
  /* What the chart is made of, as opposed to what it shows. */
  const shape = JSON.stringify([props.series.map((s) => s.label), props.xKind, props.height, theme]);

  /* At once, not after the next picture of the page: paper does not wait. */
  useLayoutEffect(() => {
    const element = host.current!;
    const make = new uPlot(
      build(() => latest.current, element.clientWidth || 300),
      latest.current.data,
      element,
    );
    plot.current = make;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth && element.clientWidth !== make.width)
        make.setSize({ width: element.clientWidth, height: latest.current.height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      make.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => {
    plot.current?.setData(props.data, true);
  }, [props.data, props.x[0], props.x[1], props.y?.[0], props.y?.[1]]);

  return <div class="chart" ref={host} role="img" aria-label={props.label} />;
}
