/* Shapes that stand for things on the river; shape and colour both tell the state. */
import type { SensorState } from "../model";

export const STATE_TEXT: Record<SensorState, string> = {
  "no data": "no data yet",
  learning: "learning",
  quiet: "quiet",
  alarm: "above background",
  silent: "silent",
};

export const stateClass = (state: SensorState) => `state-${state.replace(" ", "-")}`;

/* Quiet: a ring. Alarm: filled. Silent: crossed. Learning, no data: a dotted ring. */
export function SensorMark({ x, y, state }: { x: number; y: number; state: SensorState }) {
  const r = 7;
  return (
    <g class={`sensor ${stateClass(state)}`} transform={`translate(${x} ${y})`}>
      <circle r={r} />
      {state === "silent" && (
        <path d={`M${-r / 2} ${-r / 2}L${r / 2} ${r / 2}M${-r / 2} ${r / 2}L${r / 2} ${-r / 2}`} />
      )}
      {state === "alarm" && <circle class="dot" r={2.5} />}
    </g>
  );
}

export function IntakeMark({ x, y, level }: { x: number; y: number; level: string }) {
  return (
    <g class={`intake harm-${level}`} transform={`translate(${x} ${y})`}>
      <path d="M0 -9C4 -3 7 0 7 4A7 7 0 0 1 -7 4C-7 0 -4 -3 0 -9Z" />
    </g>
  );
}

export function CandidateMark({ x, y, probability }: { x: number; y: number; probability: number | null }) {
  const r = 7 + 5 * Math.sqrt(probability ?? 0);
  return (
    <g class="candidate" transform={`translate(${x} ${y})`}>
      <path d={`M0 ${-r}L${r} 0L0 ${r}L${-r} 0Z`} fill-opacity={0.12 + 0.88 * (probability ?? 0)} />
    </g>
  );
}
