/**
 * Runs the unit tests, or the unit and component tests of what a change touches.
 *   npm run test:unit -- [PATH …]     PATH: a capability (`rollouts`), a file or a folder
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Argument, InvalidArgumentError } from 'commander';
import { npmScript, parseScriptArguments } from './harness/processes/npm-script.js';
import { COMPILED_TESTS, relatedTests } from './harness/processes/related-tests.js';

function readPath(path: string, before: readonly string[] = []): string[] {
  const tests = relatedTests(path);
  if (tests === undefined) throw new InvalidArgumentError('It is not a capability, a file or a folder.');
  if (tests.length === 0) throw new InvalidArgumentError('It has no unit and component tests.');
  return [...new Set([...before, ...tests])];
}

const script = npmScript(
  'test:unit',
  'Runs the unit tests. With PATH, runs the unit and component tests of that path instead.',
).addArgument(
  new Argument('[path...]', 'capabilities such as rollouts, source or test files, or folders')
    .argParser(readPath)
    .default([], 'all unit tests'),
);
const {
  words: [tests],
} = await parseScriptArguments<object, [string[]]>(script);
const { status } = spawnSync(
  process.execPath,
  [join(COMPILED_TESTS, 'run.js'), ...(tests.length > 0 ? tests : ['unit'])],
  {
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
