/** What many histories come to: how many ran, what was done to them, what broke. */
import type { Outcome } from './run-history.js';

export class Totals {
  /** Seeds of the histories that broke. */
  readonly broken: string[] = [];
  histories = 0;
  readonly #steps = new Map<string, number>();
  readonly #begun = process.cpuUsage();
  #frames = 0;
  #framesLost = 0;
  #simulatedMs = 0;

  add({ steps, frames, framesLost, simulatedMs }: Omit<Outcome, 'lines'>): void {
    this.histories += 1;
    this.#frames += frames;
    this.#framesLost += framesLost;
    this.#simulatedMs += simulatedMs;
    for (const [kind, count] of Object.entries(steps))
      this.#steps.set(kind, (this.#steps.get(kind) ?? 0) + count);
  }

  progress(): string {
    return `${this.#cpuSeconds()} s of CPU, ${this.broken.length} broken, ${this.histories}`;
  }

  conclusion(): string {
    const hours = (this.#simulatedMs / 3_600_000).toFixed(0);
    const steps = [...this.#steps].sort(([, a], [, b]) => b - a);
    return [
      `${this.histories} histories, ${hours} simulated hours, ${this.#cpuSeconds()} s of CPU`,
      `frames sent ${this.#frames}, lost ${this.#framesLost}; steps by kind:`,
      ...steps.map(([kind, count]) => `${String(count).padStart(8)}  ${kind}`),
      this.broken.length > 0 ? `broken: ${this.broken.join(' ')}` : 'nothing broken',
    ].join('\n');
  }

  #cpuSeconds(): string {
    const { user, system } = process.cpuUsage(this.#begun);
    return ((user + system) / 1e6).toFixed(0);
  }
}
