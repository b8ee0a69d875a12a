/* Server-Sent Events over fetch: EventSource cannot carry a token in a header.
 *
 * The last event's id goes with every reconnection, so the service continues where the line broke;
 * `onOpen` tells the rest of the page to fetch what is not an event. Reconnects for ever, at first
 * after half a second, then slower, never slower than every eight.
 */
import { headers } from "./api";

export interface StreamHandlers {
  onOpen: () => void;
  onEvent: (kind: string, data: string) => void;
  onLost: (retry_at_ms: number) => void;
  onRefused: (status: number) => void;
}

const FIRST_MS = 500;
const SLOWEST_MS = 8000;
/* The service sends at least a comment every 15 s; a line silent for longer is dead. */
const SILENCE_MS = 40000;

export class Stream {
  private lastId = "";
  private wait_ms = FIRST_MS;
  private abort: AbortController | null = null;
  private timer: number | undefined;
  private refused = false;

  constructor(
    private readonly path: string,
    private readonly handlers: StreamHandlers,
  ) {
    window.addEventListener("online", () => this.retryNow());
  }

  start(): void {
    void this.run();
  }

  /* With a new token, or because somebody pressed the button. */
  retryNow(): void {
    this.wait_ms = FIRST_MS;
    this.abort?.abort();
    if (this.timer !== undefined || this.refused) {
      clearTimeout(this.timer);
      this.timer = undefined;
      this.refused = false;
      void this.run();
    }
  }

  private again(): void {
    this.handlers.onLost(Date.now() + this.wait_ms);
    this.timer = window.setTimeout(() => {
      this.timer = undefined;
      void this.run();
    }, this.wait_ms);
    this.wait_ms = Math.min(2 * this.wait_ms, SLOWEST_MS);
  }

  private async run(): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    let watchdog = window.setTimeout(() => abort.abort(), SILENCE_MS);
    try {
      const extra: Record<string, string> = this.lastId ? { "Last-Event-ID": this.lastId } : {};
      const response = await fetch(this.path, {
        headers: { ...headers(), ...extra, Accept: "text/event-stream" },
        cache: "no-store",
        signal: abort.signal,
      });
      if (response.status === 401 || response.status === 403) {
        this.refused = true; /* until retryNow */
        this.handlers.onRefused(response.status);
        return;
      }
      if (!response.ok || !response.body) throw new Error(response.statusText);
      this.wait_ms = FIRST_MS;
      this.handlers.onOpen();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new Parser((kind, id, data) => {
        if (id) this.lastId = id;
        this.handlers.onEvent(kind, data);
      });
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        clearTimeout(watchdog);
        watchdog = window.setTimeout(() => abort.abort(), SILENCE_MS);
        parser.feed(value);
      }
    } catch {
      /* whatever broke the line, the answer is the same: again */
    } finally {
      clearTimeout(watchdog);
    }
    this.again();
  }
}

/* The event-stream format: fields by line, an empty line ends an event. */
export class Parser {
  private rest = "";
  private kind = "";
  private id = "";
  private data: string[] = [];

  constructor(private readonly emit: (kind: string, id: string, data: string) => void) {}

  feed(chunk: string): void {
    const lines = (this.rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.line(line);
  }

  private line(line: string): void {
    if (line === "") {
      if (this.data.length) this.emit(this.kind || "message", this.id, this.data.join("\n"));
      this.kind = "";
      this.id = "";
      this.data = [];
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.data.push(value);
    else if (field === "event") this.kind = value;
    else if (field === "id") this.id = value;
  }
}
