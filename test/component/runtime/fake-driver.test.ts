/** The fake driver satisfies the laws of the real ones, and follows the commands of a test. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runContainerCommand } from '../../../agent/runtime/container-command.js';
import type { HollowEngineCommand } from '../../../agent/runtime/hollow/hollow-command.js';
import { HollowDriver } from '../../../agent/runtime/hollow/hollow-driver.js';
import { HollowEngine } from '../../../agent/runtime/hollow/hollow-engine.js';
import { behaviourOf } from '../../../agent/runtime/hollow/image-behaviours.js';
import { openHollowRuntime } from '../../../agent/runtime/hollow/open-hollow-runtime.js';
import type { ContainerConfig } from '../../../agent/runtime/runtime-driver.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { config } from '../../laws/driver-fixture.js';
import { driverLaws } from '../../laws/driver-laws.js';

const OWNER = { clusterUID: 'c', nodeName: 'n' };
const LAW_IMAGES = [
  { pattern: 'law:waits', log: ['ready'] },
  { pattern: 'law:stubborn', stop: { afterMs: 1e9 } },
  { pattern: 'law:prints', log: ['one', 'two', 'three'], exit: { afterMs: 5, code: 3 } },
  { pattern: 'law:unstartable', start: { error: 'exec: no such file' } },
  { pattern: 'law:greedy', exit: { afterMs: 5, code: 137, oomKilled: true } },
];

driverLaws('hollow', async () => {
  const engine = new HollowEngine({ clock: systemClock, images: LAW_IMAGES });
  const names = ['waits', 'stubborn', 'prints', 'unstartable', 'greedy'] as const;
  for (const name of names) await engine.images.pull(`law:${name}`, new AbortController().signal);
  const program = (name: (typeof names)[number]) => ({ image: `law:${name}` });
  return {
    driver: (owner) => new HollowDriver(engine, owner),
    waits: program('waits'),
    stubborn: program('stubborn'),
    prints: program('prints'),
    unstartable: program('unstartable'),
    greedy: program('greedy'),
    copies: program('waits'),
    commands: {
      prints: ['echo', 'out'],
      warns: ['warn', 'err'],
      fails: ['exit', '7'],
      copies: ['cat'],
      sizes: ['size'],
      waits: ['sleep', '3600'],
      floods: ['zeros', '1000000'],
      missing: ['no-such-program'],
    },
    reportsOutOfMemory: true,
    missingImage: 'foo:non-existent',
    restart: async () => {
      engine.command({ command: 'engine-down', message: 'the engine is gone' });
      await new Promise(setImmediate);
      engine.command({ command: 'engine-up' });
    },
    close: async () => undefined,
  };
});

async function running(image: string, clock = new ManualClock(1000)) {
  const engine = new HollowEngine({ clock, images: [{ pattern: 'slow:*', ready: { afterMs: 500 } }] });
  const driver = new HollowDriver(engine, OWNER);
  await driver.pull({ image, signal: new AbortController().signal });
  await driver.start(await driver.create(config('p', { image })));
  const look = async () => (await driver.inspectPod('p'))[0];
  return { engine, driver, clock, look };
}

test('app:N is ready at once, app:broken never, foo:non-existent cannot be pulled', async () => {
  assert.equal((await (await running('app:1')).look())?.ready, true);
  assert.equal((await (await running('app:broken')).look())?.ready, false);
  await assert.rejects(running('foo:non-existent'), { reason: 'ErrImagePull' });
});

test('the first matching row overrides the defaults', () => {
  const table = [{ pattern: 'app:bro*', ready: { afterMs: 1 } }];
  assert.deepEqual(behaviourOf('app:broken', table), table[0]);
  assert.equal(behaviourOf('app:broken', []).ready, 'never');
  assert.deepEqual(behaviourOf('app.1:2', [{ pattern: 'app:1*' }]), {});
});

test("a command's result is set by the test, else by the image", async () => {
  let healthy = true;
  const engine = new HollowEngine({
    clock: systemClock,
    images: [{ pattern: 'app:*', exec: { 'check disk': { exitCode: 3, output: 'full' } } }],
    outcomeOf: (_container, [name]) => (name === 'probe' ? { exitCode: healthy ? 0 : 1 } : undefined),
  });
  const driver = new HollowDriver(engine, OWNER);
  await driver.pull({ image: 'app:1', signal: new AbortController().signal });
  const id = await driver.create(config('p', { image: 'app:1' }));
  await driver.start(id);
  const run = (...command: string[]) => runContainerCommand(driver, id, command, 1000, systemClock);
  assert.deepEqual(await run('check', 'disk'), { kind: 'ended', exitCode: 3, output: Buffer.from('full') });
  assert.deepEqual(await run('probe'), { kind: 'ended', exitCode: 0, output: Buffer.alloc(0) });
  healthy = false;
  assert.deepEqual(await run('probe'), { kind: 'ended', exitCode: 1, output: Buffer.alloc(0) });
});

test('an image with a delay becomes ready after it', async () => {
  const { clock, look } = await running('slow:1');
  clock.advance(499);
  assert.equal((await look())?.ready, false);
  clock.advance(1);
  assert.equal((await look())?.ready, true);
});

test('ready and unready also apply to containers that are created later', async () => {
  const { engine, driver } = await running('app:1');
  engine.command({ command: 'unready', podUid: 'later' });
  await driver.start(await driver.create(config('later', { image: 'app:1' })));
  assert.equal((await driver.inspectPod('later'))[0]?.ready, false);
});

test('exit ends the running container with its code', async () => {
  const { engine, look } = await running('app:1');
  assert.equal(engine.command({ command: 'exit', podUid: 'p', code: 7 }), 1);
  const container = await look();
  assert.deepEqual([container?.state, container?.exitCode, container?.ready], ['exited', 7, false]);
});

test('fail and succeed set the phase of the Pod', async () => {
  const { engine, look } = await running('app:1');
  engine.command({ command: 'fail', podUid: 'p' });
  assert.equal((await look())?.podPhase, 'Failed');
  engine.command({ command: 'succeed', podUid: 'p' });
  assert.equal((await look())?.podPhase, 'Succeeded');
});

const COMPLETES = { runsToCompletion: true } as const;
const RUNS = { state: 'running', exitCode: undefined };
const ENDINGS: [what: string, image: string, change: Partial<ContainerConfig>, afterASecond: object][] = [
  ['a container that runs to completion ends with 0', 'app:1', COMPLETES, { state: 'exited', exitCode: 0 }],
  ['one whose image fails has its exit code', 'fails:1', COMPLETES, { state: 'exited', exitCode: 3 }],
  ['one whose image never exits runs on', 'server:1', COMPLETES, RUNS],
  ['an interactive one waits for its input', 'app:1', { ...COMPLETES, stdin: true }, RUNS],
  ['another container runs on', 'app:1', {}, RUNS],
];
for (const [what, image, change, afterASecond] of ENDINGS) {
  test(`after a second, ${what}`, async () => {
    const clock = new ManualClock(1000);
    const images = [
      { pattern: 'fails:*', exit: { afterMs: 10, code: 3 } },
      { pattern: 'server:*', exit: 'never' as const },
    ];
    const driver = new HollowDriver(new HollowEngine({ clock, images }), OWNER);
    await driver.pull({ image, signal: new AbortController().signal });
    await driver.start(await driver.create(config('p', { image }, change)));
    clock.advance(999);
    assert.equal((await driver.list())[0]?.state, image === 'fails:1' ? 'exited' : 'running');
    clock.advance(1);
    const [observed] = await driver.list();
    assert.deepEqual({ state: observed?.state, exitCode: observed?.exitCode }, afterASecond);
  });
}

test('an image has a numeric user that is not root', async () => {
  const { driver } = await running('app:1');
  assert.match((await driver.findImage('app:1'))?.user ?? '', /^[1-9]\d*$/);
});

test('containers and commands survive the process that created them', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-fake-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const stateFile = join(folder, 'state.json');
  const first = new HollowDriver(new HollowEngine({ clock: new ManualClock(1000), stateFile }), OWNER);
  await first.pull({ image: 'app:1', signal: new AbortController().signal });
  await first.start(await first.create(config('p', { image: 'app:1' })));
  const second = new HollowDriver(new HollowEngine({ clock: new ManualClock(9000), stateFile }), OWNER);
  assert.deepEqual(await second.list(), await first.list());
  assert.ok(await second.findImage('app:1'));
});

test('a hollow agent reads commands from its socket and reports invalid ones', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-fake-'));
  const runtime = await openHollowRuntime(folder, new ManualClock());
  context.after(() => {
    runtime.close();
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'hollow', 'control.sock');
  assert.deepEqual(await send(path, { command: 'ready', podUid: 'p' }), { containers: 0 });
  assert.deepEqual(await send(path, { command: 'dance', podUid: 'p' }), {
    error: 'command: unknown "dance"',
  });
});

function send(
  path: string,
  command: HollowEngineCommand | { command: string; podUid: string },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path, () => socket.write(`${JSON.stringify(command)}\n`));
    socket.on('data', (bytes) => {
      resolve(JSON.parse(bytes.toString()));
      socket.end();
    });
    socket.on('error', reject);
  });
}
