/* Where axes have their marks: at numbers that people count in. */

/* Steps of time; the shortest is what a clock without seconds shows. */
export const TIME_STEPS = [
  60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 1728000,
];

/* Steps of time on a clock without dates, which counts in hours and their hundredths. */
export const HOUR_STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].map((h) => 3600 * h);

/* Steps of what is counted: there is no half reading. */
export const COUNT_STEPS = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((m) => m * 10 ** power));

/* 1, 2 or 5 times a power of ten, so that no more than `most` of them fit into the span. */
export function niceStep(span: number, most: number): number {
  const raw = span / Math.max(2, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw)!;
}

export function ticksBy(lo: number, hi: number, step: number): number[] {
  const ticks: number[] = [];
  for (let i = Math.ceil(lo / step); i * step <= hi; i++) ticks.push(i * step);
  return ticks;
}

export function timeTicks(lo_s: number, hi_s: number, most: number, steps = TIME_STEPS): number[] {
  const step = steps.find((s) => (hi_s - lo_s) / s <= most) ?? steps[steps.length - 1]!;
  return ticksBy(lo_s, hi_s, step);
}

/* How many decimals a kilometre needs at this step in metres. */
export const kmDecimals = (step_m: number) => (step_m < 100 ? 2 : step_m < 1000 ? 1 : 0);
