/* Where it came from, and where it goes. */
import { peakOf, spreadOf } from "../forecast";
import { concentration, duration, isCalendar, km, mass, percent, timesBeside } from "../format";
import type { Incident, River } from "../model";
import { downTo, isNetwork, placeText } from "../network";
import {
  FORGOTTEN,
  silence,
  silenceSentence,
  spanOf,
  suspect,
  suspectApart,
  suspectOf,
  type Suspect,
} from "../sentence";
import { Both, Card, noAnswer, sentenceOf, Some, type CardProps } from "./card";

const NAMED = 3; /* candidates, stretches and releases at once; the others behind a word */

const capital = sentenceOf;

function Candidates({ river, incident }: { river: River; incident: Incident }) {
  if (!incident.candidates.length) return null;
  return (
    <Some
      list={incident.candidates}
      most={NAMED}
      items={(part) => (
        <ul class="bars" aria-label="Candidates by probability">
          {part.map((c) => (
            <li key={c.id ?? ""}>
              <span class="name">
                {c.id === null ? "none of these" : river.candidates.find((r) => r.id === c.id)?.name || c.id}
              </span>
              <meter min={0} max={1} value={c.probability} aria-label={percent(c.probability)} />
              <span class="value">{percent(c.probability)}</span>
            </li>
          ))}
        </ul>
      )}
    />
  );
}

/* The stretches that together hold the level, where there is more than the one of the interval. */
function Region({ river, incident }: { river: River; incident: Incident }) {
  const region = incident.region ?? [];
  if (region.length < 2) return null;
  const span = spanOf(incident);
  return (
    <>
      <dt>Region</dt>
      <dd>
        <Some
          list={region}
          most={NAMED}
          items={(part) => (
            <ul>
              {part.map((r) => (
                <li key={`${r.branch} ${r.location_m[0]}`}>
                  {placeText(river, r.branch, r.location_m[0], span)} to {km(r.location_m[1], span)}{" "}
                  <span class="range">{percent(r.probability)}</span>
                </li>
              ))}
            </ul>
          )}
        />
      </dd>
    </>
  );
}

function By({ who }: { who: Suspect | null }) {
  return who && who.probability >= 0.5 ? `, ${who.name} (${percent(who.probability)})` : null;
}

function Releases({ river, incident }: { river: River; incident: Incident }) {
  const releases = incident.releases ?? [];
  if (releases.length < 2) return null;
  return (
    <>
      <dt>Releases</dt>
      <dd>
        {releases.length}
        <ul>
          {releases.map((r, i) =>
            r.estimate ? (
              <li key={i}>
                {mass(r.estimate.mass_g)} at{" "}
                {placeText(river, r.estimate.branch, r.estimate.location_m, spanOf(incident))}
                <By who={suspectOf(river, r.candidates ?? [])} />,{" "}
                <Both river={river} time_s={r.estimate.time_s + incident.origin_s} />{" "}
                <span class="range">{percent(r.probability)}</span>
              </li>
            ) : null,
          )}
        </ul>
      </dd>
    </>
  );
}

/* How long it lasted, and whether it goes on; an instant needs no word. */
function Lasting({ incident }: { incident: Incident }) {
  const e = incident.estimate!;
  const flows = incident.still_flowing ?? 0;
  if ((e.duration_s ?? 0) < 60 && flows < 0.05) return null;
  return (
    <>
      <dt>Lasted</dt>
      <dd>
        {(e.duration_s ?? 0) < 60 ? "an instant" : `about ${duration(e.duration_s!)}`}
        {flows >= 0.05 && (
          <span class="range">
            still flowing: {percent(flows)}
            {typeof e.rate_g_s === "number" && `, ${mass(3600 * e.rate_g_s)} an hour`}
          </span>
        )}
      </dd>
    </>
  );
}

function NoOrigin({ river, incident }: { river: River; incident: Incident }) {
  const early = silence(incident) === "too early" && incident.state === "open";
  return (
    <Card
      question="Where did it come from?"
      answer={noAnswer(incident)}
      tone={silence(incident) === "unexplained" ? "warn" : ""}
    >
      <p>
        {early ? "The first estimate follows with the next readings." : sentenceOf(silenceSentence(river, incident))}
      </p>
    </Card>
  );
}

