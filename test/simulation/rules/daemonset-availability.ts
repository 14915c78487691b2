/**
 * The bystander's book on where each DaemonSet serves, and since when: what the rules on rollouts are judged by. Programs act on
 * what they have seen, and see late; so what changed within the last `NEWS_MS` counts for them, not against them.
 */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import {
  CONFIRMED_CONDITION,
  handoverAnnotationOf,
  handoverOf,
} from '../../../shared/kube/handovers/host-handover.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { DurationTracker } from './duration-tracker.js';
import type { ObservedWorld } from './observed-world.js';
import { belongs, mayStay, maySurge, unavailableBudget } from './reference-placement.js';
import { isLeaving, isPreempted, isReady, readySince, type StoredChange } from './stored-truth.js';

/** Clocks of hosts may be ahead by this much. */
const AHEAD_MS = 2_000;

/** Longer than any news takes to become a operation: two commits, a full disk and a slow queue between them. */
export const NEWS_MS = 30_000;

/** A Pod that a rollout stopped while it served. */
export interface StoppedByRollout {
  pod: Pod;
  daemonSet: DaemonSet;
  node: string;
}

/** How many nodes may be without an available Pod, from then on. */
interface Budget {
  atMs: number;
  /** Like upstream: a percentage counts the nodes where Pods belong. */
  upstream: number;
  /**
   * In waves: nodes where the Pod is removed permanently also count. Otherwise the percentage of a wave with no other
   * nodes would be 0.
   */
  inWaves: number;
}

export class Availability {
  /** Keys are `DaemonSet uid@node`. */
  readonly #unavailable = new DurationTracker<string>();
  readonly #wanted = new DurationTracker<string>();
  readonly #misplaced = new DurationTracker<string>();
  readonly #turned = new DurationTracker<string>();
  /** Nodes that the rollout itself emptied, until they serve again. */
  readonly #emptied = new Set<string>();
  readonly #ready = new DurationTracker<string>();
  /**
   * Uids of Pods that became unready or were unconfirmed. A controller may act on that for a while after they are ready
   * again.
   */
  readonly #faltered = new Set<string>();
  /**
   * Since when Pods report that they are ready: as reported, and in true time. The coordinator's clock may be set
   * afterwards.
   */
  readonly #told = new Map<string, { sinceMs: number; trueMs: number }>();
  /** Budgets of the last while, by DaemonSet. */
  readonly #budgets = new Map<string, Budget[]>();

  /**
   * Must receive every change before other methods are called. It checks all DaemonSets, because Pods also become
   * available by time alone.
   */
  committed(change: StoredChange, scene: ObservedWorld): void {
    if (change.kind === 'Pod') {
      const { uid = '' } = (change.current ?? change.previous)?.metadata ?? {};
      const isUnproved = change.current !== undefined && isUnconfirmed(change.current);
      const isNow = change.current !== undefined && isReady(change.current) && !isUnproved;
      if (isUnproved) this.#faltered.add(uid);
      if (!isNow && change.previous && isReady(change.previous)) this.#faltered.add(uid);
      this.#ready.note(uid, isNow, scene.nowMs);
      this.#noteTold(uid, change.current && readySince(change.current), scene);
    }
    for (const each of scene.stored.daemonSets.values()) this.#look(each, scene);
  }

