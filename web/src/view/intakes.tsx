/* Which intakes are in its path, from when until when, and whether it harms. */
import type { ComponentChildren } from "preact";
import { concentration, duration, givenKm, instant, isCalendar, percent, timesBeside, type Unit } from "../format";
import type { Reading, River, Triple } from "../model";
import { sensorName } from "../network";
import type { SensorReadings } from "../readings";
import { below, harm, threats, type Harm, type Threat } from "../sentence";
import { Both, Card, noAnswer, Some, type CardProps } from "./card";

const LISTED = 5; /* at once; the others behind a word */

/* What is forecast between the two ends of a window: the level, or where there is none a tenth of the plume's peak. */
function windowWords(threat: Threat): { lead: string; between: string } {
  if (threat.intake.alarm_g_m3 === null) return { lead: "in the plume", between: "above a tenth of its peak" };
  const lead = harm(threat) === "exceeds" ? "close" : "may pass the level";
  return { lead, between: "above the alarm level" };
}

function When({ river, threat, now_s, origin_s }: { river: River; threat: Threat; now_s: number; origin_s: number }) {
  const { first_s, peak_s, window, passed, arrival } = threat;
  const time_s = first_s ?? peak_s;
  const range = arrival.first_s ?? arrival.peak_s;
  if (time_s === null || !range) return <span class="range">not expected to be reached</span>;
  const wait = time_s - now_s;
  const zone = isCalendar(river) ? " UTC" : "";
  const word = passed ? "passed" : wait > 60 ? `in ${duration(wait)}` : "now";
  if (window) {
    const { lead, between } = windowWords(threat);
    const times = timesBeside(river, window.from[0], [...window.from, ...window.until]);
    const about = (t: Triple, [lo, middle, hi]: string[]) =>
      `${middle}${t[2] - t[0] < 60 ? "" : ` (${lo} to ${hi})`}${zone}`;
    return (
      <>
        <span class="wait">{word}</span>
        <span class="window">
          {lead} from{" "}
          <b>
            <Both river={river} time_s={window.from[0]} />
          </b>{" "}
          until{" "}
          <b>
            <Both river={river} time_s={window.until[2]} />
          </b>
        </span>
        <span class="range">
          {between} from {about(window.from, times.slice(0, 3))} to {about(window.until, times.slice(3))}
        </span>
      </>
    );
  }
  const [from, to] = timesBeside(river, time_s, [range[0] + origin_s, range[2] + origin_s]);
  return (
    <>
      <span class="wait">{word}</span>
      <Both river={river} time_s={time_s} />
      <span class="range">
        {first_s === null ? "peak only, below the alarm level; " : ""}
        {range[2] - range[0] < 60 ? "to the minute" : `between ${from} and ${to}${zone}`}
      </span>
    </>
  );
}

function Intakes({ list, row }: { list: Threat[]; row: (threat: Threat) => ComponentChildren }) {
  const items = (part: Threat[]) => (
    <ul class="intakes">
      {part.map((t) => (
        <li key={t.intake.id}>{row(t)}</li>
      ))}
    </ul>
  );
  const urgent = (rest: Threat[]) => {
    const count = rest.filter((t) => !t.passed && harm(t) === "exceeds").length;
    return count ? `, ${count} of them above the alarm level` : "";
  };
  return <Some list={list} most={LISTED} items={items} urgent={urgent} />;
}

const nameOfSensor = (river: River, id: string) =>
  sensorName(river.sensors.find((s) => s.id === id) ?? { id, name: "" });

export function Path(props: CardProps) {
  const { river, incident, now_s } = props;
  const list = threats(river, incident, now_s);
  const next = list.find((t) => !t.passed && t.first_s !== null) ?? list.find((t) => !t.passed);
  const answer = !river.intakes.length ? (
    "No intake is listed for this river"
  ) : !incident.estimate ? (
    noAnswer(incident)
  ) : next ? (
    <>{next.intake.name || next.intake.id}</>
  ) : list.length ? (
    "It has passed every intake"
  ) : (
    below(river, incident)
      .map((i) => i.name || i.id)
      .join(", ") || "None"
  );
  return (
    <Card question="Which intake is in its path, and when?" answer={answer}>
      {incident.estimate && !list.length && river.intakes.length > 0 && (
        <p>The method {incident.method} forecasts no arrival.</p>
      )}
      <Intakes
        list={list}
        row={(t) => (
          <>
            <span class="name">
              {t.intake.name || t.intake.id} <span class="range">km {givenKm(t.intake.location_m)}</span>
            </span>
            <When river={river} threat={t} now_s={now_s} origin_s={incident.origin_s} />
          </>
        )}
      />
    </Card>
  );
}

function harmText(level: Harm, threat: Threat | undefined): string {
  const name = threat ? threat.intake.name || threat.intake.id : "";
  return {
    exceeds: `Yes: above the alarm level at ${name}`,
    possible: `Possibly, at ${name}`,
    below: "Below every alarm level",
    unknown: threat ? "No alarm level is known" : "Not known",
  }[level];
}
const HARM_TONE: Record<Harm, string> = { exceeds: "alarm", possible: "warn", below: "calm", unknown: "" };

/* The highest reading so far, and where: an outline of many keeps the highest of them. */
function highestReading(readings: Map<string, SensorReadings>): { sensor: string; reading: Reading } | null {
  let best: { sensor: string; reading: Reading } | null = null;
  for (const [sensor, { list }] of readings) {
    for (const reading of list) {
      if (!reading.below_limit && reading.concentration_g_m3 > (best?.reading.concentration_g_m3 ?? 0))
        best = { sensor, reading };
    }
  }
  return best;
}

function peakText([low, middle, high]: Triple, unit: Unit): string {
  return `peak ${concentration(middle, unit)} (${concentration(low, unit)} to ${concentration(high, unit)})`;
}

export function Damage(props: CardProps) {
  const { river, incident, readings, unit, now_s } = props;
  const list = threats(river, incident, now_s);
  const order: Harm[] = ["exceeds", "possible", "below", "unknown"];
  const worst = order.find((h) => list.some((t) => harm(t) === h)) ?? "unknown";
  const where = list.find((t) => harm(t) === worst);
  const top = highestReading(readings);
  return (
    <Card
      question="Is it harmful?"
      answer={incident.estimate ? harmText(worst, where) : noAnswer(incident)}
      tone={incident.estimate ? HARM_TONE[worst] : ""}
    >
      <Intakes
        list={list}
        row={(t) => (
          <>
            <span class="name">{t.intake.name || t.intake.id}</span>
            {t.arrival.exceeds_alarm !== null && <span class="wait">{percent(t.arrival.exceeds_alarm)}</span>}
            <span class="range">
              {t.arrival.peak_g_m3 && peakText(t.arrival.peak_g_m3, unit)}
              {t.intake.alarm_g_m3 === null ? (
                ", no alarm level given"
              ) : (
                <>, alarm level {concentration(t.intake.alarm_g_m3, unit)}</>
              )}
            </span>
          </>
        )}
      />
      {top && (
        <p class="range">
          Highest reading so far
          {river.sensors.length > readings.size ? ` at the ${readings.size} sensors shown` : ""}:{" "}
          <b>
            {top.reading.above_limit ? "at least " : ""}
            {concentration(top.reading.concentration_g_m3, unit)}
          </b>{" "}
          at {nameOfSensor(river, top.sensor)}, {instant(river, top.reading.time_s)}
        </p>
      )}
    </Card>
  );
}
