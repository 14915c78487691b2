/** The interface of a conformance table, and the strict key checks that all adapters share. */
import { isDeepStrictEqual } from 'node:util';

/** A case as written in the file: the common keys, and all other keys that its table defines. */
export interface ConformanceCase {
  name: string;
  expected: Record<string, unknown>;
  [key: string]: unknown;
}

/** `got` is printed together with `expected` when the case failed. */
export interface Verdict {
  passed: boolean;
  got: unknown;
}

/** A table that is ready to run its cases. A case that throws has failed, with the message as its result. */
export interface OpenTable {
  run(testCase: ConformanceCase): Verdict | Promise<Verdict>;
  close(): Promise<void>;
}

/** How the cases of one file are run. */
export interface Table {
  /** Number of cases that may run concurrently. */
  concurrency: number;
  /** Starts everything that the cases need; called once a run. */
  open(): Promise<OpenTable>;
}

/** A table with pure decisions as cases: it has nothing to start or stop. */
export function decisionTable(run: (testCase: ConformanceCase) => Verdict): Table {
  return { concurrency: 1, open: async () => ({ run, close: async () => undefined }) };
}

const COMMON_KEYS = ['name', 'group', 'source', 'apiValid', 'expected', 'note'];

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Throws unless `value` is an object with no other keys than these. `where` names it in the message. */
export function requireKeys(value: unknown, allowed: readonly string[], where: string): void {
  if (!isRecord(value)) throw new Error(`${where} is no object`);
  const unknown = Object.keys(value).filter((key) => !allowed.includes(key));
  if (unknown.length > 0) throw new Error(`${where} has unknown keys: ${unknown.join(', ')}`);
}

/** Throws unless the case has only these keys besides the common ones, and expects only these things. */
export function requireCaseKeys(
  testCase: ConformanceCase,
  keys: readonly string[],
  expectations: readonly string[],
): void {
  requireKeys(testCase, [...COMMON_KEYS, ...keys], 'the case');
  requireKeys(testCase.expected, expectations, 'expected');
}

/** Throws when an enumerated value is not one of those known. */
export function requireOneOf(value: unknown, known: readonly unknown[], where: string): void {
  if (!known.includes(value)) throw new Error(`${where}: unknown value ${JSON.stringify(value)}`);
}

/** Passes if `got` has everything that `expected` states. Other values of `got` are not compared. */
export function compareStated(expected: Record<string, unknown>, got: Record<string, unknown>): Verdict {
  const passed = Object.entries(expected).every(([key, value]) => isDeepStrictEqual(got[key], value));
  return { passed, got };
}
