/* Where and when to take the next sample: a card, and marks on the pictures of the river. */
import { useState } from "preact/hooks";
import { canAdvise, useAdvised, useAsking, type AdvisedPlace, type Question } from "../advice";
import { concentration, givenKm, percent, shortInstant, type Unit } from "../format";
import type { Incident, River } from "../model";
import { givenPlace } from "../network";
import { sentenceOf } from "./card";
import { Panel } from "./panel";

const QUESTIONS: [Question, string][] = [
  ["place", "where it came from"],
  ["who", "who it was"],
  ["intake", "what reaches the intakes"],
];

function Place({ river, unit, place }: { river: River; unit: Unit; place: AdvisedPlace }) {
  const [from, to] = place.stretch_m;
  const start = givenPlace(river, { branch: place.branch, location_m: from });
  const where = from === to ? start : `${start} to ${givenKm(to)}`;
  const at = (time_s: number) => shortInstant(river, time_s);
  const when = place.from_s === place.until_s ? at(place.time_s) : `${at(place.from_s)} to ${at(place.until_s)}`;
  const [lo, mid, hi] = place.expected_g_m3.map((c) => concentration(c, unit));
  return (
    <li>
      <strong>
        {sentenceOf(where)}, {when}
      </strong>
      <span class="note">
        {place.bits.toFixed(2)} bit. Expect {mid} ({lo} to {hi}), seen with {percent(place.seen)}.
      </span>
    </li>
  );
}

export function AdvicePanel({ river, incident, unit }: { river: River; incident: Incident; unit: Unit }) {
  const [question, setQuestion] = useState<Question>("place");
  useAsking(incident, question);
  const advised = useAdvised(incident);
  const advice = advised?.advice?.question === question ? advised.advice : null;
  const choose = (event: Event) => setQuestion((event.currentTarget as HTMLSelectElement).value as Question);
  const tools = (
    <label>
      to learn{" "}
      <select value={question} onChange={choose}>
        {QUESTIONS.map(([word, text]) => (
          <option key={word} value={word}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  const note =
    advice && "Ranked by the information a reading is expected to give; one bit halves the stretch, or the suspects.";
  const silent =
    incident.state !== "open"
      ? "the incident is closed"
      : canAdvise(incident)
        ? (advised?.refusal ?? "being worked out")
        : incident.trust === "none"
          ? "the readings cannot be explained: there is nothing to advise on"
          : "appears with the first answer of the posterior engine";
  return (
    <Panel id="advice" title="Where to sample next" note={note} tools={canAdvise(incident) && tools}>
      {advice ? (
        <ol class="advice">
          {advice.places.map((place) => (
            <Place key={`${place.branch}${place.location_m}`} river={river} unit={unit} place={place} />
          ))}
        </ol>
      ) : (
        <p class="empty">{`${sentenceOf(silent)}.`}</p>
      )}
    </Panel>
  );
}

/* Numbered flags where the samples should be taken; at gives no point for a place that is not drawn. */
export function AdviceMarks({
  incident,
  at,
}: {
  incident: Incident | undefined;
  at: (place: AdvisedPlace) => [number, number] | null;
}) {
  const places = useAdvised(incident)?.advice?.places ?? [];
  return (
    <g class="advice-marks">
      {places.map((place, i) => {
        const point = at(place);
        return (
          point && (
            <g key={`${place.branch}${place.location_m}`} transform={`translate(${point[0]} ${point[1]})`}>
              <path d="M0 0V-18H14V-7H0" />
              <text x={7} y={-9}>
                {i + 1}
              </text>
            </g>
          )
        );
      })}
    </g>
  );
}