  /** Returns the Pod that a rollout has just stopped, or handed over to its host, if it was in use. */
  stoppedByRollout(
    { kind, previous, current }: StoredChange,
    { stored: truth, userRequests: wishes, nowMs, coordinatorNowMs }: ObservedWorld,
  ): StoppedByRollout | undefined {
    if (kind !== 'Pod' || !previous || isLeaving(previous)) return undefined;
    if (current && isPreempted(current)) return undefined;
    // From when it has its turn, its host may stop it at any time; what becomes of that was decided then.
    const [hadTurn, hasTurn] = [previous, current].map(
      (pod) => pod && handoverAnnotationOf(pod) !== undefined,
    );
    if (hadTurn || (current && !isLeaving(current) && !hasTurn)) return undefined;
    const { uid = '' } = previous.metadata;
    const { nodeName: node = '' } = previous.spec;
    const daemonSet = truth.ownerOf(previous);
    if (!daemonSet || isLeaving(daemonSet) || wishes.deleted.has(uid) || !truth.nodes.has(node))
      return undefined;
    const key = `${daemonSet.metadata.uid}@${node}`;
    if (!this.#isAvailable(previous, daemonSet, nowMs) || this.#misplaced.isWithin(key, NEWS_MS, nowMs))
      return undefined;
    if (isFreshAgain(previous, daemonSet, coordinatorNowMs)) return undefined;
    if (this.#faltered.has(uid) && !this.#ready.isFor(uid, NEWS_MS, nowMs)) return undefined;
    const others = truth.podsOf(daemonSet, node).filter((pod) => pod.metadata.uid !== uid);
    return others.some((pod) => !isLeaving(pod)) ? undefined : { pod: previous, daemonSet, node };
  }

  /**
   * Returns the other nodes without an available Pod that should have one. Nodes that the rollout emptied count, and so
   * do nodes with a handover, which the host may start at any moment.
   */
  without({ daemonSet, node }: StoppedByRollout, { stored: truth, nowMs }: ObservedWorld): string[] {
    const keyOf = (name: string) => `${daemonSet.metadata.uid}@${name}`;
    return [...truth.nodes.keys()].filter(
      (name) =>
        name !== node &&
        this.#wanted.isFor(keyOf(name), NEWS_MS, nowMs) &&
        (this.#emptied.has(keyOf(name)) ||
          this.#turned.isFor(keyOf(name), NEWS_MS, nowMs) ||
          this.#unavailable.isFor(keyOf(name), NEWS_MS, nowMs)),
    );
  }

  /** The largest of the last while. */
  budgetOf({ metadata }: DaemonSet, kind: 'upstream' | 'inWaves'): number {
    return Math.max(...(this.#budgets.get(metadata.uid ?? '') ?? []).map((each) => each[kind]));
  }

  /** From now on the node counts as emptied by the rollout. */
  emptied({ daemonSet, node }: StoppedByRollout): void {
    this.#emptied.add(`${daemonSet.metadata.uid}@${node}`);
  }

  /** As the bystander saw it become ready, which is some time after it did. */
  #isAvailable(pod: Pod, { spec }: DaemonSet, nowMs: number): boolean {
    return this.#ready.isFor(pod.metadata.uid ?? '', (spec.minReadySeconds ?? 0) * 1_000, nowMs);
  }

  #noteTold(uid: string, sinceMs: number | undefined, { nowMs, coordinatorNowMs }: ObservedWorld): void {
    if (sinceMs === undefined) this.#told.delete(uid);
    else if (this.#told.get(uid)?.sinceMs !== sinceMs)
      this.#told.set(uid, { sinceMs, trueMs: sinceMs - coordinatorNowMs + nowMs });
  }

  /** Uses the reported time, by the coordinator's clock as it is now or as it was at the report. */
  #mayBeAvailable(
    { metadata }: Pod,
    { spec }: DaemonSet,
    { nowMs, coordinatorNowMs }: ObservedWorld,
  ): boolean {
    const told = this.#told.get(metadata.uid ?? '');
    if (!told) return false;
    const minReadyMs = (spec.minReadySeconds ?? 0) * 1_000;
    return told.sinceMs + minReadyMs <= coordinatorNowMs || told.trueMs + minReadyMs <= nowMs;
  }

  #look(daemonSet: DaemonSet, scene: ObservedWorld): void {
    const { stored: truth, nowMs } = scene;
    const { uid = '' } = daemonSet.metadata;
    let desired = 0;
    let retiring = 0;
    for (const [name, node] of truth.nodes) {
      const key = `${uid}@${name}`;
      const belongsThere = belongs(daemonSet, node);
      if (belongsThere) desired += 1;
      else if (truth.podsOf(daemonSet, name).length > 0) retiring += 1;
      const serves = truth
        .podsOf(daemonSet, name)
        .some(
          (pod) =>
            !isLeaving(pod) &&
            (this.#isAvailable(pod, daemonSet, nowMs) || this.#mayBeAvailable(pod, daemonSet, scene)),
        );
      const isTurned = truth.podsOf(daemonSet, name).some((pod) => !isLeaving(pod) && handoverOf(pod));
      this.#turned.note(key, isTurned, nowMs);
      this.#wanted.note(key, belongsThere, nowMs);
      this.#misplaced.note(key, !mayStay(daemonSet, node), nowMs);
      this.#unavailable.note(key, !serves, nowMs);
      if (serves) this.#emptied.delete(key);
    }
    this.#noteBudget(daemonSet, { desired, retiring }, nowMs);
  }

  #noteBudget(
    daemonSet: DaemonSet,
    { desired, retiring }: { desired: number; retiring: number },
    nowMs: number,
  ): void {
    const { uid = '' } = daemonSet.metadata;
    const recent = (this.#budgets.get(uid) ?? []).filter(({ atMs }, index, all) => {
      const next = all[index + 1];
      return atMs >= nowMs - NEWS_MS || !next || next.atMs >= nowMs - NEWS_MS;
    });
    const of = (nodes: number) =>
      maySurge(daemonSet) ? Number.POSITIVE_INFINITY : unavailableBudget(daemonSet, nodes);
    const budget = { upstream: of(desired), inWaves: of(desired + retiring) };
    const last = recent.at(-1);
    if (last?.upstream !== budget.upstream || last.inWaves !== budget.inWaves)
      recent.push({ atMs: nowMs, ...budget });
    this.#budgets.set(uid, recent);
  }
}

/** True if the host has not confirmed the Pod. A rollout does not count on it. */
function isUnconfirmed({ status }: Pod): boolean {
  return findCondition(status?.conditions, CONFIRMED_CONDITION)?.status === 'False';
}

/** A clock set back reaches the time of readiness again. Then minReadySeconds counts again, like upstream. */
function isFreshAgain(pod: Pod, { spec }: DaemonSet, coordinatorNowMs: number): boolean {
  const forMs = coordinatorNowMs - (readySince(pod) ?? Number.NaN);
  return forMs >= -AHEAD_MS && forMs < (spec.minReadySeconds ?? 0) * 1_000;
}
