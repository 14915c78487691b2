/** Builders of the inputs for decisions about a Pod. */

import type { HostIsolation } from '../../../agent/decisions/admission/host-isolation.js';
import { BACKOFF_LABEL, BOOT_LABEL } from '../../../agent/decisions/container-spec/container-labels.js';
import type { Observations, Signal } from '../../../agent/decisions/eviction/eviction-thresholds.js';
import type {
  DesiredPodState,
  PodProgress,
  PodTermination,
  PodView,
  StepFailure,
} from '../../../agent/decisions/pods/pod-view.js';
import { type EngineState, type ObservedContainer, SANDBOX } from '../../../agent/runtime/runtime-driver.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';

const NOW = 1_000_000;

export const READY_IMAGES = { app: { kind: 'ready' } } as const;

interface AttemptChanges extends Partial<Omit<ObservedContainer, 'identity' | 'labels'>> {
  name?: string;
  attempt?: number;
  backoffMs?: number;
  boot?: string;
  state?: EngineState;
}

/** Returns a container of the Pod, by default the running first attempt of `app`, started at 1,000 s. */
export function attempt(changes: AttemptChanges): ObservedContainer {
  const { name = 'app', attempt: number = 0, backoffMs = 0, boot = 'boot-1', ...rest } = changes;
  return {
    id: `${name || 'sandbox'}-${number}`,
    identity: { podUid: 'uid', podNamespace: 'default', podName: 'pod', container: name, attempt: number },
    state: 'running',
    image: `docker.io/library/${name}:1`,
    imageID: `sha256:${name}`,
    createdAt: NOW,
    startedAt: NOW,
    oomKilled: false,
    labels: { [BACKOFF_LABEL]: String(backoffMs), [BOOT_LABEL]: boot },
    ...rest,
  };
}

export function sandbox(changes: AttemptChanges): ObservedContainer {
  return attempt({ name: SANDBOX, ...changes });
}

export function failure(changes: Partial<StepFailure>): StepFailure {
  return {
    reason: 'CreateContainerError',
    message: 'no',
    failedAt: NOW,
    retryAt: NOW,
    attempt: 0,
    ...changes,
  };
}

interface ViewChanges extends Partial<PodProgress> {
  spec?: Partial<PodSpec>;
  wish?: DesiredPodState;
  containers?: ObservedContainer[];
  now?: number;
  acceptedAt?: number;
  takenPorts?: PodView['takenPorts'];
  engineUpSince?: number;
  waitsForPredecessor?: boolean;
  isolation?: Partial<HostIsolation>;
  givenUp?: PodTermination;
}

/** A host without restrictions, with the default settings. */
export const WHOLE_HOST: HostIsolation = {
  memoryBytes: 8 * 1024 ** 3,
  leastOomScore: -1000,
  missingCapabilities: [],
  appArmor: true,
  seccomp: true,
  seccompRoot: '/var/lib/everynode-agent/seccomp',
  allowedUnsafeSysctls: [],
};

/** Returns a view of a Pod with one container `app` and its volumes ready, at 1,000 s. */
export function viewOf(changes: ViewChanges): PodView {
  const {
    spec,
    wish,
    containers,
    now,
    acceptedAt,
    takenPorts,
    engineUpSince,
    waitsForPredecessor,
    isolation,
    givenUp,
    ...progress
  } = changes;
  return {
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'pod', namespace: 'default', uid: 'uid' },
      spec: { containers: [{ name: 'app', image: 'app:1' }], ...spec },
    },
    desired: wish ?? { kind: 'run' },
    containers: containers ?? [],
    progress: {
      volumes: { kind: 'ready' },
      images: {},
      stopping: {},
      endBy: {},
      failures: {},
      localStates: {},
      messages: {},
      ...progress,
    },
    now: now ?? NOW,
    acceptedAt: acceptedAt ?? NOW,
    takenPorts: takenPorts ?? [],
    bootMark: 'boot-1',
    engineUpSince: engineUpSince ?? 0,
    waitsForPredecessor: waitsForPredecessor ?? false,
    isolation: { ...WHOLE_HOST, ...isolation },
    ...(givenUp && { terminal: givenUp }),
  };
}

/** Observations of a host with the given amounts left. All signals have the same capacity. */
export const observedLeft = (signals: Partial<Record<Signal, number>>, capacity = 1000): Observations =>
  new Map(Object.entries(signals).map(([signal, available]) => [signal as Signal, { available, capacity }]));
