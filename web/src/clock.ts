/* Which time it is on a river: the wall's, or that of its latest reading when those are of another day. */
import { useEffect, useState } from "preact/hooks";
import type { TimeBase } from "./model";

const LIVE_S = 120;

export function riverNow(river: { time_base: TimeBase; present_s: number | null }): { now_s: number; live: boolean } {
  const wall_s = Date.now() / 1000;
  if (river.time_base !== "relative" && (river.present_s === null || Math.abs(wall_s - river.present_s) < LIVE_S)) {
    return { now_s: wall_s, live: true };
  }
  return { now_s: river.present_s ?? 0, live: false };
}

/* Re-renders the caller every `period_ms`. */
export function useTick(period_ms: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), period_ms);
    return () => clearInterval(timer);
  }, [period_ms]);
  return now;
}
