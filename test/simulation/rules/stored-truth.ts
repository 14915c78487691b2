/** The decoded content of the store and its past: the observer's view for the invariants. */

import type { Change } from '../../../coordinator/store/store.js';
import type { DaemonJob, DaemonJobResult } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { controllerOf, type KubeObject } from '../../../shared/kube/objects/meta.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';

/** A Pod as it entered the store. */
export interface PodRecord {
  readonly uid: string;
  readonly name: string;
  /** Uid of the DaemonSet that made it. */
  readonly controllerUid: string | undefined;
  readonly createdAtMs: number;
  /** Set when it left the store. */
  deletedAtMs?: number;
}

/** One committed change of a kind that invariants look at. */
export type StoredChange =
  | { kind: 'Pod'; previous?: Pod; current?: Pod }
  | { kind: 'Node'; previous?: Node; current?: Node }
  | { kind: 'DaemonSet'; previous?: DaemonSet; current?: DaemonSet }
  | { kind: 'RolloutPolicy'; previous?: RolloutPolicy; current?: RolloutPolicy }
  | { kind: 'Rollout'; previous?: Rollout; current?: Rollout }
  | { kind: 'ControllerRevision'; previous?: ControllerRevision; current?: ControllerRevision }
  | { kind: 'HostValues'; previous?: HostValues; current?: HostValues }
  | { kind: 'DaemonJob'; previous?: DaemonJob; current?: DaemonJob }
  | { kind: 'DaemonJobResult'; previous?: DaemonJobResult; current?: DaemonJobResult };

const KINDS: readonly [string, StoredChange['kind']][] = [
  ['/pods/', 'Pod'],
  ['/nodes/', 'Node'],
  ['/daemonsets/', 'DaemonSet'],
  ['/rolloutpolicies/', 'RolloutPolicy'],
  ['/rollouts/', 'Rollout'],
  ['/controllerrevisions/', 'ControllerRevision'],
  ['/hostvalues/', 'HostValues'],
  ['/daemonjobs/', 'DaemonJob'],
  ['/daemonjobresults/', 'DaemonJobResult'],
];

export class StoredState {
  readonly pods = new Map<string, Pod>();
  readonly nodes = new Map<string, Node>();
  readonly daemonSets = new Map<string, DaemonSet>();
  /** The one that histories have; it governs all DaemonSets. */
  policy: RolloutPolicy | undefined;
  /** By name. A Rollout has the name of its DaemonSet. */
  readonly rollouts = new Map<string, Rollout>();
  /** By uid. */
  readonly controllerRevisions = new Map<string, ControllerRevision>();
  /** By name. */
  readonly hostValues = new Map<string, HostValues>();
  /** By uid. */
  readonly daemonJobs = new Map<string, DaemonJob>();
  /** By name, which is `JOB.NODE`. */
  readonly jobResults = new Map<string, DaemonJobResult>();
  /** By uid: the revision of the last write or of the deletion. */
  readonly revisions = new Map<string, number>();
  /** Every Pod that was ever stored, by uid. */
  readonly everStoredPods = new Map<string, PodRecord>();
  /** Pods that hosts were given to make by themselves, in a turn: by uid, stored or not. */
  readonly acknowledgedPods = new Map<string, PodRecord>();

  /** The Pods of each DaemonSet on each node, by both: rules ask for them at every change. */
  readonly #placed = new Map<string, Map<string, Pod>>();
  /** The decoded object of each key, which is the previous object of the key's next change. */
  readonly #byKey = new Map<string, KubeObject>();

  /** Applies a commit. Returns undefined for kinds that are not observed. */
  take(change: Change, nowMs: number): StoredChange | undefined {
    const kind = KINDS.find(([part]) => change.key.includes(part))?.[1];
    if (!kind) return undefined;
    const previous = change.previous && this.#byKey.get(change.key);
    const current = change.value && decoded<KubeObject>(change.value);
    put(this.#byKey, change.key, current);
    this.revisions.set((current ?? previous)?.metadata.uid ?? '', change.revision);
    this.#keep(kind, previous, current, nowMs);
    return { kind, ...(previous && { previous }), ...(current && { current }) } as StoredChange;
  }

  /** A backup took the place of everything. */
  replace(values: Iterable<{ key: string; value: Buffer; revision: number }>, nowMs: number): void {
    this.#byKey.clear();
    this.#placed.clear();
    this.pods.clear();
    this.nodes.clear();
    this.daemonSets.clear();
    this.rollouts.clear();
    this.controllerRevisions.clear();
    this.hostValues.clear();
    this.daemonJobs.clear();
    this.jobResults.clear();
    this.policy = undefined;
    for (const { key, value, revision } of values) this.take({ key, value, revision }, nowMs);
  }

  /** The DaemonSet that a Pod belongs to now. */
  ownerOf(pod: Pod): DaemonSet | undefined {
    return this.daemonSets.get(controllerOf(pod.metadata)?.uid ?? '');
  }

  podsOf({ metadata }: DaemonSet, node: string): readonly Pod[] {
    const there = this.#placed.get(`${metadata.uid}@${node}`);
    return there ? [...there.values()] : [];
  }

  /** A Pod is where it is said to be now, and nowhere else. */
  #place(uid: string, previous: Pod | undefined, current: Pod | undefined): void {
    const [before, now] = [previous, current].map((pod) => pod && placeOf(pod));
    if (before !== undefined && before !== now) this.#placed.get(before)?.delete(uid);
    if (now === undefined || !current) return;
    const there = this.#placed.get(now) ?? new Map<string, Pod>();
    this.#placed.set(now, there.set(uid, current));
  }

