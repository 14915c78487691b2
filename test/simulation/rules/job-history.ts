/** The observer's record of DaemonJobs: their Pods, successes and starts, and what excuses a second run. */
import {
  type DaemonJob,
  type DaemonJobResult,
  daemonJobFinishedAs,
  runOf,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { controllerOf, type KubeObject } from '../../../shared/kube/objects/meta.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { NEWS_MS } from './daemonset-availability.js';
import { DurationTracker } from './duration-tracker.js';
import type { ObservedWorld } from './observed-world.js';
import type { StoredChange } from './stored-truth.js';

const ATTEMPT = 'fleet.everynode.dev/attempt';
const RUN = 'fleet.everynode.dev/run';

/** A Pod of a DaemonJob, as it was made. */
export interface JobPod {
  readonly uid: string;
  readonly name: string;
  readonly jobUid: string;
  readonly node: string;
  readonly attempt: number;
  readonly run: number;
  readonly isOnlyOnce: boolean;
}

/** Returns the uid of the DaemonJob that controls the object, or undefined. */
export function jobUidOf({ metadata }: KubeObject): string | undefined {
  const owner = controllerOf(metadata);
  return owner?.kind === 'DaemonJob' ? owner.uid : undefined;
}

/** A job and a host. */
export function placeOf({ jobUid, node }: { jobUid: string; node: string }): string {
  return `${jobUid}@${node}`;
}

export class JobHistory {
  readonly pods = new Map<string, JobPod>();
  /** Places where success is stored, in a result or in a Pod. */
  readonly succeeded = new Set<string>();
  /** Places of which a user deleted the result. The host may run again. */
  readonly forgotten = new Set<string>();
  /** Places where a Pod was force-deleted or left with its Node: nobody waited for its end. */
  readonly unseen = new Set<string>();
  /** Started containers, by uid of the Pod. */
  readonly starts = new Map<string, number>();
  /** Keys are places: the Node exists, and placement allows the Pod. */
  readonly #eligible = new DurationTracker<string>();
  /** Keys are uids of jobs: hosts may not start. */
  readonly #closed = new DurationTracker<string>();
  readonly #ready = new DurationTracker<string>();
  /** By job: the parallelism of the last while. */
  readonly #slots = new Map<string, { atMs: number; value: number | string }[]>();

  /** Must receive every change before the rules ask. */
  committed(change: StoredChange, scene: ObservedWorld): void {
    const { nowMs, stored } = scene;
    if (change.kind === 'Pod') this.#podChanged(change, scene);
    if (change.kind === 'DaemonJobResult') this.#resultChanged(change, scene);
    if (change.kind === 'DaemonJob') this.#jobChanged(change, nowMs);
    if (change.kind === 'Node') {
      const { name = '' } = (change.current ?? change.previous)?.metadata ?? {};
      this.#ready.note(name, isConditionTrue(change.current?.status?.conditions, 'Ready'), nowMs);
      if (!change.current)
        for (const pod of this.pods.values()) if (pod.node === name) this.unseen.add(placeOf(pod));
    }
    if (change.kind !== 'Node' && change.kind !== 'DaemonJob') return;
    const names = new Set([...stored.nodes.keys(), (change.current ?? change.previous)?.metadata.name ?? '']);
    for (const [jobUid, job] of stored.daemonJobs)
      for (const node of names) {
        const present = stored.nodes.get(node);
        this.#eligible.note(placeOf({ jobUid, node }), present !== undefined && mayRun(job, present), nowMs);
      }
  }

  podStarted(podUid: string): void {
    this.starts.set(podUid, (this.starts.get(podUid) ?? 0) + 1);
  }

  isLongEligible(jobUid: string, node: string, nowMs: number): boolean {
    return this.#eligible.isFor(placeOf({ jobUid, node }), NEWS_MS, nowMs);
  }

  /** No host may start the job, and that is no news. */
  isLongClosed(jobUid: string, nowMs: number): boolean {
    return this.#closed.isFor(jobUid, NEWS_MS, nowMs);
  }

  isLongReady(node: string, nowMs: number): boolean {
    return this.#ready.isFor(node, NEWS_MS, nowMs);
  }

  /** The most that was allowed within the last while. `hosts`: how many a percentage counts. */
  slotsOf(jobUid: string, hosts: number, nowMs: number): number {
    const all = this.#slots.get(jobUid) ?? [];
    const recent = all.filter((_, index) => (all[index + 1]?.atMs ?? nowMs) >= nowMs - NEWS_MS);
    return Math.max(
      ...recent.map(({ value }) =>
        typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * hosts) / 100),
      ),
    );
  }

  #podChanged({ previous, current }: { previous?: Pod; current?: Pod }, scene: ObservedWorld): void {
    const { uid = '', name = '' } = (current ?? previous)?.metadata ?? {};
    const jobUid = current && jobUidOf(current);
    if (current && jobUid !== undefined && !this.pods.has(uid)) {
      const { annotations = {} } = current.metadata;
      const node = targetNodeOf(current) ?? '';
      const isOnlyOnce = scene.stored.daemonJobs.get(jobUid)?.spec.retry === 'AtMostOnce';
      const [attempt, run] = [Number(annotations[ATTEMPT]), Number(annotations[RUN])];
      this.pods.set(uid, { uid, name, jobUid, node, attempt, run, isOnlyOnce });
    }
    const known = this.pods.get(uid);
    if (!known) return;
    if (scene.userRequests.forced.has(uid)) this.unseen.add(placeOf(known));
    if (current?.status?.phase === 'Succeeded' && jobUid !== undefined) this.succeeded.add(placeOf(known));
  }

  #resultChanged(
    { previous, current }: { previous?: DaemonJobResult; current?: DaemonJobResult },
    { userRequests }: ObservedWorld,
  ): void {
    const result = current ?? previous;
    const jobUid = result && jobUidOf(result);
    if (!result || jobUid === undefined) return;
    const place = placeOf({ jobUid, node: result.nodeName });
    if (current?.phase === 'Succeeded') this.succeeded.add(place);
    if (current || !userRequests.deleted.has(result.metadata.uid ?? '')) return;
    this.succeeded.delete(place);
    this.forgotten.add(place);
  }

  #jobChanged({ previous, current }: { previous?: DaemonJob; current?: DaemonJob }, nowMs: number): void {
    const { uid = '' } = (current ?? previous)?.metadata ?? {};
    const isClosed = current !== undefined && (current.spec.suspend === true || isFinished(current));
    this.#closed.note(uid, isClosed, nowMs);
    const value = current?.spec.parallelism ?? '100%';
    const all = this.#slots.get(uid) ?? [];
    if (all.at(-1)?.value !== value) this.#slots.set(uid, [...all, { atMs: nowMs, value }]);
  }
}

/** The present run has ended. */
export function isFinished(job: DaemonJob): boolean {
  return daemonJobFinishedAs(job) !== undefined && (job.status?.run ?? 1) === runOf(job);
}

/** An offline host is still one of the job. */
function mayRun({ spec }: DaemonJob, { metadata, spec: node }: Node): boolean {
  const wanted = Object.entries(spec.template.spec.nodeSelector ?? {});
  const isSelected = wanted.every(([key, value]) => metadata.labels?.[key] === value);
  return isSelected && (node?.taints ?? []).every(({ key }) => key.startsWith('node.kubernetes.io/'));
}
