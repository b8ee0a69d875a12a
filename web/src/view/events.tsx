/* What happened, latest first. */
import { concentration, duration, instant, localTime, percent, utcDate, utcTime, type Unit } from "../format";
import type { LogEvent, RiverBrief } from "../model";
import { nameOf } from "../sentence";
import { useStore } from "./context";
import { Panel } from "./panel";

const text = (value: unknown) => (typeof value === "string" ? value : "");
const number = (value: unknown) => (typeof value === "number" ? value : null);

function words(event: LogEvent, river: RiverBrief | undefined, unit: Unit): string {
  const body = event.body ?? {};
  const p = number(body["probability"]) ?? number(body["exceeds_alarm"]);
  if (typeof body["sentence"] === "string") return body["sentence"].replace(/\.$/, "");
  switch (event.kind) {
    case "incident_opened":
      return `Incident ${event.incident} opened: ${text(body["reason"])}`;
    case "incident_closed":
      return `Incident ${event.incident} closed: ${text(body["reason"])}`;
    case "incident_reworked":
      return `Incident ${event.incident} is computed again from its first reading by a new engine`;
    case "candidate":
      return `${text(body["name"]) || event.subject} is the source with ${p === null ? "?" : percent(p)} probability`;
    case "intake_alarm": {
      const first = number(body["first_s"]);
      const peak = number(body["peak_g_m3"]);
      const known = [
        p === null ? "" : percent(p),
        first === null ? "" : `from ${instant(river, first)}`,
        peak === null ? "" : `peak ${concentration(peak, unit)}`,
      ];
      return `Alarm forecast at ${text(body["name"]) || event.subject}: ${known.filter(Boolean).join(", ")}`;
    }
    case "sensor_silent": {
      const age = number(body["age_s"]);
      const since = age === null ? "" : `, last reading ${duration(age)} before`;
      return `Sensor ${text(body["name"]) || event.subject} is silent${since}`;
    }
    case "sensor_heard":
      return `Sensor ${text(body["name"]) || event.subject} reports again`;
    default:
      return `${event.kind.replace(/_/g, " ")}${event.subject ? `: ${event.subject}` : ""}`;
  }
}

const TONE: Record<string, string> = {
  incident_opened: "alarm",
  intake_alarm: "alarm",
  intake_alarm_changed: "alarm",
  candidate: "warn",
  candidate_changed: "warn",
  sensor_silent: "warn",
};

function Past() {
  const [store, state] = useStore();
  const past = state.past.list.filter((i) => i.state === "closed");
  if (!past.length) return null;
  return (
    <>
      <h3>Past incidents</h3>
      <ul class="past">
        {past.map((i) => {
          const river = state.overview.get(i.river_id);
          return (
            <li key={i.id}>
              <a href={`#/incident/${i.id}`}>
                {river ? nameOf(river) : i.river_id}, {instant(river, i.opened_s)}
              </a>
            </li>
          );
        })}
      </ul>
      {state.past.more && (
        <button type="button" onClick={() => void store.loadPast(true)}>
          Older incidents
        </button>
      )}
    </>
  );
}

export function EventPanel({ unit }: { unit: Unit }) {
  const [store, state] = useStore();
  const { list, more } = state.events;
  return (
    <Panel id="events" title="Log" note="Latest first, by the service's clock.">
      {list.length === 0 && <p class="empty">Nothing has happened yet.</p>}
      <ol class="events" tabIndex={0} aria-label="Events">
        {list.map((e) => {
          const river = state.overview.get(e.river);
          const at_s = e.at ? Date.parse(e.at) / 1000 : null;
          const said = words(e, river, unit);
          return (
            <li key={e.id} class={TONE[e.kind] ?? ""}>
              {at_s !== null && (
                <time dateTime={e.at!} title={`${utcDate(at_s)}, ${localTime(at_s)} local`}>
                  {utcDate(at_s).slice(0, -5)} {utcTime(at_s)} UTC
                </time>
              )}
              <span>
                {state.overview.size > 1 && river && !said.includes(nameOf(river)) ? `${nameOf(river)}: ` : ""}
                {said}
              </span>
            </li>
          );
        })}
        {more && (
          <li>
            <button type="button" onClick={() => void store.loadOlderEvents()}>
              Older entries
            </button>
          </li>
        )}
      </ol>
      <Past />
    </Panel>
  );
}
