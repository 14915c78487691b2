/** The agent's Pod workers over any driver. The test acts as the coordinator. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  afterRevertCleared,
  effectivePod,
} from '../../../agent/decisions/handovers/assigned-pod-handover.js';
import {
  type AssignedPod,
  afterAssign,
  afterContainersRemoved,
  afterTermination,
  afterUnassign,
  isStopping,
} from '../../../agent/decisions/pods/assigned-pod.js';
import type { PodTermination } from '../../../agent/decisions/pods/pod-view.js';
import { JobRuns } from '../../../agent/desired/job-runs.js';
import { ImagePuller } from '../../../agent/images/image-puller.js';
import { RegistrySettings } from '../../../agent/images/registry-settings.js';
import { FolderPodFiles } from '../../../agent/pods/pod-files.js';
import type { HostFacts, PodSource, PodWorkerDeps } from '../../../agent/pods/pod-worker-deps.js';
import { PodWorkers } from '../../../agent/pods/pod-workers.js';
import { type RuntimeEventWatch, watchRuntimeEvents } from '../../../agent/pods/runtime-event-watch.js';
import { PodTokenCache } from '../../../agent/pods/steps/pod-token-cache.js';
import { ContainerProbeHandlers, type ProbeHandlers } from '../../../agent/probes/probe-handlers.js';
import type { ContainerOwner, RuntimeDriver, RuntimeEvent } from '../../../agent/runtime/runtime-driver.js';
import type { FindProcesses } from '../../../agent/volumes/engine-mount-namespace.js';
import { HostVolumes } from '../../../agent/volumes/host-volumes.js';
import { removeMemory } from '../../../agent/volumes/pod-folders.js';
import { NO_ENGINE } from '../../../agent/volumes/sub-path-preparation.js';
import type { ConfigMap, Secret } from '../../../shared/kube/objects/config-types.js';
import { configKey, configReferenceTo } from '../../../shared/kube/pods/config-reference.js';
import type { ContainerStatus, Pod, PodSpec, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { pause } from '../basics/wait-until.js';
import { WHOLE_HOST } from './pod-views.js';

/** Hollow engines with a clock of the test finish their work in so many turns of the event loop. */
const TURNS_WITHOUT_PAUSE = 100;
const POLL_MS = 10;

export const FIXTURE_OWNER: ContainerOwner = { clusterUID: 'cluster', nodeName: 'host-1' };

/** Returns a Pod with one container `app`, changed by `spec` and `meta`. */
export function podOf(name: string, spec: Partial<PodSpec> = {}, meta: Partial<Pod['metadata']> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, ...meta },
    spec: { containers: [{ name: 'app', image: 'app:1' }], ...spec },
  };
}

/** A host whose coordinator is the test. */
export class PodHostFixture implements PodSource {
  readonly assignedPods = new Map<string, AssignedPod>();
  /** ConfigMaps and Secrets of this host, by `configKey`. */
  readonly config = new Map<string, ConfigMap | Secret>();
  /** The ServiceAccount token for every Pod that requests one. */
  token = '';
  /** The coordinator's time. Undefined: not received since the boot. */
  coordinatorMs: number | undefined;
  /** Reason of the update lock that the host holds. */
  updateLock: string | undefined;
  readonly jobRuns: JobRuns;
  readonly statuses = new Map<string, PodStatus>();
  readonly removed: string[] = [];
  /** `reason: message`, oldest first. */
  readonly events: string[] = [];
  readonly facts: HostFacts = {
    nodeName: FIXTURE_OWNER.nodeName,
    hostIP: '10.0.0.1',
    allocatable: { cpu: '2', memory: '1Gi' },
    engine: 'hollow',
    bootMark: 'boot-1',
    engineUpSince: 0,
    resolvers: {
      host: { nameservers: ['192.0.2.53'], searches: ['host.example'], options: ['ndots:1'] },
      clusterDns: { state: 'off' },
    },
    isolation: { ...WHOLE_HOST },
  };
  readonly dataDir = mkdtempSync(join(tmpdir(), 'everynode-pods-'));
  #workers: PodWorkers;
  #volumes: HostVolumes;
  #engineWasDown = false;
  #watch: RuntimeEventWatch;