  #promise({ uid = '', name, ...metadata }: Pod['metadata'], now: number): void {
    const maker = controllerOf({ name, ...metadata })?.uid;
    if (!this.acknowledgedPods.has(uid))
      this.acknowledgedPods.set(uid, { uid, name, controllerUid: maker, createdAtMs: now });
  }

  #keep(
    kind: StoredChange['kind'],
    previous: KubeObject | undefined,
    current: KubeObject | undefined,
    now: number,
  ): void {
    const uid = (current ?? previous)?.metadata.uid ?? '';
    const name = (current ?? previous)?.metadata.name ?? '';
    if (kind === 'Node') put(this.nodes, name, current as Node | undefined);
    if (kind === 'DaemonSet') put(this.daemonSets, uid, current as DaemonSet | undefined);
    if (kind === 'RolloutPolicy') this.policy = current as RolloutPolicy | undefined;
    if (kind === 'ControllerRevision')
      put(this.controllerRevisions, uid, current as ControllerRevision | undefined);
    if (kind === 'Rollout') put(this.rollouts, name, current as Rollout | undefined);
    if (kind === 'HostValues') put(this.hostValues, name, current as HostValues | undefined);
    if (kind === 'DaemonJob') put(this.daemonJobs, uid, current as DaemonJob | undefined);
    if (kind === 'DaemonJobResult') put(this.jobResults, name, current as DaemonJobResult | undefined);
    if (kind !== 'Pod') return;
    put(this.pods, uid, current as Pod | undefined);
    this.#place(uid, previous as Pod | undefined, current as Pod | undefined);
    const successor = current && handoverOf(current as Pod)?.successor.metadata;
    if (successor?.uid) this.#promise(successor, now);
    const known = this.everStoredPods.get(uid);
    if (current && !known) {
      this.everStoredPods.set(uid, {
        uid,
        name,
        controllerUid: controllerOf(current.metadata)?.uid,
        createdAtMs: now,
      });
    } else if (current && known) delete known.deletedAtMs;
    else if (known) known.deletedAtMs = now;
  }
}

/** Its DaemonSet, and the node that it is bound or pinned to; undefined = it has none of the first. */
function placeOf(pod: Pod): string | undefined {
  const owner = controllerOf(pod.metadata)?.uid;
  return owner === undefined ? undefined : `${owner}@${targetNodeOf(pod)}`;
}

/** Marked for deletion. */
export function isLeaving(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** True if the scheduler ended the Pod for one of higher priority. Other rules do not judge that. */
export function isPreempted(pod: Pod): boolean {
  const condition = findCondition(pod.status?.conditions, 'DisruptionTarget');
  return isLeaving(pod) && condition?.reason === 'PreemptionByScheduler';
}

export function isReady(pod: Pod): boolean {
  return isConditionTrue(pod.status?.conditions, 'Ready');
}

/** Since when it is ready, by its own word, ms since the epoch; undefined = it is not. */
export function readySince(pod: Pod): number | undefined {
  const ready = findCondition(pod.status?.conditions, 'Ready');
  return ready?.status === 'True' && ready.lastTransitionTime
    ? Date.parse(ready.lastTransitionTime)
    : undefined;
}

/**
 * Returns the template of a Pod or DaemonSet: all fields in which the templates of histories differ. Upstream compares
 * a hash of the whole template (`IsPodUpdated`), so a Pod with another grace period has another version.
 */
export function versionOf({ metadata, spec }: Versioned): string | undefined {
  const version = metadata?.annotations?.version;
  return version === undefined ? undefined : `${version} ${spec?.terminationGracePeriodSeconds}`;
}

/** A Pod or a template. */
interface Versioned {
  metadata?: { annotations?: Record<string, string> };
  spec?: { terminationGracePeriodSeconds?: number };
}

function put<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value) map.set(key, value);
  else map.delete(key);
}

function decoded<T>(value: Buffer): T {
  return JSON.parse(value.toString()) as T;
}
