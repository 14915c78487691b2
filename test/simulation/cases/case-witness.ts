/** Proof that a named case still reaches the events that it was written for. */
import assert from 'node:assert/strict';
import type { HistoryOutcome } from '../runs/run-history.js';

/** An event that must not occur between its neighbours in the list. */
export interface Absent {
  readonly absent: RegExp;
}

/**
 * The decisive log lines of a case, in order. A group `(?<old>\S+)` names a Pod. In later patterns, `<old>` means the
 * text of that group.
 */
export type Witness = readonly (RegExp | Absent)[];

/** Returns a test that runs a case and fails if no history of it shows the events of the witness in order. */
export function withWitness(
  witness: Witness,
  run: () => Promise<readonly HistoryOutcome[]>,
): () => Promise<void> {
  return async () => {
    const missing = (await run()).map(({ lines }) => firstMissing(lines, witness));
    const [shortfall] = missing;
    assert.ok(
      missing.includes(undefined),
      `no history of this case reaches its decisive events; the first one lacks ${shortfall}`,
    );
  };
}

/** Returns the first pattern that the log does not satisfy, or undefined. */
function firstMissing(lines: readonly string[], witness: Witness): string | undefined {
  const names = new Map<string, string>();
  let absent: RegExp | undefined;
  let next = 0;
  for (const each of witness) {
    if ('absent' in each) {
      absent = withNames(each.absent, names);
      continue;
    }
    const pattern = withNames(each, names);
    const at = lines.findIndex((line, index) => index >= next && pattern.test(line));
    if (at < 0) return `${pattern}`;
    const excluded = absent;
    if (excluded && lines.slice(next, at).some((line) => excluded.test(line)))
      return `absence of ${excluded}`;
    for (const [name, text] of Object.entries(pattern.exec(lines[at] ?? '')?.groups ?? {}))
      names.set(name, text);
    absent = undefined;
    next = at + 1;
  }
  return undefined;
}

function withNames({ source }: RegExp, names: ReadonlyMap<string, string>): RegExp {
  return new RegExp(
    source.replaceAll(/(?<!\?)<(\w+)>/g, (_, name: string) => names.get(name) ?? `<${name}>`),
  );
}
