/* Runs a question when poked: one at a time, at most every `pace_ms`, never forgetting the last poke. */
export class Paced {
  private running = false;
  private wanted = false;
  private last_ms = -Infinity;
  private timer: number | undefined;

  constructor(
    private readonly ask: () => Promise<void>,
    private readonly pace_ms: number,
    private readonly failed: (error: unknown) => void,
  ) {}

  poke(): void {
    this.wanted = true;
    if (this.running) return;
    this.running = true;
    this.timer = window.setTimeout(() => void this.go(), Math.max(0, this.last_ms + this.pace_ms - performance.now()));
  }

  /* At once: what is shown is another thing now. */
  hurry(): void {
    this.last_ms = -Infinity;
    if (this.running && this.timer !== undefined) {
      clearTimeout(this.timer);
      this.timer = undefined;
      void this.go();
    } else this.poke();
  }

  private async go(): Promise<void> {
    this.timer = undefined;
    this.wanted = false;
    this.last_ms = performance.now();
    try {
      await this.ask();
    } catch (error) {
      this.failed(error);
    }
    this.running = false;
    if (this.wanted) this.poke();
  }
}
