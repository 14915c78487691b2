/** Which test files run when: suites in steps, and the longest files of a suite first. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the compiled tests. */
export const COMPILED_SUITES = resolve(fileURLToPath(import.meta.url), '../..');

/** Suites with files that run together, at most `files` test files at a time. */
export interface Lane {
  suites: readonly string[];
  files: number;
}

const lane = (files: number, ...suites: string[]): Lane => ({ suites, files });

/**
 * Steps run one after another; the lanes of a step run concurrently. Benchmarks need the machine to themselves. A
 * browser cancels downloads (`ERR_NETWORK_CHANGED`) when a concurrent suite creates networks.
 *
 * Files of component tests wait for half of their time, and those with engines or a kubectl for two thirds: three at once
 * keep two cores busy.
 */
export const STEPS: readonly (readonly Lane[])[] = [
  [lane(2, '.')],
  [lane(2, 'unit')],
  [lane(3, 'component')],
  [lane(2, 'simulation'), lane(1, 'console')],
  [lane(3, 'clients', 'e2e')],
  [lane(1, 'bench')],
];

/** Suites of `STEPS`. */
export const DEFAULT_SUITES: readonly string[] = STEPS.flat().flatMap(({ suites }) => suites);

/**
 * Seconds of the longest files, measured in a run of all suites. They start first: a long file that starts last would
 * run alone. The closing lines of each run (`took N s`) show what belongs here.
 */
const LONG_FILES: Record<string, number> = {};

/** Seconds of a file that is not listed. */
const TYPICAL_SECONDS = 12;

function secondsOf(file: string): number {
  return LONG_FILES[relative(COMPILED_SUITES, file).replace(/\.test\.js$/, '')] ?? TYPICAL_SECONDS;
}

export function testFiles(path: string, recurse: boolean): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .flatMap((entry) => {
      const child = join(path, entry.name);
      if (entry.isDirectory()) return recurse ? testFiles(child, true) : [];
      return entry.name.endsWith('.test.js') ? [child] : [];
    })
    .sort();
}

/** The tours share an address of the loopback device and a directory of the host, so that one runs at a time. */
function isTour(file: string): boolean {
  return relative(COMPILED_SUITES, file).startsWith('e2e/tour/');
}

/** Files that run in this order, at most `concurrency` at a time. */
export interface Queue {
  files: string[];
  concurrency: number;
}

/**
 * Returns the queues of a lane, which run concurrently. Files are sorted by their time, then by name, so that the suites
 * of a lane mix. A lane with tours runs these and its share of short files one after another, next to the rest.
 */
export function queuesOf({ suites, files }: Lane): Queue[] {
  const all = suites.flatMap((suite) => testFiles(join(COMPILED_SUITES, suite), suite !== '.'));
  all.sort((a, b) => secondsOf(b) - secondsOf(a) || (basename(a) < basename(b) ? -1 : 1));
  const tours = all.filter(isTour);
  if (tours.length === 0 || files === 1) return [{ files: all, concurrency: files }];
  const others = all.filter((file) => !isTour(file));
  const total = (list: string[]) => list.reduce((sum, file) => sum + secondsOf(file), 0);
  let missing = total(all) / files - total(tours);
  const queue = tours;
  while (missing > 0) {
    const next = others.pop();
    if (next === undefined) break;
    missing -= secondsOf(next);
    queue.push(next);
  }
  return [
    { files: queue, concurrency: 1 },
    { files: others, concurrency: files - 1 },
  ];
}

/** Resolves a name to a suite or a file, as a path relative to the suites. Returns undefined if there is neither. */
export function findTests(name: string): string | undefined {
  return [relative('.', name) || name, relative(COMPILED_SUITES, resolve(name))].find(
    (each) =>
      existsSync(join(COMPILED_SUITES, each)) && testFiles(join(COMPILED_SUITES, each), true).length > 0,
  );
}

/** The lane of a suite or file that the user named. */
function laneOf(name: string): Lane {
  if (name.endsWith('.js')) return lane(1, name);
  return lane(STEPS.flat().find(({ suites }) => suites.includes(name))?.files ?? 2, name);
}

/** Runs named files and folders of unit and component tests together, and every other name as a step of its own. */
export function namedSteps(names: readonly string[]): readonly (readonly Lane[])[] {
  const isSmall = (name: string) => /^(unit|component)\//.test(name);
  const small = names.filter(isSmall);
  const others = names.filter((name) => !isSmall(name)).map((name) => [laneOf(name)]);
  return small.length > 0 ? [...others, [lane(3, ...small)]] : others;
}
