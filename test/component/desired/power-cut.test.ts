/**
 * A power cut at every write of the agent's data directory, in which the disk may keep or lose unsynced data. The agent
 * must find the state that it reported as stored, or a newer one, and continue. (supervisor#2196, #1413)
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { AtRestCipher } from '../../../agent/desired/at-rest-cipher.js';
import { ConfigCache } from '../../../agent/desired/config-object-cache.js';
import { DesiredCache } from '../../../agent/desired/desired-cache.js';
import { durableFile } from '../../../agent/desired/durable-file.js';
import { loadHostKey } from '../../../agent/desired/host-key.js';
import { CoordinatorTime } from '../../../agent/handovers/coordinator-time.js';
import { readIdentity, writeIdentity } from '../../../agent/identity/identity-file.js';
import { ImageRecords } from '../../../agent/images/image-records.js';
import { FolderPodFiles } from '../../../agent/pods/pod-files.js';
import {
  cachePath,
  configDirectory,
  coordinatorTimePath,
  hostKeyPath,
} from '../../../agent/program/agent-data-directory.js';
import type { DesiredObject } from '../../../shared/link/messages/link-messages.js';
import { removePrivateFile, writePrivateFile } from '../../../shared/process/files/private-file.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { type DiskState, RecordedDisk } from '../../harness/pods/recorded-disk.js';

const FLEET = { clusterUID: 'fleet', epoch: 'epoch-1' };
const POD = 'uid-1';

/** Opens everything that an agent stores in its data directory, as at its start. */
async function openAll(directory: string) {
  const clock = new ManualClock(0);
  const boot = { bootMark: 'boot', uptimeMs: () => 0 };
  const key = await loadHostKey(hostKeyPath(directory), undefined, silentLogger);
  return {
    directory,
    identity: await readIdentity(directory),
    cache: await DesiredCache.open(durableFile(cachePath(directory)), clock, silentLogger),
    config: await ConfigCache.open(
      { directory: configDirectory(directory), cipher: new AtRestCipher(key) },
      silentLogger,
    ),
    images: await ImageRecords.open(join(directory, 'images.json')),
    heardTime: await CoordinatorTime.open(boot, durableFile(coordinatorTimePath(directory)), silentLogger),
    files: new FolderPodFiles(directory),
  };
}

type Kept = Awaited<ReturnType<typeof openAll>>;

/** The comparable state of each part, as text. */
const KNOWN: Record<string, (kept: Kept) => string> = {
  identity: ({ identity }) => identity?.clusterUID ?? identity?.node ?? 'none',
  pods: ({ cache }) => JSON.stringify([cache.position().revision, cache.have().sort()]),
  // Separate files, so one may be newer than the other.
  s1: ({ config }) => digestOf(config, 's1'),
  s2: ({ config }) => digestOf(config, 's2'),
  images: ({ images }) => [...images.all().keys()].join(),
  time: ({ heardTime }) => String(heardTime.now()),
};

function digestOf(config: ConfigCache, wanted: string): string {
  return config.have().find(([uid]) => uid === wanted)?.[1] ?? 'none';
}

function object(name: string, digest: string, kind?: 'Secret'): DesiredObject {
  const metadata = { name, namespace: 'ns', uid: name };
  const value = kind
    ? { apiVersion: 'v1', kind, metadata, data: { key: 'dGV4dA==' } }
    : { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } };
  return { uid: name, digest, object: Buffer.from(JSON.stringify(value)), ...(kind && { kind }) };
}

/** One action of an agent that is durable when it resolves. */
type Work = (kept: Kept) => Promise<unknown>;

const give = (revision: number, set: DesiredObject[], gone: string[] = []): Work => {
  return ({ cache }) => cache.apply({ ...FLEET, revision, set, unassigned: gone });
};
const giveSecrets = (set: DesiredObject[], unassigned: string[] = []): Work => {
  return ({ config }) => config.apply({ set, unassigned }).durable;
};

/** A short life of an agent: it joins, receives objects and changes, and removes objects. */
const LIFE: readonly Work[] = [
  ({ directory }) => writeIdentity(directory, { node: 'host-1', ca: 'pem', key: 'key' }),
  ({ directory }) => writeIdentity(directory, { node: 'host-1', ca: 'pem', key: 'key', ...FLEET }),
  giveSecrets([object('s1', 'd1', 'Secret'), object('s2', 'd1', 'Secret')]),
  give(1, [object(POD, 'd1'), object('uid-2', 'd1')]),
  ({ images }) => images.recordPull('app:1', 5),
  async ({ files }) => files.write(POD, { c1: { postStart: { doneAt: 1 } } }),
  ({ heardTime }) => heardTime.update(1_000),
  giveSecrets([object('s1', 'd2', 'Secret')], ['s2']),
  give(2, [object(POD, 'd2')], ['uid-2']),
  async ({ files }) =>
    files.write(POD, { c1: { postStart: { doneAt: 1 } }, c2: { postStart: { doneAt: 1 } } }),
  ({ images }) => images.recordPull('app:2', 6),
  ({ images }) => images.forget(['app:1']),
  ({ heardTime }) => heardTime.update(900_000),
  give(3, [], [POD]),
];