export function Origin({ river, incident }: CardProps) {
  const e = incident.estimate;
  if (!e) return <NoOrigin river={river} incident={incident} />;
  const i = incident.interval;
  const span = spanOf(incident);
  const level = i ? percent(i.level) : "";
  const who = suspect(river, incident);
  const at = placeText(river, e.branch, e.location_m, span);
  const answer = who && who.probability >= 0.5 ? `${who.name}, ${percent(who.probability)} sure` : capital(at);
  const branch = incident.branches?.find((b) => b.id === e.branch);
  const elsewhere = suspectApart(river, incident, who?.candidate);
  const released_s = e.time_s + incident.origin_s;
  const span_s = i && i.time_s.map((t) => t + incident.origin_s);
  return (
    <Card question="Where did it come from, and how sure?" answer={answer}>
      {incident.provisional && (
        <p class="badge warn">
          {incident.state === "open"
            ? "Provisional: the pulse has not passed yet, the interval will move"
            : "Provisional: the pulse was not seen to pass"}
        </p>
      )}
      <dl>
        <dt>Place</dt>
        <dd>
          {at}
          {i && (
            <span class="range">
              {level}: km {km(i.location_m[0], span)} to {km(i.location_m[1], span)}
            </span>
          )}
          {who && who.probability >= 0.5 && elsewhere && (
            <span class="range">
              by the readings alone; {who.name} is at {elsewhere}
            </span>
          )}
          {isNetwork(river) && branch && <span class="range">this branch: {percent(branch.probability)}</span>}
        </dd>
        <Region river={river} incident={incident} />
        <dt>Released</dt>
        <dd>
          <Both river={river} time_s={released_s} />
          {span_s && (
            <span class="range">
              {level}: {timesBeside(river, released_s, span_s).join(" to ")}
              {isCalendar(river) ? " UTC" : ""}
            </span>
          )}
        </dd>
        <Lasting incident={incident} />
        <dt>Amount</dt>
        <dd>
          {mass(e.mass_g)}
          {i && (
            <span class="range">
              {level}: {mass(Math.max(0, i.mass_g[0]))} to {mass(i.mass_g[1])}
            </span>
          )}
        </dd>
        <Releases river={river} incident={incident} />
      </dl>
      <Candidates river={river} incident={incident} />
    </Card>
  );
}

function NoCourse({ incident, noForecast }: CardProps) {
  if (!incident.estimate) {
    const quiet = silence(incident) === "no spill";
    return (
      <Card question="Where is it going?" answer={noAnswer(incident)}>
        <p>
          {quiet ? "Nothing is on its way as far as the sensors can tell." : "Downstream, from wherever it entered."}
        </p>
      </Card>
    );
  }
  return (
    <Card question="Where is it going?" answer="Downstream">
      <p>
        {noForecast === "forgotten"
          ? FORGOTTEN
          : noForecast
            ? `The method ${incident.method} makes no forecast of the plume.`
            : "The forecast is being worked out."}
      </p>
    </Card>
  );
}

export function Course(props: CardProps) {
  const { river, incident, plumeNow, unit, now_s } = props;
  if (!incident.estimate || !plumeNow) return <NoCourse {...props} />;
  const velocity = incident.hydraulics?.velocity_m_s;
  const peak = peakOf(plumeNow);
  const [tail, front] = spreadOf(plumeNow);
  const last = Math.max(...[...river.sensors, ...river.intakes].map((p) => downTo(river, p.branch, p.location_m)));
  const gone = front >= plumeNow.x_m[plumeNow.x_m.length - 1]! - 1 && downTo(river, plumeNow.branch, tail) > last;
  const near = placeText(river, plumeNow.branch, peak.x_m);
  return (
    <Card
      question="Where is it going?"
      answer={gone ? "Past the last place watched" : `Peak now ${peak.beyond ? "beyond" : "near"} ${near}`}
    >
      <dl>
        <dt>At</dt>
        <dd>
          <Both river={river} time_s={now_s} />
        </dd>
        {!gone && (
          <>
            <dt>Stretch</dt>
            <dd>
              km {km(tail)} to {km(front)}
              <span class="range">above a tenth of the peak</span>
            </dd>
            <dt>Peak</dt>
            <dd>
              {concentration(peak.mid, unit)}
              <span class="range">
                {concentration(peak.lo, unit)} to {concentration(peak.hi, unit)}
              </span>
            </dd>
          </>
        )}
        {velocity && (
          <>
            <dt>Speed</dt>
            <dd>
              {(velocity[1] * 3.6).toFixed(1)} km/h<span class="range">{velocity[1].toFixed(2)} m/s, downstream</span>
            </dd>
          </>
        )}
      </dl>
    </Card>
  );
}
