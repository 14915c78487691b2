/** `npm run up` in a fresh clone: a missing engine is reported before packages are installed and compiled. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..');
/** What `npm run up` runs. npm itself adds nothing to it. */
const UP = ['build.mjs', '--run', 'dist/coordinator/cli/everynode.js', 'up'];

/** A clone without package.json, in which the installation of packages must fail. */
function clone(): string {
  const folder = temporaryDirectory();
  for (const name of ['build.mjs', 'bundle.mjs', 'engine-check.mjs'])
    copyFileSync(join(ROOT, name), join(folder, name));
  return folder;
}

function run(folder: string, args: readonly string[], environment: Record<string, string>) {
  // `npm` is not in this path, so that no package is fetched.
  const env = { PATH: '/nonexistent', HOME: folder, ...environment };
  return new Promise<{ code: number; stderr: string }>((done) => {
    execFile(process.execPath, args, { cwd: folder, env }, (error, _stdout, stderr) =>
      done({ code: error ? Number(error.code ?? 1) : 0, stderr }),
    );
  });
}

/** A socket that accepts connections, like an engine's. */
async function engineSocket(context: TestContext): Promise<string> {
  const path = join(temporaryDirectory(), 'engine.sock');
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((done) => server.listen(path, done));
  context.after(() => void server.close());
  return `unix://${path}`;
}

test('without an engine, up ends with code 3 and a remedy, and has installed nothing', async () => {
  const folder = clone();
  const { code, stderr } = await run(folder, UP, { DOCKER_HOST: `unix://${folder}/no.sock` });
  assert.equal(code, 3, stderr);
  assert.match(
    stderr,
    /^everynode: No container engine found \(\S+no\.sock: the socket does not exist \(start the engine\)\)\. .*--install-engine/,
  );
  assert.deepEqual(readdirSync(folder).sort(), ['build.mjs', 'bundle.mjs', 'engine-check.mjs']);
});

const STARTED: [string, string[], Record<string, string>][] = [
  ['a hollow engine', ['--runtime', 'hollow'], {}],
  ['a hollow engine of a variable', [], { EVERYNODE_RUNTIME: 'hollow' }],
  ['a settings file', ['--config', 'up.yaml'], {}],
  ['the option that installs an engine', ['--install-engine'], {}],
  ['an engine on another host', [], { DOCKER_HOST: 'tcp://192.0.2.1:2375' }],
];
for (const [what, args, environment] of STARTED) {
  test(`with ${what}, up installs the packages without a check of the engine`, async () => {
    const folder = clone();
    const nowhere = { DOCKER_HOST: `unix://${folder}/no.sock`, ...environment };
    const { stderr } = await run(folder, [...UP, ...args], nowhere);
    assert.match(stderr, /^· installing npm packages/);
  });
}

test('with an engine that listens, up installs the packages', async (context) => {
  const { stderr } = await run(clone(), UP, { DOCKER_HOST: await engineSocket(context) });
  assert.match(stderr, /^· installing npm packages/);
});

test('other commands of a clone need no engine', async () => {
  const folder = clone();
  const down = [...UP.slice(0, -1), 'down'];
  const { stderr } = await run(folder, down, { DOCKER_HOST: `unix://${folder}/no.sock` });
  assert.match(stderr, /^· installing npm packages/);
});
