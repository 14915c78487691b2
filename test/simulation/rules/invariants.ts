import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { RevertReason } from '../../../shared/kube/handovers/host-handover.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import { targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { Availability, NEWS_MS } from './daemonset-availability.js';
import { DurationTracker } from './duration-tracker.js';
import { offlineNodesAreNotEvicted, taintEvictionsWait } from './eviction-rules.js';
import { failoverRules } from './failover-rules.js';
import { busyHostsDecide, handoversKeepToWindows, revertsHaveReason } from './handover-rules.js';
import { jobRules } from './job-rules.js';
import type { ObservedWorld } from './observed-world.js';
import { preemptionRules } from './preemption-rules.js';
import { maySurge } from './reference-placement.js';
import { hasNoValues } from './reference-values.js';
import { FigureHistory } from './status-figures.js';
import { isLeaving, isPreempted, type StoredChange } from './stored-truth.js';
import { valueRules } from './value-rules.js';
import { WaveHistory } from './wave-rules.js';

/** A sentence that says what was broken, and by what. */
export type Violation = string;

/** The result of a rule for an event: true if it holds, a sentence if it is broken, undefined if it does not apply. */
export type Verdict = true | Violation | undefined;

export interface Invariant {
  /** The rule as one sentence. */
  readonly rule: string;
  /** A container of this Pod has just started on this node. */
  podStarted?(podUid: string, node: string, scene: ObservedWorld): Verdict;
  /** The agent of this node has just sent the stop signal to a running container of this Pod. */
  podStopped?(podUid: string, node: string, scene: ObservedWorld): Verdict;
  /** A host has just started a handover, which is on its disk. */
  handoverStarted?(
    turn: { podUid: string; successorUid: string },
    node: string,
    scene: ObservedWorld,
  ): Verdict;
  /** A host has just decided to take a Pod back. */
  podReverted?(revert: { podUid: string; reason: RevertReason }, node: string, scene: ObservedWorld): Verdict;
  /** A change has just been committed; `scene` shows the state after it. */
  committed?(change: StoredChange, scene: ObservedWorld): Verdict;
  /** Another coordinator has just begun to lead. */
  termBegan?(scene: ObservedWorld): Verdict;
  /** A client has just received the acknowledgement of its write of this object. */
  acknowledged?(write: AcknowledgedWrite, scene: ObservedWorld): Verdict;
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
  const availability = new Availability();
  const waves = new WaveHistory();
  return [
    oneCopy(),
    // The book is kept first: the rules after it ask it.
    { rule: '', committed: (change, scene) => void availability.committed(change, scene) },
    { rule: '', committed: (change, scene) => void waves.committed(change, scene) },
    unavailableWithinBudget(availability, waves),
    waveByWave(availability, waves),
    closedWavesStayStable(waves),
    failuresWithinBudget(availability, waves),
    acknowledgedIsStored(),
    nothingStopsUnasked(),
    stoppedStaysStopped(),
    nothingVanishes(),
    taintEvictionsWait(),
    offlineNodesAreNotEvicted(),
    handoversKeepToWindows(waves),
    busyHostsDecide(),
    revertsHaveReason(),
    statusIsTrue(),
    // The first broken rule is reported: that only the leader has changed says more than that nothing else has.
    ...failoverRules(),
    ...valueRules(availability, waves),
    ...jobRules(),
    ...preemptionRules(),
  ];
}

/** Peers break this when a host comes back, or a manager is killed between two steps. */
function oneCopy(): Invariant {
  const surged = new DurationTracker<string>();
  return {
    rule: 'containers of two Pods of one DaemonSet never run on a node at once, unless its strategy surges',
    committed: ({ kind, current }, { nowMs }) => {
      if (kind === 'DaemonSet' && current) surged.note(current.metadata.uid ?? '', maySurge(current), nowMs);
      return undefined;
    },
    podStarted: (podUid, node, { stored: truth, running, nowMs }) => {
      const recordOf = (uid: string) => truth.everStoredPods.get(uid) ?? truth.acknowledgedPods.get(uid);
      const started = recordOf(podUid);
      if (
        !started?.controllerUid ||
        surged.isWithin(started.controllerUid, nowMs - started.createdAtMs + NEWS_MS, nowMs)
      )
        return undefined;
      const other = running(node).find((container) => {
        const beside = recordOf(container.podUid);
        return container.podUid !== podUid && beside?.controllerUid === started.controllerUid;
      });
      return (
        !other || `${started.name} starts on ${node} while ${other.podName} of the same DaemonSet runs there`
      );
    },
  };
}

