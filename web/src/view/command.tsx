/* A person's word: opening, acknowledging and closing incidents. Where the service has tokens, an administrator's is
 * asked for once and kept for this tab. */
import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api";
import { unheard } from "../attention";
import { isCalendar } from "../format";
import type { Incident, Method, River } from "../model";
import { nameOf } from "../sentence";

/* With its river: the page behind the form may turn to another. */
type Order = { river: River } & ({ kind: "open" } | { kind: "close" | "acknowledge"; incident: Incident });

/* Who acknowledges is asked once a tab. */
const WHO = "headwater-who";

/* The field's text as a time of the readings; null: not given. */
function timeOf(river: River, text: string): number | string | null {
  if (!text) return null;
  return isCalendar(river) ? `${text}Z` : Number(text) * 3600;
}

function Opening({
  river,
  method,
  setMethod,
  from,
  setFrom,
}: {
  river: River;
  method: string;
  setMethod: (v: string) => void;
  from: string;
  setFrom: (v: string) => void;
}) {
  const [methods, setMethods] = useState<Method[]>([]);
  useEffect(() => void api.methods().then(setMethods, () => undefined), []);
  return (
    <>
      <p>
        Its engine takes the readings of this river from six hours before the rise on. Nobody else needs to have noticed
        anything.
      </p>
      <label for="order-from">
        The rise began, {isCalendar(river) ? "UTC" : "hours on the readings' clock"}{" "}
        <span class="range">(empty: with the latest reading)</span>
      </label>
      <input
        id="order-from"
        type={isCalendar(river) ? "datetime-local" : "number"}
        step="any"
        value={from}
        onInput={(event) => setFrom(event.currentTarget.value)}
      />
      <details>
        <summary>Expert</summary>
        <label for="order-method">Method</label>
        <select id="order-method" value={method} onChange={(event) => setMethod(event.currentTarget.value)}>
          <option value="">the service's own engine</option>
          {methods.map((m) => (
            <option key={m.name} value={m.name}>
              {m.name}: {m.summary}
            </option>
          ))}
        </select>
      </details>
    </>
  );
}

function Acknowledging({
  who,
  setWho,
  note,
  setNote,
}: {
  who: string;
  setWho: (v: string) => void;
  note: string;
  setNote: (v: string) => void;
}) {
  return (
    <>
      <p>Everybody who is notified of this incident learns that you have seen it. The alarms stay as they are.</p>
      <label for="order-who">Who</label>
      <input id="order-who" value={who} maxLength={60} autofocus onInput={(e) => setWho(e.currentTarget.value)} />
      <label for="order-note">
        Note <span class="range">(what is being done)</span>
      </label>
      <input id="order-note" value={note} maxLength={300} onInput={(e) => setNote(e.currentTarget.value)} />
    </>
  );
}

const TITLE = { open: "Open an incident", close: "Close incident", acknowledge: "Acknowledge incident" };
const BUTTON = { open: "Open it", close: "Close it", acknowledge: "Acknowledge it" };

function OrderDialog({ order, onDone }: { order: Order; onDone: () => void }) {
  const { river } = order;
  const dialog = useRef<HTMLDialogElement>(null);
  const [token, setToken] = useState("");
  const [needsToken, setNeedsToken] = useState(false);
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const [method, setMethod] = useState("");
  const [from, setFrom] = useState("");
  const [who, setWho] = useState(sessionStorage.getItem(WHO) ?? "");
  const [note, setNote] = useState("");
  useEffect(() => dialog.current?.showModal(), []);

  async function give(): Promise<void> {
    setBusy(true);
    setFault("");
    if (token) api.setAdminToken(token);
    try {
      if (order.kind === "close") await api.closeIncident(order.incident.id);
      else if (order.kind === "acknowledge") {
        await api.acknowledge(order.incident.id, who.trim(), note.trim());
        sessionStorage.setItem(WHO, who.trim());
      } else location.hash = `#/incident/${(await api.openIncident(river.id, method, timeOf(river, from))).id}`;
      onDone();
    } catch (error) {
      const refused = error instanceof api.Refused && (error.status === 401 || error.status === 403);
      if (refused) api.setAdminToken("");
      setFault(
        refused && !needsToken
          ? ""
          : refused
            ? "That token may not do this."
            : error instanceof api.Refused
              ? error.message
              : "The service does not answer.",
      );
      setNeedsToken(needsToken || refused);
      setBusy(false);
    }
  }

  const id = order.kind === "open" ? "" : ` ${order.incident.id}`;
  return (
    <dialog ref={dialog} class="order" aria-labelledby="order-title" onClose={onDone}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void give();
        }}
      >
        <h2 id="order-title">
          {TITLE[order.kind]}
          {id} on {nameOf(river)}?
        </h2>
        {order.kind === "close" && (
          <p>
            What was found stays and can be looked at; no further reading goes into it, and its alarms end. Detection
            goes on.
          </p>
        )}
        {order.kind === "acknowledge" && <Acknowledging who={who} setWho={setWho} note={note} setNote={setNote} />}
        {order.kind === "open" && (
          <Opening river={river} method={method} setMethod={setMethod} from={from} setFrom={setFrom} />
        )}
        {needsToken && (
          <>
            <label for="order-token">
              Administrator's token <span class="range">(kept for this tab only)</span>
            </label>
            <input
              id="order-token"
              type="password"
              autocomplete="off"
              value={token}
              onInput={(event) => setToken(event.currentTarget.value.trim())}
              autofocus
            />
          </>
        )}
        {fault && (
          <p class="badge alarm" role="alert">
            {fault}
          </p>
        )}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            type="submit"
            class="primary"
            disabled={busy || (needsToken && !token) || (order.kind === "acknowledge" && !who.trim())}
          >
            {BUTTON[order.kind]}
          </button>
        </div>
      </form>
    </dialog>
  );
}

export function IncidentCommands({ river, incident }: { river: River; incident: Incident | undefined }) {
  const [order, setOrder] = useState<Order | null>(null);
  return (
    <div class="commands" role="group" aria-label="Incident">
      {incident?.state === "open" && unheard(incident).length > 0 && (
        <button type="button" class="primary" onClick={() => setOrder({ kind: "acknowledge", river, incident })}>
          Acknowledge…
        </button>
      )}
      {incident?.state === "open" && (
        <button type="button" onClick={() => setOrder({ kind: "close", river, incident })}>
          Close incident…
        </button>
      )}
      <button type="button" onClick={() => setOrder({ kind: "open", river })}>
        {incident?.state === "open" ? "Open another…" : "Open an incident…"}
      </button>
      {order && <OrderDialog order={order} onDone={() => setOrder(null)} />}
    </div>
  );
}
