/**
 * What must hold, whatever happens. Each invariant is held against the bystander's view (`Scene`): what is on the disk
 * and which containers run, never against what the programs believe. Programs act on what they have seen, and see late;
 * so where a rule is about a decision, what changed within the last `NEWS_MS` counts for the programs, not against them.
 */

import { controllerOf } from '../../shared/kube/meta.js';
import type { Pod } from '../../shared/kube/pod.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { belongs, hasTemplateGeneration, mayStay, maySurge, unavailableBudget } from './reference.js';
import type { Scene } from './scene.js';
import { Since } from './since.js';
import { isLeaving, isReady, readySince, type TrueChange, versionOf } from './truth.js';

/** Longer than any news takes to become a deed: two commits, a full disk and a slow queue between them. */
const NEWS_MS = 30_000;

/** A sentence that says what was broken, and by what. */
export type Violation = string;

export interface Invariant {
  /** The rule, as one would tell it a colleague. */
  readonly rule: string;
  /** A container of this Pod has just started on this node. */
  started?(podUid: string, node: string, scene: Scene): Violation | undefined;
  /** A change has just been committed; `scene` shows the state after it. */
  committed?(change: TrueChange, scene: Scene): Violation | undefined;
  /** A client has just been told that its write of this object succeeded. */
  acknowledged?(write: AcknowledgedWrite, scene: Scene): Violation | undefined;
}

/** `isDeletion`: the object is gone, or marked to go. */
export interface AcknowledgedWrite {
  uid: string;
  name: string;
  revision: number;
  isDeletion: boolean;
}

/** All of them, for one history. */
export function invariants(): Invariant[] {
  return [
    oneCopy(),
    unavailableWithinBudget(),
    acknowledgedIsStored(),
    stoppedStaysStopped(),
    nothingVanishes(),
    statusIsTrue(),
  ];
}

/** Peers break this when a host comes back, or a manager is killed between two steps. */
function oneCopy(): Invariant {
  const surged = new Since<string>();
  return {
    rule: 'containers of two Pods of one DaemonSet never run on a node at once, unless its strategy surges',
    committed: ({ kind, current }, { nowMs }) => {
      if (kind === 'DaemonSet' && current) surged.note(current.metadata.uid ?? '', maySurge(current), nowMs);
      return undefined;
    },
    started: (podUid, node, { truth, running, nowMs }) => {
      const started = truth.ever.get(podUid);
      if (!started?.maker || surged.isWithin(started.maker, nowMs - started.createdAtMs + NEWS_MS, nowMs))
        return undefined;
      const other = running(node).find((container) => {
        const beside = truth.ever.get(container.podUid);
        return container.podUid !== podUid && beside?.maker === started.maker;
      });
      return (
        other && `${started.name} starts on ${node} while ${other.podName} of the same DaemonSet runs there`
      );
    },
  };
}

