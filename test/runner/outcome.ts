/** The outcome of test runs, and the lines that close it. Runs with several Nodes are closed by one summary. */
import { readFileSync, writeFileSync } from 'node:fs';

export interface Outcome {
  passed: number;
  failed: string[];
  leftOut: Set<string>;
  /** Seconds by test file, and by suites that run together. */
  seconds: Map<string, number>;
}

interface SavedOutcome {
  node: string;
  passed: number;
  failed: string[];
  leftOut: string[];
}

/** Files and suites that take at least this long are named at the end. Such files belong into `LONG_FILES`. */
const LONG_SECONDS = 45;

export function emptyOutcome(): Outcome {
  return { passed: 0, failed: [], leftOut: new Set(), seconds: new Map() };
}

/** Writes the outcome for the summary of another run, with the Node of this process. */
export function saveOutcome(file: string, { passed, failed, leftOut }: Outcome): void {
  const saved: SavedOutcome = { node: process.version, passed, failed, leftOut: [...leftOut] };
  writeFileSync(file, JSON.stringify(saved));
}

/**
 * Adds an outcome that another run has saved. Names the Node in front of each failure. A run that saved nothing or ran
 * no test is a failure: it ended early, for example because an addon did not compile.
 */
export function addOutcome(outcome: Outcome, file: string): void {
  const saved = readOutcome(file);
  if (saved === undefined) {
    outcome.failed.push(`the run that saves its outcome in ${file} ended early, see its output`);
    return;
  }
  const label = (text: string) => `Node ${saved.node.slice(1)}: ${text}`;
  outcome.passed += saved.passed;
  outcome.failed.unshift(...saved.failed.map(label));
  if (saved.passed + saved.failed.length === 0) outcome.failed.push(label('no test ran'));
  outcome.leftOut = new Set([...saved.leftOut.map(label), ...outcome.leftOut]);
}

function readOutcome(file: string): SavedOutcome | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SavedOutcome;
  } catch {
    return undefined;
  }
}

/** Returns the closing lines. The last one counts all tests: `N passed, N failed`. */
export function closingLines({ passed, failed, leftOut, seconds }: Outcome): string[] {
  const long = [...seconds].filter(([, each]) => each >= LONG_SECONDS).sort((a, b) => b[1] - a[1]);
  return [
    ...long.map(([file, each]) => `took ${Math.round(each)} s: ${file}`),
    ...failed.map((name) => `failed: ${name}`),
    ...[...leftOut].map((reason) => `left out: ${reason}`),
    `${passed} passed, ${failed.length} failed`,
  ];
}
