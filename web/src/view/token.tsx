/* Asked for only when the service wants one. */
import { useState } from "preact/hooks";
import { useStore } from "./context";

export function TokenPrompt() {
  const [store, state] = useStore();
  const [value, setValue] = useState("");
  return (
    <main class="token">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          store.useToken(value.trim());
        }}
      >
        <h1>This service asks for a token</h1>
        <p id="token-help">A token for reading, as the administrator gave it. It is kept for this tab only.</p>
        {state.tokenRefused && (
          <p class="badge alarm" role="alert">
            That token was not accepted.
          </p>
        )}
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          aria-describedby="token-help"
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
          autofocus
        />
        <button type="submit" disabled={!value.trim()}>
          Continue
        </button>
      </form>
    </main>
  );
}