function unavailableWithinBudget(): Invariant {
  /** Keys are `DaemonSet uid@node`. */
  const unavailable = new Since<string>();
  const wanted = new Since<string>();
  const misplaced = new Since<string>();
  /** Nodes that the rollout itself emptied, until they serve again. */
  const emptied = new Set<string>();
  const ready = new Since<string>();
  /** Budgets of the last while, by DaemonSet. */
  const budgets = new Map<string, { atMs: number; budget: number }[]>();

  /** As the bystander saw it become ready, which is some time after it did. */
  const isAvailable = (pod: Pod, { spec }: DaemonSet, nowMs: number): boolean =>
    ready.isFor(pod.metadata.uid ?? '', (spec.minReadySeconds ?? 0) * 1_000, nowMs);

  /** Or by the time that it tells itself. */
  const mayBeAvailable = (pod: Pod, { spec }: DaemonSet, coordinatorNowMs: number): boolean =>
    (readySince(pod) ?? Number.POSITIVE_INFINITY) + (spec.minReadySeconds ?? 0) * 1_000 <= coordinatorNowMs;

  const look = (daemonSet: DaemonSet, { truth, nowMs, coordinatorNowMs }: Scene): void => {
    const { uid = '' } = daemonSet.metadata;
    let desired = 0;
    for (const [name, node] of truth.nodes) {
      const key = `${uid}@${name}`;
      const belongsThere = belongs(daemonSet, node);
      if (belongsThere) desired += 1;
      const serves = truth
        .podsOf(daemonSet, name)
        .some(
          (pod) =>
            !isLeaving(pod) &&
            (isAvailable(pod, daemonSet, nowMs) || mayBeAvailable(pod, daemonSet, coordinatorNowMs)),
        );
      wanted.note(key, belongsThere, nowMs);
      misplaced.note(key, !mayStay(daemonSet, node), nowMs);
      unavailable.note(key, !serves, nowMs);
      if (serves) emptied.delete(key);
    }
    const recent = (budgets.get(uid) ?? []).filter(({ atMs }, index, all) => {
      const next = all[index + 1];
      return atMs >= nowMs - NEWS_MS || !next || next.atMs >= nowMs - NEWS_MS;
    });
    const budget = maySurge(daemonSet) ? Number.POSITIVE_INFINITY : unavailableBudget(daemonSet, desired);
    if (recent.at(-1)?.budget !== budget) recent.push({ atMs: nowMs, budget });
    budgets.set(uid, recent);
  };

  /** The Pod that a rollout has just told to stop, if it was of use. */
  const stoppedByRollout = ({ kind, previous, current }: TrueChange, scene: Scene): Pod | undefined => {
    if (kind !== 'Pod' || !previous || isLeaving(previous) || (current && !isLeaving(current)))
      return undefined;
    const { truth, wishes, nowMs } = scene;
    const { uid = '' } = previous.metadata;
    const { nodeName = '' } = previous.spec;
    const daemonSet = truth.ownerOf(previous);
    const key = `${daemonSet?.metadata.uid}@${nodeName}`;
    if (!daemonSet || isLeaving(daemonSet) || wishes.deleted.has(uid) || !truth.nodes.has(nodeName))
      return undefined;
    if (!isAvailable(previous, daemonSet, nowMs) || misplaced.isWithin(key, NEWS_MS, nowMs)) return undefined;
    const others = truth.podsOf(daemonSet, nodeName).filter((pod) => pod.metadata.uid !== uid);
    return others.some((pod) => !isLeaving(pod)) ? undefined : previous;
  };

  return {
    rule: 'a rollout never stops an available Pod while the budget is used up',
    committed: (change, scene) => {
      const { truth, nowMs } = scene;
      if (change.kind === 'Pod') {
        const { uid = '' } = (change.current ?? change.previous)?.metadata ?? {};
        ready.note(uid, change.current !== undefined && isReady(change.current), nowMs);
      }
      // Time alone makes Pods available: what was seen at the last change may be old.
      for (const each of truth.daemonSets.values()) look(each, scene);
      const stopped = stoppedByRollout(change, scene);
      const daemonSet = stopped && truth.ownerOf(stopped);
      if (!stopped || !daemonSet) return undefined;
      const { uid = '' } = daemonSet.metadata;
      const own = `${uid}@${stopped.spec.nodeName}`;
      const used = [...truth.nodes.keys()]
        .map((name) => `${uid}@${name}`)
        .filter((key) => key !== own && wanted.isFor(key, NEWS_MS, nowMs))
        .filter((key) => emptied.has(key) || unavailable.isFor(key, NEWS_MS, nowMs));
      const budget = Math.max(...(budgets.get(uid) ?? []).map((each) => each.budget));
      emptied.add(own);
      if (used.length < budget) return undefined;
      const where = used.map((key) => key.split('@')[1]).join(' and ');
      return `${stopped.metadata.name} on ${stopped.spec.nodeName} serves and is told to stop; without already: ${where}; ${budget} may be`;
    },
  };
}

/** The disk never goes back by itself, so it is enough that the write is on it when the client hears of it. */
function acknowledgedIsStored(): Invariant {
  return {
    rule: 'no acknowledged write is lost',
    acknowledged: ({ uid, name, revision, isDeletion }, { truth }) => {
      const stored = truth.revisions.get(uid) ?? 0;
      if (stored < revision)
        return `${name} was acknowledged at revision ${revision}, on the disk it is at ${stored}`;
      const present = truth.pods.get(uid) ?? truth.nodes.get(name) ?? truth.daemonSets.get(uid);
      const isKept = isDeletion && present?.metadata.uid === uid && !isLeaving(present);
      return isKept ? `the deletion of ${name} was acknowledged, and it stays` : undefined;
    },
  };
}

/** A Pod object that waited for its host's word may only go when its containers have stopped, and then for good. */
function stoppedStaysStopped(): Invariant {
  /** Uids that left after their host's word. */
  const confirmed = new Set<string>();
  return {
    rule: 'what a host was asked to stop has stopped when its Pod leaves the store, and never starts again',
    committed: ({ kind, previous, current }, { truth, wishes, running }) => {
      if (kind !== 'Pod' || !previous || current) return undefined;
      const { uid = '', name } = previous.metadata;
      const { nodeName = '' } = previous.spec;
      const hasEnded = previous.status?.phase === 'Failed' || previous.status?.phase === 'Succeeded';
      if (wishes.forced.has(uid) || hasEnded || !truth.nodes.has(nodeName)) return undefined;
      confirmed.add(uid);
      const still = running(nodeName).some(({ podUid }) => podUid === uid);
      return still ? `${name} left the store while its container runs on ${nodeName}` : undefined;
    },
    started: (podUid, node, { truth }) =>
      confirmed.has(podUid) && !truth.pods.has(podUid)
        ? `${truth.ever.get(podUid)?.name} starts on ${node} after it was stopped, confirmed and removed`
        : undefined,
  };
}