  constructor(
    readonly driver: RuntimeDriver,
    readonly clock: Clock,
    engine: string,
    readonly handlers: ProbeHandlers = new ContainerProbeHandlers(driver, clock),
    private readonly processes: FindProcesses | typeof NO_ENGINE = NO_ENGINE,
  ) {
    this.facts.engine = engine;
    this.jobRuns = JobRuns.inMemory(clock, silentLogger);
    // A test on a real engine may lack the permission to lower OOM scores.
    if (engine !== 'hollow') this.facts.isolation.leastOomScore = 0;
    this.#volumes = new HostVolumes(this.dataDir, this.processes);
    [this.#workers, this.#watch] = this.#startAgent();
  }

  get(uid: string): AssignedPod | undefined {
    const held = this.assignedPods.get(uid);
    return held && effectivePod(held);
  }

  all(): Iterable<AssignedPod> {
    return this.assignedPods.values();
  }

  terminate(uid: string, end: PodTermination): AssignedPod | undefined {
    const held = this.assignedPods.get(uid);
    if (!held) return undefined;
    const givenUp = afterTermination(held, end);
    this.assignedPods.set(uid, givenUp);
    return givenUp;
  }

  /** The error of the next writes of a preemption; undefined: they succeed. */
  writeError: Error | undefined;

  async terminateDurably(uid: string, end: PodTermination): Promise<AssignedPod | undefined> {
    await settle();
    if (this.writeError) throw this.writeError;
    const before = this.assignedPods.get(uid);
    return !before || before.terminal || isStopping(before) ? undefined : this.terminate(uid, end);
  }

  forget({ uid }: AssignedPod): void {
    this.assignedPods.delete(uid);
  }

  markContainersRemoved(uid: string): void {
    const held = this.assignedPods.get(uid);
    if (held) this.assignedPods.set(uid, afterContainersRemoved(held));
  }

  markLocked(uid: string): number {
    const held = this.assignedPods.get(uid);
    const lockedSince = held?.lockedSince ?? this.clock.now();
    if (held) this.assignedPods.set(uid, { ...held, lockedSince });
    return lockedSince;
  }

  async markRevertCleared(uid: string): Promise<AssignedPod | undefined> {
    const held = this.assignedPods.get(uid);
    if (held) this.assignedPods.set(uid, afterRevertCleared(held));
    return this.get(uid);
  }

  /** Resolves when the engine's first event has been handled. That event makes every worker inspect its Pod. */
  get firstEvent(): Promise<void> {
    return this.#watch.firstEvent;
  }

  /** Assigns this Pod, new or changed. With `manifestFile` it is static. */
  assignPod(pod: Pod, manifestFile?: string): void {
    const uid = pod.metadata.uid ?? '';
    const given = { uid, digest: JSON.stringify(pod), pod, ...(manifestFile && { manifestFile }) };
    this.assignedPods.set(uid, afterAssign(this.assignedPods.get(uid), given, this.clock.now()));
    this.#workers.update([uid], []);
  }

  /** Stores this ConfigMap or Secret, new or changed. */
  storeConfig(object: ConfigMap | Secret): void {
    const reference = configReferenceTo(object);
    this.config.set(configKey(reference), object);
    this.#workers.onConfigChanged([reference]);
  }

  /** Removes this ConfigMap or Secret. */
  removeConfig(object: ConfigMap | Secret): void {
    const reference = configReferenceTo(object);
    this.config.delete(configKey(reference));
    this.#workers.onConfigChanged([reference]);
  }

  /** Unassigns this Pod. */
  deletePod(uid: string): void {
    const held = this.assignedPods.get(uid);
    if (held) this.assignedPods.set(uid, afterUnassign(held, this.clock.now()));
    this.#workers.update([], [uid]);
  }

  /** Replaces the agent as after kill -9, with the same cache and without its memory. */
  async restartAgent(): Promise<void> {
    await this.#stopAgent();
    this.statuses.clear();
    this.#volumes = new HostVolumes(this.dataDir, this.processes);
    [this.#workers, this.#watch] = this.#startAgent();
  }

  get workers(): PodWorkers {
    return this.#workers;
  }

  remainingFiles(): string[] {
    return this.#workers.orphanedUids();
  }

  /** Resolves once `seen` returns true. At the timeout, in real time, it throws an Error with the current state. */
  async until(what: string, seen: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
    const end = Date.now() + withinMs;
    // A real engine takes seconds. Without pauses this loop would use a core, which the engine needs.
    for (let turns = 0; !(await seen()); turns += 1) {
      if (Date.now() > end) {
        throw new Error(
          `not seen: ${what}; ${JSON.stringify([...this.statuses])} ${this.events.join(' | ')}`,
        );
      }
      await (turns < TURNS_WITHOUT_PAUSE ? settle() : pause(POLL_MS));
    }
  }

  /** Returns the status of the Pod's container `app`, or of the named one. */
  container(pod: string, name = 'app'): ContainerStatus | undefined {
    return this.statuses.get(`uid-${pod}`)?.containerStatuses?.find((status) => status.name === name);
  }

  /** Returns the state of that container: `running`, or its waiting or terminated reason. */
  state(pod: string, name = 'app'): string | undefined {
    const state = this.container(pod, name)?.state;
    if (state?.running) return 'running';
    return state?.waiting?.reason ?? state?.terminated?.reason;
  }

  async close(): Promise<void> {
    await this.#stopAgent();
    await removeMemory(this.dataDir);
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  async #stopAgent(): Promise<void> {
    await this.#watch.stop();
    await this.#workers.stop();
    await this.#volumes.close();
  }

  #startAgent(): [PodWorkers, RuntimeEventWatch] {
    const host: PodWorkerDeps = {
      driver: this.driver,
      images: new ImagePuller({
        driver: this.driver,
        clock: this.clock,
        registries: new RegistrySettings(undefined),
        maxParallelPulls: 3,
      }),
      volumes: this.#volumes,
      findConfig: (reference) => this.config.get(configKey(reference)),
      tokens: new PodTokenCache(async () => ({ token: this.token }), this.clock),
      handlers: this.handlers,
      files: new FolderPodFiles(this.dataDir),
      reports: {
        putPod: ({ uid, status }) => void this.statuses.set(uid, status),
        putRemoved: ({ uid }) => void this.removed.push(uid),
        putUnknownUids: () => undefined,
        probed: () => undefined,
        putEvent: ({ reason, message }) => void this.events.push(`${reason}: ${message}`),
      },
      clock: this.clock,
      wallClock: this.clock,
      coordinatorNow: () => this.coordinatorMs,
      jobRuns: this.jobRuns,
      askUpdateLock: async () => (this.updateLock === undefined ? undefined : { reason: this.updateLock }),
      log: silentLogger,
      facts: () => this.facts,
    };
    const workers = new PodWorkers(this, host);
    workers.start();
    const listeners = [this.#noteEngine.bind(this), workers.onRuntimeEvent.bind(workers)];
    return [workers, watchRuntimeEvents(this.driver, listeners, this.clock, silentLogger)];
  }

  /** Acts like the node's watch: an engine that was down is up again from now on. */
  #noteEngine(event: RuntimeEvent): void {
    if (event.kind === 'down') this.#engineWasDown = true;
    if (event.kind !== 'resync' || !this.#engineWasDown) return;
    this.#engineWasDown = false;
    this.facts.engineUpSince = this.clock.now();
  }
}

/** Resolves after one turn of the event loop. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
