/**
 * Kills the agent with SIGKILL in each step of a Pod's lifecycle: the Pod reaches the right state, runs each step once
 * and leaves nothing.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Container, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { EngineFixture } from '../../harness/engines/engine-fixture.js';
import { shell } from '../../harness/engines/test-images.js';

const HANDLES_TERM = 'trap "tell term; busybox sleep 1; tell ended; exit 0" TERM';
const WAITS = 'while :; do busybox sleep 3600 & wait $!; done';

interface KillPoint {
  step: string;
  spec: (telling: Telling) => PodSpec;
  /** The output line after which the agent is killed. */
  at: string;
  /** True if the Pod is being deleted at that time. */
  deleting?: boolean;
  /** Lines that the containers have written at the end, while the Pod runs and after its deletion. */
  running: string[];
  removed: string[];
  /** Lines that may be repeated: a hook runs at least once. */
  again?: string[];
}

type Telling = (name: string, script: string, changes?: Partial<Container>) => Container;

const app = (telling: Telling, changes: Partial<Container> = {}): Container =>
  telling('app', `${HANDLES_TERM}; tell app; ${WAITS}`, changes);
const hook = (word: string) => ({
  exec: {
    command: shell(`echo ${word} >>/told/POD; busybox sleep 1; echo ${word}-done >>/told/POD`),
  },
});

const KILL_POINTS: KillPoint[] = [
  {
    step: 'an init container runs',
    spec: (telling) => ({
      initContainers: [
        telling('first', 'tell first; busybox sleep 1; tell first-done'),
        telling('second', 'tell second'),
      ],
      containers: [app(telling)],
    }),
    at: 'first',
    running: ['first', 'first-done', 'second', 'app'],
    removed: ['term', 'ended'],
  },
  {
    step: 'a sidecar comes up',
    spec: (telling) => ({
      initContainers: [
        telling('side', `tell side; busybox sleep 1; echo >/up; ${WAITS}`, {
          restartPolicy: 'Always',
          startupProbe: {
            exec: { command: ['/bin/busybox', 'cat', '/up'] },
            periodSeconds: 1,
            failureThreshold: 60,
          },
        }),
      ],
      containers: [app(telling)],
      terminationGracePeriodSeconds: 4,
    }),
    at: 'side',
    running: ['side', 'app'],
    removed: ['term', 'ended'],
  },
  {
    step: 'a postStart hook runs',
    spec: (telling) => ({ containers: [app(telling, { lifecycle: { postStart: hook('post') } })] }),
    at: 'post',
    running: ['app', 'post', 'post-done'],
    removed: ['term', 'ended'],
    again: ['post', 'post-done'],
  },
  {
    step: 'a preStop hook runs',
    spec: (telling) => ({ containers: [app(telling, { lifecycle: { preStop: hook('pre') } })] }),
    at: 'pre',
    deleting: true,
    running: ['app'],
    removed: ['pre', 'pre-done', 'term', 'ended'],
    again: ['pre', 'pre-done'],
  },
  {
    step: 'a container stops',
    spec: (telling) => ({ containers: [app(telling)] }),
    at: 'term',
    deleting: true,
    running: ['app'],
    removed: ['term', 'ended'],
    // A repeated stop sends the signal again, and the shell may handle both.
    again: ['term', 'ended'],
  },
  {
    step: 'a sidecar waits for its turn to stop',
    spec: (telling) => ({
      initContainers: [
        telling('side', `trap "tell side-ended; exit 0" TERM; tell side; ${WAITS}`, {
          restartPolicy: 'Always',
        }),
      ],
      containers: [app(telling)],
    }),
    at: 'term',
    deleting: true,
    running: ['side', 'app'],
    removed: ['term', 'ended', 'side-ended'],
    again: ['term', 'ended'],
  },
  {
    step: 'an unhealthy container stops',
    spec: (telling) => ({
      containers: [
        app(telling, {
          livenessProbe: {
            exec: { command: shell('! busybox grep -q sick /told/POD || busybox grep -q ended /told/POD') },
            periodSeconds: 1,
            failureThreshold: 1,
          },
          lifecycle: { postStart: { exec: { command: shell('echo sick >>/told/POD') } } },
        }),
      ],
    }),
    at: 'term',
    running: ['app', 'sick', 'term', 'ended', 'app', 'sick'],
    removed: ['term', 'ended'],
    again: ['term', 'ended'],
  },
];

for (const kind of ['docker', 'podman'] as const) {
  describe(`an agent on ${kind} is killed while`, { concurrency: 1 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'everynode-told-'));
    let fixture: EngineFixture | string;
    before(async () => {
      fixture = await EngineFixture.open(kind);
    });
    after(async () => {
      if (typeof fixture !== 'string') await fixture.close();
      rmSync(folder, { recursive: true, force: true });
    });

    for (const [index, point] of KILL_POINTS.entries()) {
      test(point.step, { timeout: 120_000 }, async (context) => {
        if (typeof fixture === 'string') return leaveOut(context, `kill points on ${kind}`, fixture);
        await surviveKill(fixture, folder, `p${index}`, point);
      });
    }
  });
}

async function surviveKill(
  fixture: EngineFixture,
  folder: string,
  name: string,
  point: KillPoint,
): Promise<void> {
  const path = join(folder, name);
  const told = (): string[] => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []);
  const volumeMounts = [{ name: 'told', mountPath: '/told' }];
  const telling: Telling = (container, script, changes) => ({
    name: container,
    image: 'app:1',
    command: shell(`tell() { echo "$1" >>/told/POD; }; ${script}`),
    volumeMounts,
    ...changes,
  });
  const volumes = [{ name: 'told', hostPath: { path: folder } }];
  const spec = { ...point.spec(telling), volumes };
  fixture.assignPod(
    name,
    JSON.parse(JSON.stringify(spec).replaceAll('/told/POD', `/told/${name}`)) as PodSpec,
  );

  const { deleting = false, again = [], at } = point;
  let deleted: Promise<void> | undefined;
  if (deleting) {
    await fixture.untilReady(name);
    // A shell can be Ready before it has set its trap, and would then ignore the signal.
    await fixture.until(`${name} to write all lines before`, () => told().length >= point.running.length);
    deleted = fixture.delete(name);
  }
  await fixture.until(`${name} told ${at}`, () => told().includes(at));
  await fixture.killAgent();
  await fixture.startAgent();

  const seen = (): string[] => once(told(), again);
  if (!deleting) {
    await fixture.until(
      `${name} told all`,
      () => seen().length >= point.running.length && fixture.isReady(name),
    );
    assert.deepEqual(sorted(seen()), sorted(once(point.running, again)));
    const ran = (await fixture.running(name)).map(({ identity }) => identity.container);
    assert.equal(new Set(ran).size, ran.length, `one copy of each: ${ran}`);
    deleted = fixture.delete(name);
  }
  await deleted;
  assert.deepEqual(sorted(seen()), sorted(once([...point.running, ...point.removed], again)));
  assert.deepEqual(await fixture.driver.inspectPod(name), []);
  assert.equal(existsSync(join(fixture.dataDir, 'pods', name)), false);
}

/** Removes repeated lines that are listed in `again`. */
function once(words: readonly string[], again: readonly string[]): string[] {
  return words.filter((word, index) => !again.includes(word) || words.indexOf(word) === index);
}

function sorted(words: readonly string[]): string[] {
  return [...words].sort();
}
