/**
 * An agent without a link, in a process of its own that a test can kill: Pod workers over a real engine. The test acts
 * as its coordinator, over the channel of `fork`. Arguments: SOCKET DATA-DIR.
 */
import { basename } from 'node:path';
import { type AssignedPod, afterAssign, afterUnassign } from '../../../agent/decisions/pods/assigned-pod.js';
import { JobRuns } from '../../../agent/desired/job-runs.js';
import { ImagePuller } from '../../../agent/images/image-puller.js';
import { RegistrySettings } from '../../../agent/images/registry-settings.js';
import { FolderPodFiles } from '../../../agent/pods/pod-files.js';
import { PodWorkers } from '../../../agent/pods/pod-workers.js';
import { watchRuntimeEvents } from '../../../agent/pods/runtime-event-watch.js';
import { ContainerProbeHandlers } from '../../../agent/probes/probe-handlers.js';
import { DockerEngine } from '../../../agent/runtime/docker/docker-engine.js';
import { askEngine } from '../../../agent/runtime/docker/find-engine.js';
import { engineProcesses } from '../../../agent/runtime/engine-processes.js';
import { HostVolumes } from '../../../agent/volumes/host-volumes.js';
import type { ConfigMap, Secret } from '../../../shared/kube/objects/config-types.js';
import type { ConfigReference } from '../../../shared/kube/pods/config-reference.js';
import type { Pod, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { WHOLE_HOST } from '../pods/pod-views.js';

/** From the test: a new or changed Pod, or the uid of a removed one. */
export type ToAgent = { set: Pod } | { gone: string };
/** Messages to the test. */
export type FromAgent =
  | { kind: 'ready' }
  | { kind: 'status'; uid: string; status: PodStatus }
  | { kind: 'removed'; uid: string };

/** Returns the only ConfigMap or the only Secret, which every namespace of this host has. */
function givenConfig(
  dataDir: string,
  { kind, name, namespace }: ConfigReference,
): ConfigMap | Secret | undefined {
  if (name !== 'given') return undefined;
  const value = kind === 'Secret' ? Buffer.from(secretTextOf(dataDir)).toString('base64') : 'text';
  return { apiVersion: 'v1', kind, metadata: { name, namespace }, data: { key: value } };
}

/**
 * Returns the value in the Secret `given`. It differs between agents: a search for it in the memory of the host does not
 * find the files of another run, such as one that was killed before it could clean up.
 */
export function secretTextOf(dataDir: string): string {
  return `correct-horse-${basename(dataDir)}`;
}

export const OWNER = { clusterUID: 'engine-agent', nodeName: 'host-1' };

async function main(socketPath: string, dataDir: string): Promise<void> {
  const driver = new DockerEngine(await askEngine({ socketPath }), OWNER);
  const held = new Map<string, AssignedPod>();
  const tell = (message: FromAgent): void => void process.send?.(message);
  const source = {
    get: (uid: string) => held.get(uid),
    all: () => held.values(),
    terminate: () => undefined,
    terminateDurably: async () => undefined,
    forget: ({ uid }: AssignedPod) => void held.delete(uid),
    markContainersRemoved: () => undefined,
    markLocked: () => systemClock.now(),
    markRevertCleared: async () => undefined,
  };
  const workers = new PodWorkers(source, {
    driver,
    images: new ImagePuller({
      driver,
      clock: systemClock,
      registries: new RegistrySettings(undefined),
      maxParallelPulls: 3,
    }),
    volumes: new HostVolumes(dataDir, () => engineProcesses({ socketPath })),
    findConfig: (reference) => givenConfig(dataDir, reference),
    handlers: new ContainerProbeHandlers(driver, systemClock),
    files: new FolderPodFiles(dataDir),
    reports: {
      putPod: ({ uid, status }) => tell({ kind: 'status', uid, status }),
      putRemoved: ({ uid }) => tell({ kind: 'removed', uid }),
      putEvent: () => undefined,
      putUnknownUids: () => undefined,
      probed: () => undefined,
    },
    clock: systemClock,
    wallClock: systemClock,
    coordinatorNow: () => undefined,
    askUpdateLock: async () => undefined,
    jobRuns: JobRuns.inMemory(systemClock, silentLogger),
    log: silentLogger,
    facts: () => ({
      nodeName: OWNER.nodeName,
      hostIP: '127.0.0.1',
      allocatable: { cpu: '2', memory: '1Gi' },
      engine: 'docker',
      bootMark: 'boot-1',
      engineUpSince: 0,
      resolvers: {
        host: { nameservers: ['192.0.2.53'], searches: ['host.example'], options: ['ndots:1'] },
        clusterDns: { state: 'off' },
      },
      isolation: { ...WHOLE_HOST, leastOomScore: 0 },
    }),
  });
  process.on('message', (message: ToAgent) => {
    const uid = 'set' in message ? (message.set.metadata.uid ?? '') : message.gone;
    const known = held.get(uid);
    if ('set' in message) {
      const given = { uid, digest: JSON.stringify(message.set), pod: message.set };
      held.set(uid, afterAssign(known, given, systemClock.now()));
      workers.update([uid], []);
    } else {
      if (known) held.set(uid, afterUnassign(known, systemClock.now()));
      workers.update([], [uid]);
    }
  });
  workers.start();
  // Reports readiness after the first inspection of the engine.
  const onLooked = (): void => tell({ kind: 'ready' });
  watchRuntimeEvents(driver, [workers.onRuntimeEvent.bind(workers), onLooked], systemClock, silentLogger);
}

// The test imports this file for its types, and `fork` runs it.
const [, program, socketPath, dataDir] = process.argv;
if (program?.endsWith('engine-agent.js') && socketPath && dataDir) await main(socketPath, dataDir);