/** In waves, each wave has a separate budget. Failed or unreachable hosts use none of it. */
function unavailableWithinBudget(availability: Availability, waves: WaveHistory): Invariant {
  return {
    rule: 'a rollout never stops an available Pod while the budget is used up',
    committed: (change, scene) => {
      const stopped = availability.stoppedByRollout(change, scene);
      if (!stopped) return undefined;
      const { pod, daemonSet, node } = stopped;
      const isByWaves = waves.mayGovern(daemonSet, scene);
      // A host whose values are refused uses no budget.
      const isRefused = (name: string) => hasNoValues(daemonSet, scene.stored.nodes.get(name), scene.stored);
      const without = availability.without(stopped, scene).filter((name) => !isRefused(name));
      const used = isByWaves
        ? without.filter(
            (name) => waves.isInOneWaveWith(node, name) && waves.countsIn(daemonSet, name, scene),
          )
        : without;
      const budget = availability.budgetOf(daemonSet, isByWaves ? 'inWaves' : 'upstream');
      availability.emptied(stopped);
      if (used.length < budget) return true;
      return `${pod.metadata.name} on ${node} serves and is told to stop; without already: ${used.join(' and ')}; ${budget} may be`;
    },
  };
}

function waveByWave(availability: Availability, waves: WaveHistory): Invariant {
  return {
    rule: 'where a policy governs, a rollout replaces only what is in an open wave, and nothing while it is paused or frozen',
    committed: (change, scene) => {
      const stopped = availability.stoppedByRollout(change, scene);
      if (!stopped || !waves.governs(stopped.daemonSet, scene)) return undefined;
      const { pod, daemonSet, node } = stopped;
      const told = `${pod.metadata.name} on ${node} serves and is told to stop`;
      if (waves.isPaused(scene)) return `${told} while the policy is paused`;
      if (waves.isFrozen(scene)) return `${told} in a freeze`;
      if (waves.mayBeOpen(daemonSet, pod, node, scene) || waves.mayGoBack(daemonSet, pod, scene)) return true;
      return `${told}; its wave is ${waves.of(node).join(' or ')}, open is up to ${waves.openIn(daemonSet, scene)}`;
    },
  };
}

function closedWavesStayStable(waves: WaveHistory): Invariant {
  return {
    rule: 'a Pod that is made in a wave that is not open is of the last completed revision',
    committed: ({ kind, previous, current }, scene) => {
      const daemonSet = kind === 'Pod' && !previous && current ? scene.stored.ownerOf(current) : undefined;
      // A host's own was judged when its turn was given.
      if (
        !daemonSet ||
        kind !== 'Pod' ||
        !current ||
        scene.stored.acknowledgedPods.has(current.metadata.uid ?? '') ||
        !waves.governs(daemonSet, scene) ||
        !waves.hasStable(daemonSet, scene)
      )
        return undefined;
      const nodeName = targetNodeOf(current) ?? '';
      if (!waves.isNewest(daemonSet, current, scene) || waves.mayBeOpen(daemonSet, current, nodeName, scene))
        return true;
      return `${current.metadata.name} of the newest revision is made on ${nodeName}, open is up to ${waves.openIn(daemonSet, scene)}`;
    },
  };
}

function failuresWithinBudget(availability: Availability, waves: WaveHistory): Invariant {
  return {
    rule: 'a rollout that has failed on more hosts than its budget allows replaces nothing more that serves',
    committed: (change, scene) => {
      const stopped = availability.stoppedByRollout(change, scene);
      if (!stopped || !waves.governs(stopped.daemonSet, scene)) return undefined;
      const { pod, daemonSet, node } = stopped;
      const allowed = scene.stored.policy?.spec.failureBudget?.maxFailed;
      if (typeof allowed !== 'number' || waves.isNewest(daemonSet, pod, scene)) return undefined;
      const failed = waves.failed(daemonSet, scene);
      if (failed.length <= allowed) return true;
      return `${pod.metadata.name} on ${node} serves and is told to stop; failed have ${failed.join(' and ')}, ${allowed} may`;
    },
  };
}

