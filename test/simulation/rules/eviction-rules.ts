/** Rules on who is driven out of a node by its taints, and when. */

import type { Node, Taint } from '../../../shared/kube/nodes/node-types.js';
import { findCondition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { NEWS_MS } from './daemonset-availability.js';
import { DurationTracker } from './duration-tracker.js';
import type { Invariant } from './invariants.js';
import { toleratesFor } from './reference-placement.js';
import { isLeaving, isPreempted, type StoredChange, type StoredState } from './stored-truth.js';

/** Stored times are whole seconds. */
const WHOLE_SECONDS_MS = 2_000;

/** The taint of an unreachable node. */
const SILENCE: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };

/**
 * Uses the coordinator's clock or true time, whichever is longer, because the clock may have been set. If one taint
 * follows another without a pause, the time of both counts, like upstream (pkg/controller/tainteviction
 * processPodOnNode keeps an eviction that is planned for sooner).
 */
export function taintEvictionsWait(): Invariant {
  /** Keys are node and taint, and the node alone for any of them. */
  const tainted = new DurationTracker<string>();
  const lastFreedMs = new Map<string, number>();

  const note = ({ previous, current }: Extract<StoredChange, { kind: 'Node' }>, nowMs: number): void => {
    const { name = '' } = (current ?? previous)?.metadata ?? {};
    const now = new Set(noExecuteTaints(current).map(({ key }) => key));
    for (const key of now) tainted.note(`${name} ${key}`, true, nowMs);
    tainted.note(name, now.size > 0, nowMs);
    for (const { key } of noExecuteTaints(previous)) {
      if (now.has(key)) continue;
      tainted.note(`${name} ${key}`, false, nowMs);
      lastFreedMs.set(name, nowMs);
    }
  };

  return {
    rule: 'a taint drives no Pod out for as long as that tolerates it',
    committed: (change, { stored: truth, userRequests: wishes, nowMs, coordinatorNowMs }) => {
      if (change.kind === 'Node') note(change, nowMs);
      const { kind, previous, current } = change;
      if (kind !== 'Pod' || !previous || isLeaving(previous) || !current || !isLeaving(current))
        return undefined;
      if (isPreempted(current)) return undefined;
      const { uid = '', name } = previous.metadata;
      const node = truth.nodes.get(previous.spec.nodeName ?? '');
      const isMade = truth.everStoredPods.get(uid)?.controllerUid ?? controllerOf(previous.metadata);
      if (!node || isMade || wishes.deleted.has(uid)) return undefined;
      const where = node.metadata.name;
      const isDue = noExecuteTaints(node).some((taint) => {
        const waitMs = toleratesFor(previous, taint) * 1_000 - WHOLE_SECONDS_MS;
        const byItsClock = coordinatorNowMs - Date.parse(taint.timeAdded ?? '');
        return byItsClock >= waitMs || tainted.isFor(where, waitMs, nowMs);
      });
      const isLate = (lastFreedMs.get(where) ?? Number.NEGATIVE_INFINITY) >= nowMs - NEWS_MS;
      return isDue || isLate || `${name} is driven from ${where} before its time`;
    },
  };
}

/** When every node is unreachable, the network or the coordinator is cut off. */
export function offlineNodesAreNotEvicted(): Invariant {
  const isReady = (node: Node) => isConditionTrue(node.status?.conditions, 'Ready');
  const dark = new DurationTracker<string>();
  /** True if the Pod exists and its node was unreachable for longer than the Pod tolerates. */
  const mayHaveGone = (pod: Pod, { everStoredPods: ever }: StoredState, nowMs: number): boolean => {
    const { controllerUid: maker, createdAtMs = nowMs } = ever.get(pod.metadata.uid ?? '') ?? {};
    const waitMs = toleratesFor(pod, SILENCE) * 1_000 + NEWS_MS;
    return !maker && !isLeaving(pod) && nowMs - createdAtMs >= waitMs && dark.isFor('all', waitMs, nowMs);
  };
  return {
    rule: 'while no node at all is Ready, none is emptied for its silence',
    committed: ({ kind, previous, current }, { stored: truth, userRequests: wishes, nowMs }) => {
      if (kind === 'Node') {
        const reported = [...truth.nodes.values()].filter(({ status }) =>
          findCondition(status?.conditions, 'Ready'),
        );
        const isDark = reported.length > 0 && !reported.some(isReady);
        const hasOutwaited =
          !isDark && [...truth.pods.values()].some((pod) => mayHaveGone(pod, truth, nowMs));
        dark.note('all', isDark, nowMs);
        return hasOutwaited || undefined;
      }
      if (kind !== 'Pod' || !previous || isLeaving(previous) || !current || !isLeaving(current))
        return undefined;
      if (isPreempted(current)) return undefined;
      const { uid = '', name } = previous.metadata;
      const node = truth.nodes.get(previous.spec.nodeName ?? '');
      const isMade = truth.everStoredPods.get(uid)?.controllerUid ?? controllerOf(previous.metadata);
      if (!node || isMade || wishes.deleted.has(uid) || !dark.isFor('all', NEWS_MS, nowMs)) return undefined;
      const others = noExecuteTaints(node).filter(({ key }) => !key.startsWith('node.kubernetes.io/'));
      return others.length > 0 || `${name} is driven from ${node.metadata.name}, and nobody is heard`;
    },
  };
}

function noExecuteTaints(node: Node | undefined): Taint[] {
  return (node?.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
}
