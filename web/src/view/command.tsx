/* A person's word: opening and closing incidents. Where the service has tokens, an administrator's is asked for
 * once and kept for this tab. */
import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api";
import { isCalendar } from "../format";
import type { Incident, Method, River } from "../model";
import { nameOf } from "../sentence";

type Order = { kind: "open" } | { kind: "close"; incident: Incident };

/* The field's text as a time of the readings; null: not given. */
function timeOf(river: River, text: string): number | string | null {
  if (!text) return null;
  return isCalendar(river) ? `${text}Z` : Number(text) * 3600;
}

function Opening({ river, method, setMethod, from, setFrom }: { river: River; method: string; setMethod: (v: string) => void; from: string; setFrom: (v: string) => void }) {
  const [methods, setMethods] = useState<Method[]>([]);
  useEffect(() => void api.methods().then(setMethods, () => undefined), []);
  return (
    <>
      <p>Its engine takes the readings of this river from six hours before the rise on. Nobody else needs to have noticed anything.</p>
      <label for="order-from">The rise began, {isCalendar(river) ? "UTC" : "hours on the readings' clock"} <span class="range">(empty: with the latest reading)</span></label>
      <input id="order-from" type={isCalendar(river) ? "datetime-local" : "number"} step="any" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
      <label for="order-method">Method</label>
      <select id="order-method" value={method} onChange={(event) => setMethod(event.currentTarget.value)}>
        <option value="">the service's own</option>
        {methods.map((m) => <option key={m.name} value={m.name}>{m.name}: {m.summary}</option>)}
      </select>
    </>
  );
}

function OrderDialog({ river, order, onDone }: { river: River; order: Order; onDone: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [token, setToken] = useState("");
  const [needsToken, setNeedsToken] = useState(false);
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const [method, setMethod] = useState("");
  const [from, setFrom] = useState("");
  useEffect(() => dialog.current?.showModal(), []);

  async function give(): Promise<void> {
    setBusy(true);
    setFault("");
    if (token) api.setAdminToken(token);
    try {
      if (order.kind === "close") await api.closeIncident(order.incident.id);
      else location.hash = `#/incident/${(await api.openIncident(river.id, method, timeOf(river, from))).id}`;
      onDone();
    } catch (error) {
      const refused = error instanceof api.Refused && (error.status === 401 || error.status === 403);
      if (refused) api.setAdminToken("");
      setFault(refused && !needsToken ? "" : refused ? "That token may not do this." : error instanceof api.Refused ? error.message : "The service does not answer.");
      setNeedsToken(needsToken || refused);
      setBusy(false);
    }
  }

  const closing = order.kind === "close";
  return (
    <dialog ref={dialog} class="order" aria-labelledby="order-title" onClose={onDone}>
      <form onSubmit={(event) => { event.preventDefault(); void give(); }}>
        <h2 id="order-title">{closing ? `Close incident ${order.incident.id} on ${nameOf(river)}?` : `Open an incident on ${nameOf(river)}?`}</h2>
        {closing ? <p>What was found stays and can be looked at; no further reading goes into it. Detection goes on.</p>
          : <Opening river={river} method={method} setMethod={setMethod} from={from} setFrom={setFrom} />}
        {needsToken && (
          <>
            <label for="order-token">Administrator's token <span class="range">(kept for this tab only)</span></label>
            <input id="order-token" type="password" autocomplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value.trim())} autofocus />
          </>
        )}
        {fault && <p class="badge alarm" role="alert">{fault}</p>}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>Cancel</button>
          <button type="submit" class="primary" disabled={busy || (needsToken && !token)}>{closing ? "Close it" : "Open it"}</button>
        </div>
      </form>
    </dialog>
  );
}

export function IncidentCommands({ river, incident }: { river: River; incident: Incident | undefined }) {
  const [order, setOrder] = useState<Order | null>(null);
  return (
    <div class="commands" role="group" aria-label="Incident">
      {incident?.state === "open" && <button type="button" onClick={() => setOrder({ kind: "close", incident })}>Close incident…</button>}
      <button type="button" onClick={() => setOrder({ kind: "open" })}>{incident?.state === "open" ? "Open another…" : "Open an incident…"}</button>
      {order && <OrderDialog river={river} order={order} onDone={() => setOrder(null)} />}
    </div>
  );
}
