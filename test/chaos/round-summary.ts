/** Prints a round as one line, and a table of all rounds by kind of fault. */
import type { FaultKind, Step } from './chaos-plan.js';
import type { RoundOutcome } from './chaos-round.js';

const LONG_REST_MS = 5_000;

/** One line with the steps of a round and its result. */
export function summarizeRound(number: number, steps: readonly Step[], outcome: RoundOutcome): string {
  const events = steps.map(({ atMs, kind, ...what }) => `+${atMs} ${kind} ${words(what)}`.trim()).join('; ');
  const end =
    outcome.violations.length > 0
      ? `BROKEN\n${outcome.violations.map((violation) => `  ${violation}`).join('\n')}`
      : `settled after ${seconds(outcome.settleMs)}${heldUp(outcome)}`;
  return `round ${number}: ${events}; ${end}`;
}

/** For a round that settled slowly: the problems that delayed it. */
function heldUp({ settleMs: restMs, blockedBy: heldUpBy }: RoundOutcome): string {
  if (restMs < LONG_REST_MS) return '';
  return heldUpBy.map(({ problem, untilMs }) => `, until ${seconds(untilMs)}: ${problem}`).join('');
}

function words(what: object): string {
  return Object.entries(what)
    .map(([name, value]) => (name === 'node' ? `host-${Number(value) + 1}` : `${name}=${value}`))
    .join(' ');
}

interface Row {
  count: number;
  broken: number;
  restsMs: number[];
}

/** The final summary. */
export class FaultTable {
  readonly #rows = new Map<FaultKind, Row>();
  readonly #restsMs: number[] = [];
  rounds = 0;
  faults = 0;
  violations = 0;

  add({ faults, settleMs: restMs, violations }: RoundOutcome): void {
    this.rounds += 1;
    this.faults += faults.length;
    this.violations += violations.length;
    this.#restsMs.push(restMs);
    for (const kind of faults) {
      const row = this.#rows.get(kind) ?? { count: 0, broken: 0, restsMs: [] };
      this.#rows.set(kind, row);
      row.count += 1;
      if (violations.length > 0) row.broken += 1;
      else row.restsMs.push(restMs);
    }
  }

  /** One row a kind of fault: how often, in how many failed rounds, and how long such rounds took to settle. */
  table(): string {
    const rows = [...this.#rows].sort(([one], [other]) => one.localeCompare(other));
    return [
      'fault              times  broken  rest, median  rest, longest',
      ...rows.map(([kind, { count, broken, restsMs }]) =>
        [
          kind.padEnd(18),
          String(count).padStart(5),
          String(broken).padStart(7),
          seconds(median(restsMs)).padStart(13),
          seconds(Math.max(0, ...restsMs)).padStart(14),
        ].join(' '),
      ),
    ].join('\n');
  }

  /** The last line of the output. */
  conclusion(seed: string): string {
    const rest = `settled after ${seconds(median(this.#restsMs))} (median)`;
    return `${this.rounds} rounds, ${this.faults} faults, ${this.violations} violations; ${rest}; seed ${seed}`;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
