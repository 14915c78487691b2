/** What a Pod's worker needs of the rest of the agent. */
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { ResourceList } from '../../shared/kube/pods/pod-types.js';
import type { PodReport, RemovedPod, ReportedEvent } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { HostIsolation } from '../decisions/admission/host-isolation.js';
import type { FindConfig } from '../decisions/container-spec/config-lookup.js';
import type { Resolver } from '../decisions/container-spec/dns-resolver.js';
import type { Pressure } from '../decisions/eviction/eviction-thresholds.js';
import type { AssignedPod } from '../decisions/pods/assigned-pod.js';
import type { PodTermination } from '../decisions/pods/pod-view.js';
import type { ImagePuller } from '../images/image-puller.js';
import type { ProbeHandlers } from '../probes/probe-handlers.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';
import type { HostVolumes } from '../volumes/host-volumes.js';
import type { PodFiles } from './pod-files.js';
import type { PodTokenCache } from './steps/pod-token-cache.js';

/** Where a worker says what it sees; the link's outbox fits it. */
export interface PodReports {
  putPod(report: PodReport): void;
  putRemoved(pod: RemovedPod): void;
  putEvent(event: ReportedEvent): void;
  /** Uids of Pods that only the engine knows. */
  putUnknownUids(uids: readonly string[]): void;
}

/** Where the Pods come from; the desired cache fits it. */
export interface PodSource {
  get(uid: string): AssignedPod | undefined;
  all(): Iterable<AssignedPod>;
  /** The host gives the Pod up; answers it as it is held from now on, undefined when it is not held. */
  terminate(uid: string, end: PodTermination): AssignedPod | undefined;
  /** The Pod's containers are gone, and the hub has let go of it. */
  forget(held: AssignedPod): void;
  /** The containers of a Pod whose place another takes are gone. */
  markContainersRemoved(uid: string): void;
  /** All is gone of a Pod that goes back; answers it as it is to run from now on, when that is on disk. */
  markRevertCleared(uid: string): Promise<AssignedPod | undefined>;
}

/** Facts of the host that a Pod is told of, as they are now. */
export interface HostFacts {
  nodeName: Node['metadata']['name'];
  /** Absent while the host has no address. */
  hostIP?: string;
  allocatable: ResourceList;
  /** Scheme of container ids: `docker`, `podman`, `hollow`. */
  engine: string;
  /** Marks this boot of the host. */
  bootMark: string;
  /** What the host and its engine can and may do for Pods. */
  isolation: HostIsolation;
  /** What the host is short of; absent = nothing. */
  pressures?: readonly Pressure[];
  /** The host's own resolver. */
  resolver: Resolver;
  /** When the engine last came back while we watched, ms since the epoch; 0 = it never went away. */
  engineUpSince: number;
}

/** Makes a Pod's volumes ready, and takes them away. */
export type PodVolumes = Pick<
  HostVolumes,
  'storageOf' | 'prepare' | 'refresh' | 'mountsOf' | 'hasMounts' | 'remove' | 'sweep'
>;

export interface PodWorkerDeps {
  driver: RuntimeDriver;
  images: ImagePuller;
  volumes: PodVolumes;
  /** The ConfigMaps and Secrets that this host was given. */
  findConfig: FindConfig;
  /** Absent where nobody gives tokens. */
  tokens?: PodTokenCache;
  /** Where Pods reach the API. */
  apiServer?: URL;
  handlers: ProbeHandlers;
  files: PodFiles;
  reports: PodReports;
  clock: Clock;
  log: Logger;
  facts(): HostFacts;
}
