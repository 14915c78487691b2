/** Dependencies of a Pod's worker. */
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { ResourceList } from '../../shared/kube/pods/pod-types.js';
import type { PodReport, RemovedPod, ReportedEvent } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { HostIsolation } from '../decisions/admission/host-isolation.js';
import type { FindConfig } from '../decisions/container-spec/config-lookup.js';
import type { ResolverSources } from '../decisions/container-spec/dns-resolver.js';
import type { Pressure } from '../decisions/eviction/eviction-thresholds.js';
import type { ActiveUpdateLock } from '../decisions/handovers/handover-step.js';
import type { AssignedPod } from '../decisions/pods/assigned-pod.js';
import type { JobRunState, PodTermination } from '../decisions/pods/pod-view.js';
import type { ProbeKind, ProbeResult } from '../decisions/probes/probe-state.js';
import type { ImagePuller } from '../images/image-puller.js';
import type { ProbeHandlers } from '../probes/probe-handlers.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';
import type { HostVolumes } from '../volumes/host-volumes.js';
import type { PodFiles } from './pod-files.js';
import type { PodTokenCache } from './steps/pod-token-cache.js';

/** A result of a probe of a container. */
export interface ProbedContainer {
  namespace: string;
  pod: string;
  podUid: string;
  container: string;
  kind: ProbeKind;
  result: ProbeResult['kind'];
}

/** Receives the workers' reports; implemented over the link's outbox. */
export interface PodReports {
  /** `isRemovalNear`: the report may wait a moment for `putRemoved`. */
  putPod(report: PodReport, isRemovalNear?: boolean): void;
  putRemoved(pod: RemovedPod): void;
  putEvent(event: ReportedEvent): void;
  /** Counts a result of a probe. */
  probed(probe: ProbedContainer): void;
  /** Reports uids of Pods that only the engine knows. */
  putUnknownUids(uids: readonly string[]): void;
}

/** Source of the assigned Pods; implemented over the desired cache. */
export interface PodSource {
  get(uid: string): AssignedPod | undefined;
  all(): Iterable<AssignedPod>;
  /** Ends the Pod by the host's own decision. Returns its new state; undefined if it is not assigned. */
  terminate(uid: string, end: PodTermination): AssignedPod | undefined;
  /**
   * Ends the Pod like `terminate`, but only once this is on disk. Resolves with undefined if the Pod was changed
   * meanwhile or stops already. Rejects if the write fails; then nothing has changed.
   */
  terminateDurably(uid: string, end: PodTermination): Promise<AssignedPod | undefined>;
  /**
   * Drops a Pod that the hub unassigned and whose containers are gone. `hasContainers` names the Pods that have already
   * started.
   */
  forget(assigned: AssignedPod, hasContainers: (uid: string) => boolean): void;
  /** Records that the containers of a stopping Pod are gone, which lets waiting Pods start. */
  markContainersRemoved(uid: string, hasContainers: (uid: string) => boolean): void;
  /** Records that an update lock delays the start of the Pod. Returns since when, by the host's monotonic clock. */
  markLocked(uid: string): number;
  /** Records that a reverting Pod's containers are gone. Resolves with the Pod to run now, once it is on disk. */
  markRevertCleared(uid: string): Promise<AssignedPod | undefined>;
}

/** Current facts of the host that containers may see. */
export interface HostFacts {
  nodeName: Node['metadata']['name'];
  /** Absent while the host has no address. */
  hostIP?: string;
  allocatable: ResourceList;
  /** Scheme of container ids: `docker`, `podman`, `hollow`. */
  engine: string;
  /** Identifies this boot of the host. */
  bootMark: string;
  /** Isolation features that the host and its engine support and allow. */
  isolation: HostIsolation;
  /** Pressure conditions that are True; absent: none. */
  pressures?: readonly Pressure[];
  resolvers: ResolverSources;
  /** When the engine last returned after an outage, ms since the epoch; 0: no outage since the agent's start. */
  engineUpSince: number;
}

/** Prepares and removes a Pod's volumes. */
export type PodVolumes = Pick<
  HostVolumes,
  'storageOf' | 'bytesByVolume' | 'prepare' | 'refresh' | 'mountsOf' | 'hasMounts' | 'remove' | 'sweep'
>;

export interface PodWorkerDeps {
  driver: RuntimeDriver;
  images: ImagePuller;
  volumes: PodVolumes;
  /** Finds ConfigMaps and Secrets that the hub sent to this host. */
  findConfig: FindConfig;
  /** Absent on simulated hosts. */
  tokens?: PodTokenCache;
  /** Returns the address of the API as Pods reach it. */
  apiServer?: () => URL;
  handlers: ProbeHandlers;
  files: PodFiles;
  reports: PodReports;
  clock: Clock;
  /** The host's wall clock, which may jump. */
  wallClock: Pick<Clock, 'now'>;
  /** Returns the coordinator's time; undefined if none was received since the host booted. */
  coordinatorNow(): number | undefined;
  /** Queries the host's update lock. Resolves with undefined if these images of the Pod may start. */
  askUpdateLock(query: {
    namespace: string;
    pod: string;
    images: string[];
  }): Promise<ActiveUpdateLock | undefined>;
  /** What this host did for Pods of DaemonJobs. */
  jobRuns: {
    get(podUid: string): JobRunState | undefined;
    /** Resolves when the state survives a power cut. */
    set(podUid: string, state: JobRunState): Promise<void>;
    forget(podUid: string): void;
  };
  log: Logger;
  facts(): HostFacts;
}
