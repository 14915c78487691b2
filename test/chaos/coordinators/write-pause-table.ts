/** Prints how long no write was acknowledged, by kind of fault. */
import type { CoordinatorFaultKind } from './coordinator-plan.js';
import type { CoordinatorRoundOutcome } from './coordinator-round.js';

interface Row {
  count: number;
  broken: number;
  /** Only of rounds with one fault. */
  readonly pausesMs: number[];
  readonly recoveriesMs: number[];
}

export class WritePauseTable {
  readonly #rows = new Map<CoordinatorFaultKind, Row>();
  readonly #settledMs: number[] = [];
  rounds = 0;
  faults = 0;
  writes = 0;
  violations = 0;

  add({ faults, violations, writes, writePauseMs, recoveryMs, settleMs }: CoordinatorRoundOutcome): void {
    this.rounds += 1;
    this.faults += faults.length;
    this.writes += writes;
    this.violations += violations.length;
    this.#settledMs.push(settleMs);
    for (const { kind } of faults) {
      const row = this.#rows.get(kind) ?? { count: 0, broken: 0, pausesMs: [], recoveriesMs: [] };
      this.#rows.set(kind, row);
      row.count += 1;
      if (violations.length > 0) row.broken += 1;
      else if (faults.length === 1) {
        row.pausesMs.push(writePauseMs);
        row.recoveriesMs.push(recoveryMs);
      }
    }
  }

  /**
   * One row a kind of fault. The pause is the longest time without an acknowledged write, from the fault on; the recovery
   * is the time from the end of the fault to the next one. Both as min/median/max of rounds with this fault alone.
   */
  table(): string {
    const rows = [...this.#rows].sort(([one], [other]) => one.localeCompare(other));
    return [
      `${'fault'.padEnd(22)} times broken alone  pause of writes, s   after the fault, s`,
      ...rows.map(([kind, { count, broken, pausesMs, recoveriesMs }]) =>
        [
          kind.padEnd(22),
          String(count).padStart(5),
          String(broken).padStart(6),
          String(pausesMs.length).padStart(5),
          spread(pausesMs).padStart(19),
          spread(recoveriesMs).padStart(20),
        ].join(' '),
      ),
    ].join('\n');
  }

  /** The last line of the output. */
  conclusion(seed: string): string {
    const settled = `settled after ${seconds(median(this.#settledMs))} (median)`;
    const counts = `${this.rounds} rounds, ${this.faults} faults, ${this.writes} acknowledged writes`;
    return `${counts}, ${this.violations} violations; ${settled}; seed ${seed}`;
  }
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function spread(values: readonly number[]): string {
  if (values.length === 0) return '-';
  return [Math.min(...values), median(values), Math.max(...values)]
    .map((ms) => (ms / 1_000).toFixed(1))
    .join(' / ');
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
