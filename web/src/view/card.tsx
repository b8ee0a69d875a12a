/* A question and its answer. */
import type { ComponentChildren } from "preact";
import { isCalendar, localTime, relativeTime, utcDate, utcTime, type Unit } from "../format";
import type { Incident, Plume, River } from "../model";
import type { SensorReadings } from "../readings";
import { silence } from "../sentence";
import type { NoForecast } from "../store";

/* What every card answers from. */
export interface CardProps {
  river: River;
  incident: Incident;
  plumeNow: Plume | null; /* where it is highest */
  noForecast: NoForecast;
  readings: Map<string, SensorReadings>;
  unit: Unit;
  now_s: number;
}

export function Card({
  question,
  answer,
  tone,
  children,
}: {
  question: string;
  answer: ComponentChildren;
  tone?: string;
  children: ComponentChildren;
}) {
  return (
    <article class={`card ${tone ?? ""}`}>
      <h2>{question}</h2>
      <p class="answer">{answer}</p>
      {children}
    </article>
  );
}

/* A time on both clocks, told apart. */
export function Both({ river, time_s }: { river: River; time_s: number }) {
  if (!isCalendar(river)) return <span class="both">{relativeTime(time_s)}</span>;
  return (
    <span class="both">
      {utcDate(time_s)} <b>{utcTime(time_s)}</b> UTC <span class="local">{localTime(time_s)} local</span>
    </span>
  );
}

/* In place of an answer that rests on a source. */
export function noAnswer(incident: Incident): string {
  const text = {
    unexplained: "Not known",
    "no spill": "No spill seen",
    "too early": incident.state === "closed" ? "No source was found" : "Being worked out",
  };
  return text[silence(incident)];
}

export const sentenceOf = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/* The first few of a list, and a way to all the others. */
export function Some<T>({
  list,
  most,
  items,
  urgent,
}: {
  list: T[];
  most: number;
  items: (part: T[]) => ComponentChildren;
  urgent?: (rest: T[]) => string; /* what of the others must not go unread */
}) {
  const rest = list.slice(most);
  return (
    <>
      {items(list.slice(0, most))}
      {rest.length > 0 && (
        <details class="rest">
          <summary>
            {rest.length} more{urgent?.(rest)}
          </summary>
          {items(rest)}
        </details>
      )}
    </>
  );
}
