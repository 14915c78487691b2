/**
 * Kills the agent at random times while Pods with every kind of volume start and stop: the Pods end correctly and leave
 * nothing behind.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { podFolders } from '../../../agent/volumes/pod-folders.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../basics/skip-reason.js';
import { temporaryDirectory } from '../basics/temporary-directory.js';
import { secretTextOf } from './engine-agent.js';
import { EngineFixture } from './engine-fixture.js';
import type { EngineKind } from './test-engines.js';
import { shell } from './test-images.js';

/** Start and stop of such a Pod take about this long, so the kills hit every phase. */
const LONGEST_MS = 600;

const names = ['secret', 'map', 'disk', 'memory', 'fields', 'several'];
/** A folder of the host with a file that no removal of a Pod may delete. */
const ofTheHost = temporaryDirectory();
writeFileSync(join(ofTheHost, 'file'), 'of the host');
const SPEC: PodSpec = {
  terminationGracePeriodSeconds: 2,
  containers: [
    {
      name: 'app',
      image: 'app:1',
      command: shell(
        'busybox cat /secret/key /map/key /of-the-host || exit 1; echo; echo x >/disk/x; echo x >/part/x; echo x >/memory/x; trap "exit 0" TERM; busybox sleep 3600 & wait',
      ),
      env: [{ name: 'PATH', value: '/bin' }],
      volumeMounts: [
        ...names.map((name) => ({ name, mountPath: `/${name}` })),
        { name: 'disk', mountPath: '/part', subPath: 'part' },
        { name: 'host', mountPath: '/of-the-host', subPath: 'file' },
      ],
    },
  ],
  volumes: [
    { name: 'secret', secret: { secretName: 'given' } },
    { name: 'map', configMap: { name: 'given' } },
    { name: 'disk', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory' } },
    { name: 'fields', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    { name: 'host', hostPath: { path: ofTheHost } },
    { name: 'several', projected: { sources: [{ secret: { name: 'given' } }] } },
  ],
};

/** Defines the test: `cycles` Pods one after another, each with two kills of the agent. */
export function volumesUnderKills(kind: EngineKind, cycles: number): void {
  test(`an agent on ${kind} that is killed repeatedly leaves no folder, mount or Secret of its volumes`, {
    timeout: 300_000,
  }, async (context) => {
    const fixture = await EngineFixture.open(kind);
    if (typeof fixture === 'string') return leaveOut(context, `volumes under kills on ${kind}`, fixture);
    try {
      await killedAtAnyTime(fixture, cycles);
    } finally {
      await fixture.close();
    }
  });
}

async function killedAtAnyTime(fixture: EngineFixture, cycles: number): Promise<void> {
  const { disk, memory } = podFolders(fixture.dataDir);
  const secretText = secretTextOf(fixture.dataDir);
  const killSoon = async (cycle: number): Promise<void> => {
    // Each cycle kills at another offset, spread over the whole duration.
    await sleep((LONGEST_MS * ((cycle * 7) % cycles)) / cycles);
    await fixture.killAgent();
    await fixture.startAgent();
  };
  let seen = 0;
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const pod = `pod-${cycle}`;
    fixture.assignPod(pod, SPEC);
    await killSoon(cycle);
    await fixture.untilReady(pod);
    const secret = join(memory, pod, 'volumes/files/secret/key');
    if (readFileSync(secret, 'utf8') === secretText) seen += 1;
    const gone = fixture.delete(pod);
    await killSoon(cycle);
    await gone;
    assert.deepEqual(await fixture.driver.inspectPod(pod), []);
  }
  assert.equal(seen, cycles, 'each Pod had its Secret in the meantime');
  for (const root of [disk, memory]) {
    await fixture.until(`${root} is empty`, () => !existsSync(root) || readdirSync(root).length === 0);
  }
  assert.ok(!fixture.engine.amongMounts('cat', '/proc/self/mountinfo').includes(fixture.dataDir));
  assert.equal(readFileSync(join(ofTheHost, 'file'), 'utf8'), 'of the host');
  const command = 'grep -rlF -- "$1" "$2" /dev/shm || true';
  assert.equal(
    execFileSync('sh', ['-c', command, 'sh', secretText, fixture.dataDir], { encoding: 'utf8' }),
    '',
  );
}