/** The disk never loses a write, so the write only needs to be there when the client receives the acknowledgement. */
function acknowledgedIsStored(): Invariant {
  return {
    rule: 'no acknowledged write is lost',
    acknowledged: ({ uid, name, revision, isDeletion }, { stored: truth }) => {
      const stored = truth.revisions.get(uid) ?? 0;
      if (stored < revision)
        return `${name} was acknowledged at revision ${revision}, on the disk it is at ${stored}`;
      const present =
        truth.pods.get(uid) ??
        truth.nodes.get(name) ??
        truth.daemonSets.get(uid) ??
        truth.daemonJobs.get(uid) ??
        truth.hostValues.get(name);
      const isKept = isDeletion && present?.metadata.uid === uid && !isLeaving(present);
      return !isKept || `the deletion of ${name} was acknowledged, and it stays`;
    },
  };
}

/** A host with a cut cable cannot receive later requests: its containers stay. */
function nothingStopsUnasked(): Invariant {
  /** When each Pod was first to go, by uid. */
  const asked = new Map<string, number>();
  /** Uid of the Pod that a node evicted or rejected last, and when. */
  const givenUp = new Map<string, { uid: string; atMs: number }>();
  /** True while a host may evict or reject the Pod: it has, or recently had, a shortage, and no predecessor runs. */
  const mayGiveUp = (uid: string, node: string, { hostOf, running, nowMs }: ObservedWorld): boolean => {
    if (nowMs - (hostOf(node).resourcesShortAtMs ?? Number.NEGATIVE_INFINITY) > NEWS_MS) return false;
    const last = givenUp.get(node);
    const isFirst = last?.uid === uid || !running(node).some(({ podUid }) => podUid === last?.uid);
    if (!isFirst && last && nowMs - last.atMs < NEWS_MS) return false;
    if (last?.uid !== uid) givenUp.set(node, { uid, atMs: nowMs });
    return true;
  };
  return {
    rule: 'a container is stopped only when its Pod was deleted, where the link is cut only when that was before; or by a turn of its host, or by a host that is short of something, one Pod after another',
    handoverStarted: ({ podUid }) => void asked.set(podUid, 0),
    podReverted: ({ podUid }) => void asked.set(podUid, 0),
    committed: ({ kind, previous, current }, { stored: truth, nowMs }) => {
      const { uid = '', name } = (current ?? previous)?.metadata ?? {};
      const ask = (podUid: string) => asked.set(podUid, asked.get(podUid) ?? nowMs);
      if (kind === 'Pod' && (!current || isLeaving(current))) ask(uid);
      // A deleted Node's Pods stop.
      if (kind !== 'Node' || current) return undefined;
      for (const pod of truth.pods.values()) if (pod.spec.nodeName === name) ask(pod.metadata.uid ?? '');
      return undefined;
    },
    podStopped: (podUid, node, scene) => {
      const { stored: truth, cutSinceMs } = scene;
      const known = truth.everStoredPods.get(podUid);
      // A static Pod is the host's own.
      if (!known) return undefined;
      const askedAtMs = asked.get(podUid);
      const told = `a container of ${known.name} is stopped on ${node}`;
      if (askedAtMs === undefined)
        return (
          !truth.pods.has(podUid) || mayGiveUp(podUid, node, scene) || `${told}, and nobody asked for that`
        );
      const since = cutSinceMs(node);
      const mayKnow = since === undefined || askedAtMs <= since;
      return mayKnow || mayGiveUp(podUid, node, scene) || `${told}, which cannot know that it is to go`;
    },
  };
}

