/** The manifest directory: what lies in it is held, followed, and survives what is wrong with it. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { DesiredCache } from '../../../agent/desired/desired-cache.js';
import { manifestDirectory } from '../../../agent/desired/static-pod-directory.js';
import { StaticPods } from '../../../agent/desired/static-pods.js';
import type { MirrorPod } from '../../../shared/link/messages/link-messages.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { eventually } from '../../harness/basics/eventually.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const manifest = (name: string, image = 'app:1') =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: app, image: "${image}"}]}\n`;

let directory: string;
let cache: DesiredCache;
let statics: StaticPods;
let mirrors: MirrorPod[];
let changes: { set: string[]; gone: string[] }[];
// The agent's timers keep no process alive.
const alive = setInterval(() => undefined, 1000);

beforeEach(() => {
  directory = join(temporaryDirectory(), 'manifests');
  cache = DesiredCache.inMemory(systemClock, silentLogger);
  changes = [];
  mirrors = [];
});
afterEach(async () => {
  await statics.stop();
});
test.after(() => clearInterval(alive));

async function start(): Promise<void> {
  statics = new StaticPods({
    directory: manifestDirectory(directory),
    nodeName: 'host-1',
    cache,
    onChange: (set, gone) => void changes.push({ set, gone }),
    onMirrors: (told) => {
      mirrors = told;
    },
    clock: systemClock,
    log: silentLogger,
  });
  await statics.start();
}
const put = (file: string, text: string): void => {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, file), text);
};
const names = () =>
  [...cache.all()]
    .filter(({ lifecycle }) => lifecycle.kind !== 'unassigned')
    .map(({ pod }) => `${pod.metadata.name} ${pod.spec.containers[0]?.image}`);

describe('static Pods', () => {
  test('are what the directory holds, YAML or JSON, hidden files and folders left out', async () => {
    put('b.yaml', manifest('b'));
    put(
      'a.json',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      }),
    );
    put('.hidden.yaml', manifest('hidden'));
    mkdirSync(join(directory, 'folder'));
    await start();
    assert.deepEqual(names(), ['a-host-1 i', 'b-host-1 app:1']);
    assert.equal(mirrors.length, 2);
  });

  test('are none of what the coordinator gave: a hello does not name them', async () => {
    put('a.yaml', manifest('a'));
    await start();
    assert.deepEqual(cache.have(), []);
  });

  test('follow the directory: added, changed, removed', async () => {
    put('a.yaml', manifest('a'));
    await start();
    put('b.yaml', manifest('b'));
    await eventually(() => names().length === 2);
    put('a.yaml', manifest('a', 'app:2'));
    await eventually(() => names().includes('a-host-1 app:2'));
    assert.ok(!names().includes('a-host-1 app:1'));
    rmSync(join(directory, 'b.yaml'));
    await eventually(() => names().length === 1);
    assert.deepEqual(changes.at(-1)?.set, []);
  });

  test('go on while their manifest cannot be read', async () => {
    put('a.yaml', manifest('a'));
    put('b.yaml', manifest('b'));
    await start();
    put('a.yaml', 'apiVersion: v1\nkind: [');
    rmSync(join(directory, 'b.yaml'));
    await eventually(() => names().length === 1);
    assert.deepEqual(names(), ['a-host-1 app:1']);
    put('a.yaml', manifest('a', 'app:2'));
    await eventually(() => names()[0] === 'a-host-1 app:2');
  });

  test('end when their manifest went while the agent was away', async () => {
    put('a.yaml', manifest('a'));
    put('b.yaml', manifest('b'));
    await start();
    await statics.stop();
    rmSync(join(directory, 'b.yaml'));
    changes = [];
    await start();
    assert.deepEqual(names(), ['a-host-1 app:1']);
    assert.deepEqual([changes[0]?.set, changes[0]?.gone.length], [[], 1]);
  });

  test('need no directory', async () => {
    await start();
    assert.deepEqual([names(), mirrors], [[], []]);
  });
});