function nothingVanishes(): Invariant {
  /** Nodes that were deleted, or drove Pods away, some time: their Pods may go. */
  const drivenOut = new Set<string>();
  return {
    rule: 'no object goes that nobody deleted',
    committed: ({ kind, previous, current }, { truth, wishes }) => {
      if (kind === 'Node') {
        const evicts = current?.spec?.taints?.some(({ effect }) => effect === 'NoExecute');
        if (!current || evicts) drivenOut.add((current ?? previous)?.metadata.name ?? '');
      }
      if (!previous || current || wishes.deleted.has(previous.metadata.uid ?? '')) return undefined;
      // What a DaemonSet made is its controller's to remove; that it removes the right ones shows at the end.
      const isMade =
        kind === 'Pod' &&
        (truth.ever.get(previous.metadata.uid ?? '')?.maker || controllerOf(previous.metadata));
      if (isMade || (kind === 'Pod' && drivenOut.has(previous.spec.nodeName ?? ''))) return undefined;
      return `${kind} ${previous.metadata.name} is gone, and nobody asked for that`;
    },
  };
}

/** Nodes that some time since a generation began were so; its figures can only be sums of these. */
interface Figures {
  version: string | undefined;
  belonged: Set<string>;
  notBelonged: Set<string>;
  updated: Set<string>;
  ready: Set<string>;
}

function emptyFigures(version: string | undefined): Figures {
  return { version, belonged: new Set(), notBelonged: new Set(), updated: new Set(), ready: new Set() };
}

function statusIsTrue(): Invariant {
  const figures = new Map<string, Map<number, Figures>>();

  const look = (daemonSet: DaemonSet, { truth }: Scene): void => {
    const { uid = '', generation = 0 } = daemonSet.metadata;
    const all = figures.get(uid) ?? new Map<number, Figures>();
    figures.set(uid, all);
    const isNew = !all.has(generation);
    if (isNew) all.set(generation, emptyFigures(versionOf(daemonSet.spec.template)));
    // Word of an older generation may still be on its way.
    for (const each of all.values()) {
      for (const [name, node] of truth.nodes) {
        // A node that joined since was none before.
        if (!isNew && !each.belonged.has(name)) each.notBelonged.add(name);
        (belongs(daemonSet, node) ? each.belonged : each.notBelonged).add(name);
        const pods = truth.podsOf(daemonSet, name);
        if (pods.some((pod) => versionOf(pod) === each.version || hasTemplateGeneration(pod, daemonSet)))
          each.updated.add(name);
        if (pods.some(isReady)) each.ready.add(name);
      }
      for (const name of each.belonged) if (!truth.nodes.has(name)) each.notBelonged.add(name);
    }
  };

  const lie = (daemonSet: DaemonSet, previous: DaemonSet | undefined): Violation | undefined => {
    const { uid = '', generation = 0, name } = daemonSet.metadata;
    const { status } = daemonSet;
    const observed = status?.observedGeneration;
    if (!status || observed === undefined) return undefined;
    if (observed > generation)
      return `${name} says it observed generation ${observed}, which is not there yet`;
    const before = previous?.metadata.uid === uid ? (previous?.status?.observedGeneration ?? 0) : 0;
    if (observed < before)
      return `${name} says it observed generation ${observed}, and said ${before} before`;
    const seen = figures.get(uid)?.get(observed);
    if (!seen) return undefined;
    const always = [...seen.belonged].filter((node) => !seen.notBelonged.has(node)).length;
    const says = `${name} says of generation ${observed}:`;
    if ((status.updatedNumberScheduled ?? 0) > seen.updated.size)
      return `${says} ${status.updatedNumberScheduled} updated; never more than ${seen.updated.size} were`;
    if ((status.numberAvailable ?? 0) > seen.ready.size)
      return `${says} ${status.numberAvailable} available; never more than ${seen.ready.size} were ready`;
    if (status.desiredNumberScheduled > seen.belonged.size || status.desiredNumberScheduled < always)
      return `${says} ${status.desiredNumberScheduled} desired; it was ${always} to ${seen.belonged.size}`;
    return undefined;
  };

  return {
    rule: 'observedGeneration never tells a lie: the figures beside it were true of that generation',
    committed: ({ kind, previous, current }, scene) => {
      for (const each of scene.truth.daemonSets.values()) look(each, scene);
      if (kind !== 'DaemonSet' || !current) return undefined;
      const isStatus = JSON.stringify(previous?.status) !== JSON.stringify(current.status);
      return isStatus ? lie(current, previous) : undefined;
    },
  };
}
