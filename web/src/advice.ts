/* Where to sample next, asked of the service now and then and shared by the card and the marks on the map. */
import { useEffect, useState } from "preact/hooks";
import { headers } from "./api";
import type { Incident } from "./model";

export type Question = "place" | "who" | "intake";

/* What is asked: about what, for how many crews at once, and how long they need to be anywhere. */
export interface Asked {
  question: Question;
  crews: number;
  delay_s: number;
}

export interface AdvisedPlace {
  branch: string | null;
  location_m: number;
  stretch_m: [number, number];
  time_s: number;
  from_s: number;
  until_s: number;
  bits: number;
  seen: number;
  expected_g_m3: [number, number, number];
  region_m: number | null;
}

export interface Advice extends Asked {
  provisional: boolean;
  entropy_bits: number;
  region_m: number | null;
  refusal: string | null; /* why there are no places */
  places: AdvisedPlace[];
}

/* Either advice, or why there is none. */
export type Advised = { advice: Advice; refusal: null } | { advice: null; refusal: string };

const EVERY_MS = 10_000; /* an answer takes the service a tenth of a second */

let shown: { incident: number; advised: Advised } | null = null;
const listeners = new Set<() => void>();

function show(incident: number, advised: Advised): void {
  shown = { incident, advised };
  listeners.forEach((tell) => tell());
}

export const answers = (advice: Advice, asked: Asked) =>
  advice.question === asked.question && advice.crews === asked.crews && advice.delay_s === asked.delay_s;

export async function ask(incident: number, { question, crews, delay_s }: Asked): Promise<Advised> {
  const path = `/v1/incidents/${incident}/advice?for=${question}&crews=${crews}&delay=${delay_s}`;
  try {
    const response = await fetch(path, { headers: { ...headers(), Accept: "application/json" }, cache: "no-store" });
    const body = (await response.json()) as Advice & { error?: string };
    const refusal = response.ok ? body.refusal : (body.error ?? response.statusText);
    return refusal === null ? { advice: body, refusal } : { advice: null, refusal };
  } catch {
    return { advice: null, refusal: "the service does not answer" };
  }
}

/* What was told last of this incident; null: nothing yet, or what it rested on is gone. */
export function useAdvised(incident: Incident | undefined): Advised | null {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((n) => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  if (!incident || shown?.incident !== incident.id || !canAdvise(incident)) return null;
  return incident.estimate || shown.advised.refusal !== null ? shown.advised : null;
}

/* Only the engine that judges itself has samples to advise by, and only where it stands by them. */
export const canAdvise = (incident: Incident) =>
  incident.state === "open" && Boolean(incident.trust) && incident.trust !== "none";

/* Ask again while the incident is open: at once, then every ten seconds. */
export function useAsking(incident: Incident, asked: Asked): void {
  const open = canAdvise(incident);
  useEffect(() => {
    if (!open) return;
    let ended = false;
    const now = async () => {
      const advised = await ask(incident.id, asked);
      if (!ended) show(incident.id, advised);
    };
    void now();
    const timer = setInterval(() => void now(), EVERY_MS);
    return () => {
      ended = true;
      clearInterval(timer);
    };
  }, [incident.id, asked.question, asked.crews, asked.delay_s, open]);
}
