/** Finds the unit and component tests of a capability, a source file, or a folder. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder `dist/test`. */
export const COMPILED_TESTS = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const COMPILED = dirname(COMPILED_TESTS);
export const PROJECT = dirname(COMPILED);
const SUITES = ['unit', 'component'];
/** Rooms whose tests have the room's name. Their folders have the names of other rooms' capabilities. */
const TESTED_AS_ONE = ['console', 'kinds'];

/** Returns the paths of test files below `dist/test`, or undefined if `path` is no capability, file or folder. */
export function relatedTests(path: string): string[] | undefined {
  const capability = testsOfCapability(path);
  if (capability.length > 0) return capability;
  const source = relative(PROJECT, resolve(path));
  if (source.startsWith('..') || !existsSync(join(PROJECT, source))) return undefined;
  const compiled = join(COMPILED, source.replace(/\.tsx?$/, '.js'));
  if (source.split(sep)[0] === 'test' && testFilesIn(compiled).length > 0) return testFilesIn(compiled);
  return [...new Set([...testsOfCapability(capabilityOf(source)), ...importersOf(compiled)])].sort();
}

function testsOfCapability(name: string): string[] {
  if (!/^[a-z-]+$/.test(name)) return [];
  return SUITES.flatMap((suite) => testFilesIn(join(COMPILED_TESTS, suite, name)));
}

/** Returns the innermost folder of a source file that has tests, or ''. */
function capabilityOf(source: string): string {
  const folders = source.split(sep).filter((name) => testsOfCapability(name).length > 0);
  return folders.find((name) => TESTED_AS_ONE.includes(name)) ?? folders.at(-1) ?? '';
}

/** Returns the tests that import the compiled file, or a file of the compiled folder, without a step between. */
function importersOf(compiled: string): string[] {
  const tests = SUITES.flatMap((suite) => testFilesIn(join(COMPILED_TESTS, suite)));
  return tests.filter((test) => importsOf(test).some((path) => `${path}/`.startsWith(`${compiled}/`)));
}

function importsOf(test: string): string[] {
  const file = join(COMPILED_TESTS, test);
  const imports = readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g);
  return [...imports].map(([, path = '']) => join(dirname(file), path));
}

function testFilesIn(path: string): string[] {
  if (!existsSync(path)) return [];
  const files = statSync(path).isFile()
    ? [path]
    : readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name));
  return files
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => relative(COMPILED_TESTS, file))
    .sort();
}
