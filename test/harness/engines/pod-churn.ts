/** Creates and deletes Pods under random kills of the agent, and lists the remains on the host. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DockerApi } from '../../../agent/runtime/docker/docker-api.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import type { EngineFixture } from './engine-fixture.js';
import { shell } from './test-images.js';

/** Number of concurrent Pods. */
const SIDE_BY_SIDE = 4;
const MOST_KILL_PAUSE_MS = 3_000;
const LONGEST_LIFE_MS = 2_000;

/** Everything that a cycle could leave behind, by kind. */
export interface Remains {
  containers: string[];
  networks: string[];
  volumes: string[];
  mounts: string[];
  files: string[];
}

/** Returns a generator of numbers from 0 to 1 that depend on the seed only, so that a run can be repeated. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Runs `cycles` Pods from start to removal, each for a random time, while the agent is killed and started. Returns the
 * number of kills.
 */
export async function runPodChurn(
  fixture: EngineFixture,
  cycles: number,
  chance: () => number,
): Promise<number> {
  const run = Math.floor(chance() * 1e9);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < cycles) {
      // A uid is never used twice.
      const name = `cycle-${run}-${next++}`;
      fixture.assignPod(name, eventfulPod());
      await sleep(chance() * LONGEST_LIFE_MS);
      await fixture.delete(name);
    }
  };
  const stop = new AbortController();
  const killer = killAgain(fixture, chance, stop.signal);
  await Promise.all(Array.from({ length: Math.min(SIDE_BY_SIDE, cycles) }, worker));
  stop.abort();
  return killer;
}

async function killAgain(fixture: EngineFixture, chance: () => number, signal: AbortSignal): Promise<number> {
  let kills = 0;
  while (!signal.aborted) {
    await sleep(chance() * MOST_KILL_PAUSE_MS);
    await fixture.killAgent();
    await fixture.startAgent();
    kills += 1;
  }
  return kills;
}

/** A Pod with all features: sandbox, init container, sidecar, volume, hooks, probe. */
function eventfulPod(): PodSpec {
  const waits = 'trap "exit 0" TERM; while :; do busybox sleep 3600 & wait $!; done';
  const volumeMounts = [{ name: 'v', mountPath: '/v' }];
  const hook = { exec: { command: shell('busybox sleep 0.2') } };
  const container = (name: string, script: string) => ({
    name,
    image: 'app:1',
    command: shell(script),
    volumeMounts,
  });
  return {
    initContainers: [
      container('first', 'busybox sleep 0.2; echo first >/v/first'),
      { ...container('side', waits), restartPolicy: 'Always' },
    ],
    containers: [
      {
        ...container('app', waits),
        lifecycle: { postStart: hook, preStop: hook },
        readinessProbe: { exec: { command: ['/bin/busybox', 'cat', '/v/first'] }, periodSeconds: 1 },
      },
    ],
    volumes: [{ name: 'v', emptyDir: {} }],
    terminationGracePeriodSeconds: 5,
  };
}

/** Returns what is on the host now. */
export async function remainsOf(fixture: EngineFixture): Promise<Remains> {
  const api = new DockerApi({ socketPath: fixture.engine.socketPath });
  const get = <T>(path: string, query: Record<string, string> = {}): Promise<T> =>
    api.json<T>({ method: 'GET', path, query }, { fallback: 'EngineDown' });
  try {
    const containers = await get<{ Id: string }[]>('/containers/json', { all: '1' });
    const networks = await get<{ Name: string }[]>('/networks');
    const volumes = await get<{ Volumes: { Name: string }[] | null }>('/volumes');
    return {
      containers: containers.map(({ Id }) => Id),
      networks: networks.map(({ Name }) => Name).sort(),
      volumes: (volumes.Volumes ?? []).map(({ Name }) => Name),
      mounts: fixture.engine.mounts().sort(),
      files: filesBelow(join(fixture.dataDir, 'pods')),
    };
  } finally {
    api.close();
  }
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true }).map(String).sort();
  } catch {
    // No Pod has created the folder yet.
    return [];
  }
}