/** A Pod that waits for its host may only be removed when its containers have stopped permanently. */
function stoppedStaysStopped(): Invariant {
  /** Uids that left after their host's word. */
  const confirmed = new Set<string>();
  return {
    rule: 'what a host was asked to stop has stopped when its Pod leaves the store, and never starts again',
    committed: ({ kind, previous, current }, { stored: truth, userRequests: wishes, running }) => {
      if (kind !== 'Pod' || !previous || current) return undefined;
      const { uid = '', name } = previous.metadata;
      const { nodeName = '' } = previous.spec;
      const hasEnded = previous.status?.phase === 'Failed' || previous.status?.phase === 'Succeeded';
      if (wishes.forced.has(uid) || hasEnded || !truth.nodes.has(nodeName)) return undefined;
      confirmed.add(uid);
      const still = running(nodeName).some(({ podUid }) => podUid === uid);
      return !still || `${name} left the store while its container runs on ${nodeName}`;
    },
    podStarted: (podUid, node, { stored: truth }) =>
      confirmed.has(podUid) && !truth.pods.has(podUid)
        ? `${truth.everStoredPods.get(podUid)?.name} starts on ${node} after it was stopped, confirmed and removed`
        : undefined,
  };
}

function nothingVanishes(): Invariant {
  /** Nodes that were deleted, or drove Pods away, some time: their Pods may go. */
  const drivenOut = new Set<string>();
  return {
    rule: 'no object goes that nobody deleted',
    committed: ({ kind, previous, current }, { stored: truth, userRequests: wishes }) => {
      if (kind === 'Node') {
        const evicts = current?.spec?.taints?.some(({ effect }) => effect === 'NoExecute');
        if (!current || evicts) drivenOut.add((current ?? previous)?.metadata.name ?? '');
      }
      if (!previous || current) return undefined;
      // Only a controller removes its own objects. The check at the end shows whether it removed the right ones.
      if (kind === 'Rollout' || kind === 'ControllerRevision' || kind === 'DaemonJobResult') return undefined;
      if (kind === 'DaemonJob' && previous.spec.ttlSecondsAfterFinished !== undefined) return undefined;
      const isMade =
        kind === 'Pod' &&
        (truth.everStoredPods.get(previous.metadata.uid ?? '')?.controllerUid ||
          controllerOf(previous.metadata));
      // A Pod for a Node that never registered is deleted, like upstream.
      const mayGo = (node: string) => drivenOut.has(node) || !truth.nodes.has(node);
      if (isMade || (kind === 'Pod' && mayGo(previous.spec.nodeName ?? ''))) return undefined;
      if (kind === 'Pod' && isPreempted(previous)) return undefined;
      const isWished = wishes.deleted.has(previous.metadata.uid ?? '');
      return isWished || `${kind} ${previous.metadata.name} is gone, and nobody asked for that`;
    },
  };
}

function statusIsTrue(): Invariant {
  const figures = new FigureHistory();

  const lie = (daemonSet: DaemonSet, previous: DaemonSet | undefined): Verdict => {
    const { uid = '', generation = 0, name } = daemonSet.metadata;
    const { status } = daemonSet;
    const observed = status?.observedGeneration;
    if (!status || observed === undefined) return undefined;
    if (observed > generation)
      return `${name} says it observed generation ${observed}, which is not there yet`;
    const before = previous?.metadata.uid === uid ? (previous?.status?.observedGeneration ?? 0) : 0;
    if (observed < before)
      return `${name} says it observed generation ${observed}, and said ${before} before`;
    const seen = figures.of(uid, observed);
    if (!seen) return undefined;
    const always = [...seen.belonged].filter((node) => !seen.notBelonged.has(node)).length;
    const says = `${name} says of generation ${observed}:`;
    if ((status.updatedNumberScheduled ?? 0) > seen.updated.size)
      return `${says} ${status.updatedNumberScheduled} updated; never more than ${seen.updated.size} were`;
    if ((status.numberAvailable ?? 0) > seen.ready.size)
      return `${says} ${status.numberAvailable} available; never more than ${seen.ready.size} were ready`;
    if (status.desiredNumberScheduled > seen.belonged.size || status.desiredNumberScheduled < always)
      return `${says} ${status.desiredNumberScheduled} desired; it was ${always} to ${seen.belonged.size}`;
    return true;
  };

  return {
    rule: 'observedGeneration never tells a lie: the figures beside it were true of that generation',
    committed: ({ kind, previous, current }, scene) => {
      figures.committed(scene);
      if (kind !== 'DaemonSet' || !current) return undefined;
      const isStatus = JSON.stringify(previous?.status) !== JSON.stringify(current.status);
      return isStatus ? lie(current, previous) : undefined;
    },
  };
}