/**
 * A state, and the range of operations in which it was valid. `until` is the operation at which it was reported as
 * stored.
 */
interface Chapter {
  known: Record<string, string>;
  begun: number;
  until: number;
}

const knownIn = (kept: Kept): Record<string, string> =>
  Object.fromEntries(Object.entries(KNOWN).map(([name, read]) => [name, read(kept)]));

async function live(directory: string, disk: RecordedDisk): Promise<Chapter[]> {
  const kept = await openAll(directory);
  const chapters: Chapter[] = [{ known: knownIn(kept), begun: 0, until: disk.deeds }];
  for (const work of LIFE) {
    const begun = disk.deeds;
    await work(kept);
    // Only the next start reads the identity.
    kept.identity = await readIdentity(directory);
    chapters.push({ known: knownIn(kept), begun, until: disk.deeds });
  }
  return chapters;
}

/** Writes a disk state into another folder. */
function layDown(state: DiskState, from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  for (const [path, bytes] of [...state].sort(([one], [other]) => one.localeCompare(other))) {
    const place = to + path.slice(from.length);
    if (bytes) writeFileSync(place, bytes, { mode: 0o600 });
    else mkdirSync(place, { recursive: true });
  }
}

describe('a power cut at every write', () => {
  test('and the agent finds the stored state, or a newer one, and accepts more', async (context) => {
    const root = mkdtempSync(join(tmpdir(), 'everynode-power-'));
    context.after(() => rmSync(root, { recursive: true, force: true }));
    const [directory, other] = [join(root, 'data'), join(root, 'after')];
    mkdirSync(directory);
    const disk = new RecordedDisk(directory);
    const chapters = await live(directory, disk).finally(() => disk.stop());
    let states = 0;
    for (let cut = 0; cut <= disk.deeds; cut += 1) {
      const mayBeLeft = disk.statesAfter(cut);
      for (const [index, state] of mayBeLeft.entries()) {
        states += 1;
        layDown(state, directory, other);
        const kept = await openAll(other);
        for (const [name, value] of Object.entries(knownIn(kept))) {
          assert.ok(mayBe(chapters, cut, name).includes(value), `after deed ${cut}: ${name} is ${value}`);
        }
        assert.deepEqual(
          readdirSync(other).filter((name) => name.includes('damaged')),
          [],
          `deed ${cut}`,
        );
        assert.ok(Object.keys(kept.files.read(POD)).length <= 2);
        if (index > 0) continue;
        await give(9, [object('uid-9', 'd9')])(kept);
        const again = await openAll(other);
        assert.ok(again.cache.get('uid-9'), `after deed ${cut} nothing more could be kept`);
      }
    }
    context.diagnostic(`${disk.deeds} deeds, ${states} states of the disk`);
    assert.ok(disk.deeds > 60 && states > disk.deeds);
  });
});

test('unsynced data may be truncated or lost, synced data is complete', async (context) => {
  const root = mkdtempSync(join(tmpdir(), 'everynode-power-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const disk = new RecordedDisk(root);
  const path = join(root, 'file');
  const texts = () => {
    const all = disk.statesAfter(disk.deeds).map((state) => state.get(path)?.toString() ?? 'gone');
    return [...new Set(all)].sort();
  };
  try {
    writeFileSync(path, 'text');
    assert.deepEqual(texts(), ['', '\0\0\0\0', 'gone', 'te', 'text'].sort());
    await writePrivateFile(path, 'other');
    assert.deepEqual(texts(), ['other']);
    rmSync(path);
    assert.deepEqual(texts(), ['gone', 'other']);
    await removePrivateFile(path);
    assert.deepEqual(texts(), ['gone']);
  } finally {
    disk.stop();
  }
});

/** Returns the last state that was reported as stored by then, and all states that were started since. */
function mayBe(chapters: readonly Chapter[], cut: number, name: string): (string | undefined)[] {
  const kept = chapters.findLastIndex(({ until }) => until <= cut);
  return chapters
    .filter(({ begun }, index) => index >= Math.max(kept, 0) && begun <= cut)
    .map(({ known }) => known[name]);
}
