/* What was told of this incident, and what became of it: raised, acknowledged, changed, withdrawn, closed. */
import { stands } from "../alarms";
import { localTime, utcDate, utcTime } from "../format";
import type { Alarm, Incident } from "../model";
import { Panel } from "./panel";

const TONE: Record<Alarm["state"], string> = { raised: "alarm", changed: "alarm", withdrawn: "", closed: "" };

function Moment({ at }: { at: string | null }) {
  if (!at) return null;
  const s = Date.parse(at) / 1000;
  return (
    <time dateTime={at} title={`${localTime(s)} local`}>
      {utcDate(s).slice(0, -5)} {utcTime(s)} UTC
    </time>
  );
}

function Heard({ alarm }: { alarm: Alarm }) {
  if (alarm.acknowledged) {
    return (
      <span class="heard">
        acknowledged by <b>{alarm.acknowledged.who}</b>, <Moment at={alarm.acknowledged.at} />
        {alarm.acknowledged.note && `: ${alarm.acknowledged.note}`}
      </span>
    );
  }
  return stands(alarm) ? <b class="heard">not acknowledged</b> : null;
}

export function AlarmPanel({ incident }: { incident: Incident }) {
  if (!incident.alarms.length) return null;
  return (
    <Panel
      id="alarms"
      title="Alarms"
      note="As they were last told, and who has acknowledged them. A window that moves by minutes is not told again."
    >
      <ul class="alarms">
        {incident.alarms.map((a) => (
          <li key={`${a.kind} ${a.subject}`}>
            <span class={`badge ${TONE[a.state]}`}>{a.state}</span>
            <span class="told">
              {a.sentence ?? a.subject}{" "}
              <span class="range">
                since <Moment at={a.since} />
                {(a.state === "changed" || a.state === "withdrawn") && (
                  <>
                    , {a.state} <Moment at={a.at} />
                  </>
                )}
              </span>
            </span>
            <Heard alarm={a} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
