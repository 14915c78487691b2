/** Mistakes of a user with the real programs: one sentence and the right exit code, never a stack trace. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EXIT_CODES } from '../../../shared/process/exit-error.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const DIST = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
const COORDINATOR = join(DIST, 'coordinator/cli/everynode.js');
const AGENT = join(DIST, 'agent/everynode-agent.cjs');
const LONGEST_MS = 60_000;

const FOLDER = temporaryDirectory();
const inFolder = (name: string): string => join(FOLDER, name);
writeFileSync(inFolder('text'), 'not what it should be\n');
writeFileSync(inFolder('broken.yaml'), 'foo: [\n');
writeFileSync(inFolder('unknown.yaml'), 'nonsense: 1\n');
mkdirSync(inFolder('directory'));
mkdirSync(inFolder('damaged'));
writeFileSync(inFolder('damaged/identity.json'), '{"server":');

const DATA = ['--data', inFolder('data'), '--port', '0', '--host', '127.0.0.1'];
const NODE = ['--runtime', 'hollow', '--server', 'https://127.0.0.1:1', '--data', inFolder('agent')];
const { usage, environment, data, refused } = EXIT_CODES;

/** The program, its arguments, the permitted exit codes, and the required text. */
const MISTAKES: readonly [string, readonly string[], readonly number[], RegExp][] = [
  [COORDINATOR, ['nonsense'], [usage], /nonsense/],
  [COORDINATOR, ['up', '--nonsense'], [usage], /--nonsense/],
  [COORDINATOR, ['up', '--port', 'abc'], [usage], /--port/],
  [COORDINATOR, ['coordinator', '--config', inFolder('none.yaml')], [usage], /none\.yaml/],
  [COORDINATOR, ['coordinator', '--config', inFolder('broken.yaml')], [usage], /broken\.yaml/],
  [COORDINATOR, ['coordinator', '--config', inFolder('unknown.yaml')], [usage], /nonsense/],
  [COORDINATOR, ['coordinator', '--config', inFolder('directory')], [usage], /directory/],
  [COORDINATOR, ['coordinator', '--data', inFolder('text'), '--port', '0'], [environment, data], /text/],
  [
    COORDINATOR,
    ['coordinator', ...DATA, '--host', 'no-such-host.invalid'],
    [usage, environment],
    /no-such-host/,
  ],
  [COORDINATOR, ['coordinator', ...DATA, '--tls-cert-file', inFolder('text')], [usage], /--tls/],
  [COORDINATOR, ['restore', inFolder('text'), '--data', inFolder('restored')], [usage, data], /text/],
  [COORDINATOR, ['token', 'list', '--data', inFolder('none')], [usage, environment, data], /none/],
  [AGENT, ['--nonsense'], [usage], /--nonsense/],
  [AGENT, ['--config', inFolder('broken.yaml')], [usage], /broken\.yaml/],
  [AGENT, [...NODE, '--server', 'nonsense'], [usage, refused], /https:\/\/HOST:PORT/],
  [AGENT, [...NODE, '--policy', inFolder('text')], [usage, environment, data], /text/],
  [AGENT, [...NODE, '--data', inFolder('text')], [environment, data], /text/],
  [AGENT, [...NODE, '--data', inFolder('damaged')], [environment, data, usage, refused], /damaged|--token/],
  [AGENT, ['remove-containers', '--data', inFolder('text')], [environment, data], /text/],
];

function run(program: string, args: readonly string[]): Promise<{ code: unknown; stderr: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [program, ...args], { cwd: FOLDER, timeout: LONGEST_MS }, (error, _, stderr) =>
      done({ code: error?.code ?? 0, stderr }),
    );
  });
}

for (const [program, args, codes, named] of MISTAKES) {
  const name = program === AGENT ? 'everynode-agent' : 'everynode';
  test(`${name} ${args.join(' ').replaceAll(FOLDER, 'DIR')} ends with one sentence`, async () => {
    const { code, stderr } = await run(program, args);
    const lines = stderr.trimEnd().split('\n');
    const sentence = lines.filter((line) => !line.startsWith('{"level":"info"'));
    assert.equal(sentence.length, 1, stderr);
    assert.match(sentence[0] ?? '', named);
    assert.ok(codes.includes(Number(code)), `exit code ${code}: ${stderr}`);
  });
}
