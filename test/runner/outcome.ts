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

const NO_TEST_RAN = 'no test ran';

/** A run without tests is a failure, whatever another run adds to its outcome. */
export function failWithoutTests(outcome: Outcome): void {
  if (outcome.passed + outcome.failed.length === 0) outcome.failed.push(NO_TEST_RAN);
}

/**
 * Adds an outcome that another run has saved. Names the Node in front of each failure. A run that saved nothing, ran no
 * test or failed without a failed test is a failure: it ended early, for example because an addon did not compile.
 */
export function addOutcome(outcome: Outcome, file: string, exitCode = 0): void {
  const saved = readOutcome(file);
  if (saved === undefined) {
    outcome.failed.push(
      `the run that saves its outcome in ${file} saved none or a damaged one, see its output`,
    );
    return;
  }
  const label = (text: string) => `Node ${saved.node.slice(1)}: ${text}`;
  outcome.passed += saved.passed;
  outcome.failed.unshift(...saved.failed.map(label));
  if (saved.passed + saved.failed.length === 0) outcome.failed.push(label(NO_TEST_RAN));
  else if (exitCode !== 0 && saved.failed.length === 0)
    outcome.failed.push(
      label(`the run ended with exit code ${exitCode} without a failed test, see its output`),
    );
  outcome.leftOut = new Set([...saved.leftOut.map(label), ...outcome.leftOut]);
}

/** Returns undefined if the file is missing, damaged or of another shape. */
function readOutcome(file: string): SavedOutcome | undefined {
  let value: Partial<Record<keyof SavedOutcome, unknown>> | null;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
  const { node, passed, failed, leftOut } = value ?? {};
  if (typeof node !== 'string' || !isCount(passed) || !isTexts(failed) || !isTexts(leftOut)) return undefined;
  return { node, passed, failed, leftOut };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
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
