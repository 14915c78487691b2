/** The totals of many histories: runs, steps, events, checks and violations. */

import { addTo, type Counts, type EventCounts, emptyEventCounts, SECTIONS } from './event-counts.js';
import type { HistoryOutcome } from './run-history.js';

/** The totals as data. */
export interface TotalsReport {
  histories: number;
  simulatedHours: number;
  /** Of this process, the shortening of broken histories included. */
  cpuSeconds: number;
  wallSeconds: number;
  /** In which a thread shortened what broke; those of all threads. */
  shorteningSeconds: number;
  frames: number;
  framesLost: number;
  tallies: EventCounts;
  /** Seeds of the histories that broke. */
  broken: readonly string[];
}

const HEADINGS: Record<keyof EventCounts, string> = {
  steps: 'what people did and what failed',
  requests: "what became of people's requests",
  events: 'what happened of it',
  checks: 'how often each rule had something to judge',
};

export class Totals {
  readonly broken: string[] = [];
  histories = 0;
  readonly #tallies = emptyEventCounts();
  readonly #begun = { cpu: process.cpuUsage(), wall: performance.now() };
  #frames = 0;
  #framesLost = 0;
  #simulatedMs = 0;
  #shorteningSeconds = 0;

  /** `rules`: all that histories are held against, so that one that never judged anything shows as such. */
  constructor(rules: readonly string[]) {
    for (const rule of rules) this.#tallies.checks[rule] = 0;
  }

  add({ tallies, frames, framesLost, simulatedMs }: Omit<HistoryOutcome, 'lines'>): void {
    this.histories += 1;
    this.#frames += frames;
    this.#framesLost += framesLost;
    this.#simulatedMs += simulatedMs;
    addTo(this.#tallies, tallies);
  }

  /** Adds a seed whose history failed, with the time that shortening it took. */
  addBroken(seed: string, shorteningSeconds: number): void {
    this.broken.push(seed);
    this.#shorteningSeconds += shorteningSeconds;
  }

  progress(): string {
    return `${this.#cpuSeconds().toFixed(0)} s of CPU, ${this.broken.length} broken, ${this.histories}`;
  }

  report(): TotalsReport {
    return {
      histories: this.histories,
      simulatedHours: this.#simulatedMs / 3_600_000,
      cpuSeconds: this.#cpuSeconds(),
      wallSeconds: (performance.now() - this.#begun.wall) / 1_000,
      shorteningSeconds: this.#shorteningSeconds,
      frames: this.#frames,
      framesLost: this.#framesLost,
      tallies: this.#tallies,
      broken: this.broken,
    };
  }

  conclusion(): string {
    const report = this.report();
    const { histories, simulatedHours, cpuSeconds, wallSeconds, frames, framesLost, tallies, broken } =
      report;
    const each = (cpuSeconds / Math.max(histories, 1)).toFixed(3);
    return [
      `${histories} histories, ${simulatedHours.toFixed(0)} simulated hours`,
      `${cpuSeconds.toFixed(0)} s of CPU (${each} a history), ${wallSeconds.toFixed(0)} s by the clock`,
      ...(broken.length > 0
        ? [`${report.shorteningSeconds.toFixed(0)} s of threads to shorten what broke`]
        : []),
      `frames sent ${frames}, lost ${framesLost}`,
      ...SECTIONS.flatMap((section) => [`${HEADINGS[section]}:`, ...table(tallies[section])]),
      broken.length > 0 ? `broken: ${broken.join(' ')}` : 'nothing broken',
    ].join('\n');
  }

  #cpuSeconds(): number {
    const { user, system } = process.cpuUsage(this.#begun.cpu);
    return (user + system) / 1e6;
  }
}

/** The most frequent first. */
function table(counts: Counts): string[] {
  const rows = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  return rows.map(([kind, times]) => `${String(times).padStart(10)}  ${kind}`);
}
