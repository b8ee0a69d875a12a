/* Runs a question when poked: one at a time, at most every `pace_ms`, never forgetting the last poke. */
export class Paced {
  private running = false;
  private wanted = false;
  private last_ms = -Infinity;

  constructor(
    private readonly ask: () => Promise<void>,
    private readonly pace_ms: number,
    private readonly failed: (error: unknown) => void,
  ) {}

  poke(): void {
    this.wanted = true;
    if (this.running) return;
    this.running = true;
    window.setTimeout(() => void this.go(), Math.max(0, this.last_ms + this.pace_ms - performance.now()));
  }

  private async go(): Promise<void> {
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
