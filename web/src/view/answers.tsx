/* The four questions of a spill. */
import type { ComponentChildren } from "preact";
import { peakOf, spreadOf } from "../forecast";
import { concentration, duration, instant, isCalendar, km, localTime, mass, percent, relativeTime, utcDate, utcTime, type Unit } from "../format";
import type { Incident, Plume, Reading, River, Triple } from "../model";
import { below, FORGOTTEN, harm, silence, silenceSentence, suspect, threats, type Harm, type Threat } from "../sentence";
import { areCut, MOST_READINGS } from "../api";
import type { NoForecast } from "../store";

const LISTED = 5; /* intakes at once; the others behind a word */
const NAMED = 3; /* candidates in the card; the river shows all */

interface Props {
  river: River;
  incident: Incident;
  plumeNow: Plume | null;
  noForecast: NoForecast;
  readings: Map<string, Reading[]>;
  unit: Unit;
  now_s: number;
}

function Card({ question, answer, tone, children }: { question: string; answer: ComponentChildren; tone?: string; children: ComponentChildren }) {
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
function noAnswer(incident: Incident): string {
  const text = { unexplained: "Not known", "no spill": "No spill seen", "too early": incident.state === "closed" ? "No source was found" : "Being worked out" };
  return text[silence(incident)];
}

const sentenceOf = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function Origin({ river, incident }: Props) {
  const e = incident.estimate;
  if (!e) {
    return (
      <Card question="Where did it come from?" answer={noAnswer(incident)} tone={silence(incident) === "unexplained" ? "warn" : ""}>
        <p>{silence(incident) === "too early" && incident.state === "open" ? "The first estimate follows with the next readings." : sentenceOf(silenceSentence(incident))}</p>
      </Card>
    );
  }
  const i = incident.interval;
  const span = i ? i.location_m[1] - i.location_m[0] : Infinity;
  const level = i ? percent(i.level) : "";
  const who = suspect(river, incident);
  const answer = who && who.probability >= 0.5 ? `${who.name}, ${percent(who.probability)} sure` : `River km ${km(e.location_m, span)}`;
  return (
    <Card question="Where did it come from, and how sure?" answer={answer}>
      {incident.provisional && <p class="badge warn">{incident.state === "open" ? "Provisional: the pulse has not passed yet, the interval will move" : "Provisional: the pulse was not seen to pass"}</p>}
      <dl>
        <dt>Place</dt>
        <dd>river km {km(e.location_m, span)}{i && <span class="range">{level}: km {km(i.location_m[0], span)} to {km(i.location_m[1], span)}</span>}</dd>
        <dt>Released</dt>
        <dd><Both river={river} time_s={e.time_s + incident.origin_s} />{i && <span class="range">{level}: within {duration(i.time_s[1] - i.time_s[0])}</span>}</dd>
        <dt>Amount</dt>
        <dd>{mass(e.mass_g)}{i && <span class="range">{level}: {mass(Math.max(0, i.mass_g[0]))} to {mass(i.mass_g[1])}</span>}</dd>
      </dl>
      {incident.candidates.length > 0 && (
        <ul class="bars" aria-label="Candidates by probability">
          {incident.candidates.slice(0, NAMED).map((c) => {
            const known = river.candidates.find((r) => r.id === c.id);
            return (
              <li key={c.id ?? ""}>
                <span class="name">{c.id === null ? "none of these" : known?.name || c.id}</span>
                <meter min={0} max={1} value={c.probability} aria-label={`${percent(c.probability)}`} />
                <span class="value">{percent(c.probability)}</span>
              </li>
            );
          })}
        </ul>
      )}
    </Card>
  );
}

function Course({ river, incident, plumeNow, noForecast, unit, now_s }: Props) {
  const velocity = incident.hydraulics?.velocity_m_s;
  if (!incident.estimate) return <Card question="Where is it going?" answer={noAnswer(incident)}><p>{silence(incident) === "no spill" ? "Nothing is on its way as far as the sensors can tell." : "Downstream, from wherever it entered."}</p></Card>;
  if (!plumeNow) {
    return <Card question="Where is it going?" answer="Downstream"><p>{noForecast === "forgotten" ? FORGOTTEN : noForecast ? `The method ${incident.method} makes no forecast of the plume.` : "The forecast is being worked out."}</p></Card>;
  }
  const peak = peakOf(plumeNow);
  const [tail, front] = spreadOf(plumeNow);
  const last = Math.max(...[...river.sensors, ...river.intakes].map((p) => p.location_m));
  const gone = front >= plumeNow.x_m[plumeNow.x_m.length - 1]! - 1 && tail > last;
  return (
    <Card question="Where is it going?" answer={gone ? "Past the last place watched" : <>Peak now {peak.beyond ? "beyond" : "near"} river km {km(peak.x_m)}</>}>
      <dl>
        <dt>At</dt><dd><Both river={river} time_s={now_s} /></dd>
        {!gone && <><dt>Stretch</dt><dd>km {km(tail)} to {km(front)}<span class="range">above a tenth of the peak</span></dd></>}
        {!gone && <><dt>Peak</dt><dd>{concentration(peak.mid, unit)}<span class="range">{concentration(peak.lo, unit)} to {concentration(peak.hi, unit)}</span></dd></>}
        {velocity && <><dt>Speed</dt><dd>{(velocity[1] * 3.6).toFixed(1)} km/h<span class="range">{velocity[1].toFixed(2)} m/s, downstream</span></dd></>}
      </dl>
    </Card>
  );
}

function When({ river, threat, now_s, origin_s }: { river: River; threat: Threat; now_s: number; origin_s: number }) {
  const { first_s, peak_s, window, passed, arrival } = threat;
  const time_s = first_s ?? peak_s;
  const range = arrival.first_s ?? arrival.peak_s;
  if (time_s === null || !range) return <span class="range">not expected to be reached</span>;
  const wait = time_s - now_s;
  const text = isCalendar(river) ? (t: number) => utcTime(t) : relativeTime;
  const zone = isCalendar(river) ? " UTC" : "";
  const word = passed ? "passed" : wait > 60 ? `in ${duration(wait)}` : "now";
  if (window && threat.intake.alarm_g_m3 !== null) {
    const about = (t: Triple) => `${text(t[1])}${t[2] - t[0] < 60 ? "" : ` (${text(t[0])} to ${text(t[2])})`}${zone}`;
    return (
      <>
        <span class="wait">{word}</span>
        <span class="window">{harm(threat) === "exceeds" ? "close" : "may pass the level"} from <b><Both river={river} time_s={window.from[0]} /></b> until <b><Both river={river} time_s={window.until[2]} /></b></span>
        <span class="range">above the alarm level from {about(window.from)} to {about(window.until)}</span>
      </>
    );
  }
  return (
    <>
      <span class="wait">{word}</span>
      <Both river={river} time_s={time_s} />
      <span class="range">
        {first_s === null ? "peak only, below the alarm level; " : ""}
        {range[2] - range[0] < 60 ? "to the minute" : `between ${text(range[0] + origin_s)} and ${text(range[2] + origin_s)}${zone}`}
      </span>
    </>
  );
}

/* The first few, and a way to all the others. */
function Intakes({ list, row }: { list: Threat[]; row: (threat: Threat) => ComponentChildren }) {
  const items = (part: Threat[]) => <ul class="intakes">{part.map((t) => <li key={t.intake.id}>{row(t)}</li>)}</ul>;
  const rest = list.slice(LISTED);
  return (
    <>
      {items(list.slice(0, LISTED))}
      {rest.length > 0 && <details class="rest"><summary>{rest.length} more</summary>{items(rest)}</details>}
    </>
  );
}

function Path(props: Props) {
  const { river, incident, now_s } = props;
  const list = threats(river, incident, now_s);
  const next = list.find((t) => !t.passed && t.first_s !== null) ?? list.find((t) => !t.passed);
  const answer = !river.intakes.length ? "No intake is listed for this river"
    : !incident.estimate ? noAnswer(incident)
    : next ? <>{next.intake.name || next.intake.id}</>
    : list.length ? "It has passed every intake"
    : below(river, incident).map((i) => i.name || i.id).join(", ") || "None";
  return (
    <Card question="Which intake is in its path, and when?" answer={answer}>
      {incident.estimate && !list.length && river.intakes.length > 0 && <p>The method {incident.method} forecasts no arrival.</p>}
      <Intakes list={list} row={(t) => (
        <>
          <span class="name">{t.intake.name || t.intake.id} <span class="range">km {km(t.intake.location_m)}</span></span>
          <When river={river} threat={t} now_s={now_s} origin_s={incident.origin_s} />
        </>
      )} />
    </Card>
  );
}

function harmText(level: Harm, threat: Threat | undefined): string {
  const name = threat ? threat.intake.name || threat.intake.id : "";
  return { exceeds: `Yes: above the alarm level at ${name}`, possible: `Possibly, at ${name}`, below: "Below every alarm level", unknown: threat ? "No alarm level is known" : "Not known" }[level];
}
const HARM_TONE: Record<Harm, string> = { exceeds: "alarm", possible: "warn", below: "calm", unknown: "" };

/* The highest reading so far, and where. */
function highestReading(readings: Map<string, Reading[]>): { sensor: string; reading: Reading } | null {
  let best: { sensor: string; reading: Reading } | null = null;
  for (const [sensor, list] of readings) {
    for (const reading of list) {
      if (!reading.below_limit && reading.concentration_g_m3 > (best?.reading.concentration_g_m3 ?? 0)) best = { sensor, reading };
    }
  }
  return best;
}

function Damage(props: Props) {
  const { river, incident, readings, unit, now_s } = props;
  const list = threats(river, incident, now_s);
  const order: Harm[] = ["exceeds", "possible", "below", "unknown"];
  const worst = order.find((h) => list.some((t) => harm(t) === h)) ?? "unknown";
  const where = list.find((t) => harm(t) === worst);
  const top = highestReading(readings);
  return (
    <Card question="Is it harmful?" answer={incident.estimate ? harmText(worst, where) : noAnswer(incident)} tone={incident.estimate ? HARM_TONE[worst] : ""}>
      <Intakes list={list} row={(t) => (
        <>
          <span class="name">{t.intake.name || t.intake.id}</span>
          {t.arrival.exceeds_alarm !== null && <span class="wait">{percent(t.arrival.exceeds_alarm)}</span>}
          <span class="range">
            {t.arrival.peak_g_m3 && <>peak {concentration(t.arrival.peak_g_m3[1], unit)} ({concentration(t.arrival.peak_g_m3[0], unit)} to {concentration(t.arrival.peak_g_m3[2], unit)})</>}
            {t.intake.alarm_g_m3 === null ? ", no alarm level given" : <>, alarm level {concentration(t.intake.alarm_g_m3, unit)}</>}
          </span>
        </>
      )} />
      {top && <p class="range">{areCut(readings) ? `Highest of the last ${MOST_READINGS} readings of each sensor` : "Highest reading so far"}: <b>{top.reading.above_limit ? "at least " : ""}{concentration(top.reading.concentration_g_m3, unit)}</b> at {top.sensor}, {instant(river, top.reading.time_s)}</p>}
    </Card>
  );
}

export function Answers(props: Props) {
  return (
    <div class="answers">
      <Origin {...props} />
      <Course {...props} />
      <Path {...props} />
      <Damage {...props} />
    </div>
  );
}
