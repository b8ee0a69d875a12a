/* Where and when to take the next sample: a card, and marks on the pictures of the river. */
import { useState } from "preact/hooks";
import { answers, canAdvise, useAdvised, useAsking, type AdvisedPlace, type Asked, type Question } from "../advice";
import { concentration, duration, givenKm, percent, shortInstant, type Unit } from "../format";
import type { Incident, River } from "../model";
import { givenPlace } from "../network";
import { sentenceOf } from "./card";
import { Panel } from "./panel";

const QUESTIONS: [Question, string][] = [
  ["place", "where it came from"],
  ["who", "who it was"],
  ["intake", "what reaches the intakes"],
];
const CREWS = [1, 2, 3, 4, 5, 6, 7, 8];
const DELAYS_S = [0, 900, 1800, 3600, 7200, 14400, 28800];

function Choice<T extends string | number>({
  lead,
  value,
  options,
  choose,
}: {
  lead: string;
  value: T;
  options: [T, string][];
  choose: (value: T) => void;
}) {
  return (
    <label>
      {lead}{" "}
      <select
        value={value}
        onChange={(event) => choose(options.find(([v]) => String(v) === event.currentTarget.value)![0])}
      >
        {options.map(([v, text]) => (
          <option key={v} value={v}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

const crewsText = (crews: number) => (crews === 1 ? "one crew" : `${crews} crews`);
const readyText = (delay_s: number) => (delay_s ? `in ${duration(delay_s)}` : "now");

/* The same in words, where nothing can be chosen. */
const askedText = ({ question, crews, delay_s }: Asked) => {
  const [, what] = QUESTIONS.find(([word]) => word === question)!;
  return `To learn ${what}, with ${crewsText(crews)}, ready ${readyText(delay_s)}.`;
};

function Tools({ asked, set }: { asked: Asked; set: (asked: Asked) => void }) {
  return (
    <>
      <Choice
        lead="to learn"
        value={asked.question}
        options={QUESTIONS}
        choose={(question) => set({ ...asked, question })}
      />
      <Choice
        lead="with"
        value={asked.crews}
        options={CREWS.map((n) => [n, crewsText(n)])}
        choose={(crews) => set({ ...asked, crews })}
      />
      <Choice
        lead="ready"
        value={asked.delay_s}
        options={DELAYS_S.map((s) => [s, readyText(s)])}
        choose={(delay_s) => set({ ...asked, delay_s })}
      />
    </>
  );
}

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
  const [asked, setAsked] = useState<Asked>({ question: "place", crews: 1, delay_s: 0 });
  useAsking(incident, asked);
  const advised = useAdvised(incident);
  const advice = advised?.advice && answers(advised.advice, asked) ? advised.advice : null;
  const ranked =
    "Ranked by the information a reading is expected to give; one bit halves the stretch, or the suspects.";
  const note = advice && (
    <>
      <span class="on-paper">{`${askedText(asked)} `}</span>
      {ranked}
      {asked.crews > 1 && " The bits of each are what it adds to those before it."}
    </>
  );
  const silent =
    incident.state !== "open"
      ? "the incident is closed"
      : canAdvise(incident)
        ? (advised?.refusal ?? "being worked out")
        : incident.trust === "none"
          ? "the readings cannot be explained: there is nothing to advise on"
          : "appears with the first answer of the posterior engine";
  return (
    <Panel
      id="advice"
      title="Where to sample next"
      note={note}
      tools={canAdvise(incident) && <Tools asked={asked} set={setAsked} />}
    >
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
