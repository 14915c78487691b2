import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type AssignedPod, successorUidOf } from '../../../agent/decisions/pods/assigned-pod.js';
import { DesiredCache } from '../../../agent/desired/desired-cache.js';
import { durableFile } from '../../../agent/desired/durable-file.js';
import type { DesiredObject } from '../../../shared/link/messages/link-messages.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { withDirectoryEach } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';

const FLEET = { clusterUID: 'fleet', epoch: 'epoch-1' };

const handedOver = (pod: AssignedPod, replacedBy: string): AssignedPod => ({
  ...pod,
  lifecycle: { kind: 'handedOver', deadline: 1, containersRemoved: false, replacedBy },
});

function podObject(uid: string, digest = 'd1'): DesiredObject {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: uid, uid }, spec: { containers: [] } };
  return { uid, digest, object: Buffer.from(JSON.stringify(pod)) };
}

describe('desired cache', () => {
  let folder: string;
  let path: string;
  withDirectoryEach((made) => {
    folder = made;
    path = join(folder, 'desired.json');
  });
  const open = (now = 0) => DesiredCache.open(durableFile(path), new ManualClock(now), silentLogger);
  const give = (cache: DesiredCache, set: DesiredObject[], gone: string[] = [], revision = 7) =>
    cache.apply({ ...FLEET, revision, set, unassigned: gone });

  test('a new host has no desired state', async () => {
    const cache = await open();
    assert.deepEqual([cache.have(), cache.position()], [[], { revision: 0 }]);
  });

  test('applied state is present after a restart, with its position', async () => {
    await give(await open(5), [podObject('a')]);
    const cache = await open();
    assert.deepEqual(cache.have(), [['a', 'd1']]);
    assert.deepEqual(cache.position(), { ...FLEET, revision: 7 });
    assert.equal(cache.get('a')?.acceptedAt, 5);
  });

  test('state that a full disk rejected is written once there is space, without another change', async () => {
    const clock = new ManualClock(0);
    let isFull = true;
    let written: string | undefined;
    const file = {
      read: async () => written,
      write: async (text: string) => {
        if (isFull) throw new Error('ENOSPC');
        written = text;
      },
      quarantine: async (mark: string) => mark,
    };
    await assert.rejects(
      give(await DesiredCache.open(file, clock, silentLogger), [podObject('a')]),
      /ENOSPC/,
    );
    isFull = false;
    clock.advance(10_000);
    await until(() => written !== undefined);
    assert.deepEqual((await DesiredCache.open(file, clock, silentLogger)).have(), [['a', 'd1']]);
  });

  test('an action that requires a durable state waits for the write, and fails with it', async () => {
    let write: (text: string) => Promise<void> = async () => undefined;
    const file = {
      read: async () => undefined,
      write: (text: string) => write(text),
      quarantine: async (mark: string) => mark,
    };
    const cache = await DesiredCache.open(file, new ManualClock(0), silentLogger);
    await give(cache, [podObject('a')]);
    const held = cache.get('a');
    assert.ok(held);
    write = () => Promise.reject(new Error('ENOSPC'));
    await assert.rejects(cache.replaceDurably(held, handedOver(held, 'b')), /ENOSPC/);
    assert.equal(cache.get('a'), held);
    let finish = (): void => undefined;
    write = () => new Promise((resolve) => (finish = resolve));
    const replaced = cache.replaceDurably(held, handedOver(held, 'b'));
    await until(() => finish.length === 1);
    assert.equal(cache.get('a'), held);
    finish();
    write = async () => undefined;
    assert.deepEqual([await replaced, successorUidOf(cache.get('a') ?? held)], [true, 'b']);
    assert.equal(await cache.replaceDurably(held, held), false);
    assert.equal(successorUidOf(cache.get('a') ?? held), 'b');
  });

  test('a change that is written just before a pending one is not overwritten by it', async () => {
    let text = '';
    let finish: (() => void) | undefined;
    const file = {
      read: async () => undefined,
      write: async (next: string) => {
        if (!finish) await new Promise<void>((resolve) => (finish = resolve));
        text = next;
      },
      quarantine: async (mark: string) => mark,
    };
    const cache = await DesiredCache.open(file, new ManualClock(0), silentLogger);
    const first = give(cache, [podObject('a')]);
    await until(() => finish !== undefined);
    const held = cache.get('a');
    assert.ok(held);
    const second = give(cache, [podObject('b')]);
    const replaced = cache.replaceDurably(held, handedOver(held, 'c'));
    const third = give(cache, [podObject('a', 'd2')]);
    finish?.();
    assert.deepEqual(await Promise.all([first, second, third, replaced]), [
      undefined,
      undefined,
      undefined,
      false,
    ]);
    await cache.flush();
    assert.deepEqual([text.includes('d2'), text.includes('replacedBy')], [true, false]);
  });

  test('a stored object is returned byte for byte with its MAC, also after a restart', async () => {
    const seal = { epoch: 'epoch-1', revision: 7, tag: 'm' };
    const labels = { b: '1', a: '<ü>', 10: 'x', 9: 'y' };
    const metadata = { name: 'a', uid: 'a', labels };
    // Like every object that the coordinator decoded and encodes again.
    const pod = JSON.parse(
      JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } }),
    );
    const object = Buffer.from(JSON.stringify(pod));
    await give(await open(), [{ uid: 'a', digest: 'd1', object, mac: seal }]);
    assert.deepEqual((await open()).returnObject('a'), { uid: 'a', object, mac: seal });
  });

  test('terminating, unsigned and unknown objects are not returned', async () => {
    const seal = { epoch: 'epoch-1', revision: 7, tag: 'm' };
    const cache = await open();
    await give(cache, [{ ...podObject('a'), mac: seal }, podObject('b')]);
    await give(cache, [], ['a']);
    assert.deepEqual(
      ['a', 'b', 'c'].map((uid) => cache.returnObject(uid)),
      [{ uid: 'a' }, { uid: 'b' }, { uid: 'c' }],
    );
  });

  test('a change is visible before it is durable', async () => {
    const cache = await open();
    const durable = give(cache, [podObject('a')]);
    assert.equal(cache.get('a')?.pod.metadata.name, 'a');
    await durable;
  });

  test('a removed Pod is kept until its containers are removed', async () => {
    const cache = await open();
    await give(cache, [podObject('a')]);
    await give(cache, [], ['a']);
    assert.deepEqual([cache.get('a')?.lifecycle.kind, cache.have()], ['unassigned', [['a', '']]]);
    assert.equal((await open()).get('a')?.lifecycle.kind, 'unassigned');
    cache.forget('a');
    await cache.flush();
    assert.deepEqual((await open()).have(), []);
  });

  test('many simultaneous changes end with the last of them', async () => {
    const cache = await open();
    await Promise.all(['d1', 'd2', 'd3'].map((digest) => give(cache, [podObject('a', digest)])));
    assert.deepEqual((await open()).have(), [['a', 'd3']]);
  });

  test('an invalid Pod is skipped and the others are applied', async () => {
    const cache = await open();
    const broken = { uid: 'x', digest: 'd', object: Buffer.from('{') };
    const other = { uid: 'y', digest: 'd', object: Buffer.from('{"kind":"Secret","metadata":{"name":"s"}}') };
    await give(cache, [broken, other, podObject('a')]);
    assert.deepEqual(cache.have(), [['a', 'd1']]);
  });

  for (const [damage, spoil] of [
    ['a flipped byte', (text: string) => text.replace('"name":"a"', '"name":"b"')],
    ['a torn end', (text: string) => text.slice(0, -10)],
    ['nothing in it', () => ''],
    ['an unknown format', (text: string) => text.replace('"format":2', '"format":9')],
  ] as const) {
    test(`a file with ${damage} is moved aside and the state is empty`, async () => {
      await give(await open(), [podObject('a')]);
      const spoilt = spoil(readFileSync(path, 'utf8'));
      writeFileSync(path, spoilt);
      const cache = await open(99);
      assert.deepEqual([cache.have(), cache.position()], [[], { revision: 0 }]);
      assert.equal(readFileSync(`${path}.damaged-99`, 'utf8'), spoilt);
    });
  }

  test('an interrupted write keeps the old content', async () => {
    await give(await open(), [podObject('a')]);
    writeFileSync(`${path}.new`, '{"half');
    assert.deepEqual((await open()).have(), [['a', 'd1']]);
  });

  test('the cache is readable by its owner only', async () => {
    await give(await open(), [podObject('a')]);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });
});
