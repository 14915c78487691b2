/** The manifest directory: its files are read, watched, and invalid files are tolerated. */
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
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';

const manifest = (name: string, image = 'app:1') =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: app, image: "${image}"}]}\n`;

let directory: string;
let cache: DesiredCache;
let statics: StaticPods;
let mirrors: MirrorPod[];
let changes: { set: string[]; gone: string[] }[];
// The agent's timers do not keep the process alive.
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
  test('are read from the directory, YAML or JSON, without hidden files and folders', async () => {
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

  test('are not part of the desired state: a hello does not name them', async () => {
    put('a.yaml', manifest('a'));
    await start();
    assert.deepEqual(cache.have(), []);
  });

  test('follow the directory: added, changed, removed', async () => {
    put('a.yaml', manifest('a'));
    await start();
    put('b.yaml', manifest('b'));
    await until(() => names().length === 2);
    put('a.yaml', manifest('a', 'app:2'));
    await until(() => names().includes('a-host-1 app:2'));
    assert.ok(!names().includes('a-host-1 app:1'));
    rmSync(join(directory, 'b.yaml'));
    await until(() => names().length === 1);
    assert.deepEqual(changes.at(-1)?.set, []);
  });

  test('keep running while their manifest is unreadable', async () => {
    put('a.yaml', manifest('a'));
    put('b.yaml', manifest('b'));
    await start();
    put('a.yaml', 'apiVersion: v1\nkind: [');
    rmSync(join(directory, 'b.yaml'));
    await until(() => names().length === 1);
    assert.deepEqual(names(), ['a-host-1 app:1']);
    put('a.yaml', manifest('a', 'app:2'));
    await until(() => names()[0] === 'a-host-1 app:2');
  });

  test('end when their manifest was removed while the agent was away', async () => {
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

  test('do not require a directory', async () => {
    await start();
    assert.deepEqual([names(), mirrors], [[], []]);
  });
});
