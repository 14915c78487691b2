/** Rules on what must survive a change of the leader: containers, and the place of a rollout in its steps. */
import type { ControllerRevision } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import type { Invariant, Verdict } from './invariants.js';
import type { ObservedWorld } from './observed-world.js';
import { isLeaving, type StoredChange } from './stored-truth.js';

/** The rule of the replicated log itself, which several coordinators share. */
export const FLEET_RULE = 'only the leader of its term appends to the log, in order';

export function failoverRules(): Invariant[] {
  return [
    { rule: FLEET_RULE, termBegan: () => true },
    failoversTouchNoContainer(),
    wavesOpenOnceInOrder(),
    handoversBeginOnce(),
    revisionsAreNumberedOnce(),
  ];
}

/** Judged while all else is at rest, because then a change has no other cause. */
function failoversTouchNoContainer(): Invariant {
  const unlessAlone = (what: string, { failoverAlone }: ObservedWorld): Verdict =>
    failoverAlone ? `${what}, and only the leader had changed` : undefined;
  return {
    rule: 'a failover alone starts, stops and replaces no container, and makes no revision',
    termBegan: ({ failoverAlone }) => failoverAlone || undefined,
    podStarted: (podUid, node, scene) =>
      unlessAlone(`a container of ${nameOf(podUid, scene)} starts on ${node}`, scene),
    podStopped: (podUid, node, scene) =>
      unlessAlone(`a container of ${nameOf(podUid, scene)} is stopped on ${node}`, scene),
    handoverStarted: ({ podUid }, node, scene) =>
      unlessAlone(`${node} replaces ${nameOf(podUid, scene)}`, scene),
    committed: ({ kind, previous, current }, scene) => {
      const isStep = kind === 'Pod' || kind === 'ControllerRevision';
      if (!isStep || (previous && current && isLeaving(previous) === isLeaving(current))) return undefined;
      const what = previous ? (current ? 'is deleted' : 'is gone') : 'is made';
      return unlessAlone(`${kind} ${(current ?? previous)?.metadata.name} ${what}`, scene);
    },
  };
}

function nameOf(podUid: string, { stored }: ObservedWorld): string {
  return stored.everStoredPods.get(podUid)?.name ?? podUid;
}

/** Judged by the stored decisions. A new leader that lost its place would open the first wave again, or a later one early. */
function wavesOpenOnceInOrder(): Invariant {
  /** By uid of the Rollout: the policy under which its last wave was opened. */
  const policies = new Map<string, string>();
  return {
    rule: 'a rollout opens each wave once, and only after all hosts of the waves before it',
    committed: (change, scene) => {
      if (change.kind !== 'Rollout' || !change.current?.status) return undefined;
      const { metadata, status } = change.current;
      const policy = JSON.stringify(scene.stored.policy?.spec.waves ?? []);
      const isSamePolicy = policies.get(metadata.uid ?? '') === policy;
      policies.set(metadata.uid ?? '', policy);
      const before = change.previous?.status;
      if (!before || !isSamePolicy || !isSameAttempt(before, status)) return undefined;
      return waveStep(metadata.name, before, status);
    },
  };
}

function isSameAttempt(before: RolloutStatus, now: RolloutStatus): boolean {
  return before.revision === now.revision && before.retryTime === now.retryTime;
}

function waveStep(name: string, before: RolloutStatus, { waves, wave }: RolloutStatus): Verdict {
  const indexOf = (one: string) => waves.findIndex((each) => each.name === one);
  const [from, to] = [indexOf(before.wave), indexOf(wave)];
  if (to === from) return undefined;
  if (to < from) return `${name} goes back from wave ${before.wave} to ${wave || 'none'}`;
  const left = waves
    .slice(0, to)
    .find((one) => one.nodes > one.updated + one.failed + one.deferred + one.skipped);
  return !left || `${name} opens wave ${wave} while wave ${left.name} is not done: ${JSON.stringify(left)}`;
}

function handoversBeginOnce(): Invariant {
  /** By uid of a Pod: uid of the successor that its host has begun. */
  const begun = new Map<string, string>();
  return {
    rule: 'a host begins one successor of a Pod, and another one only after a revert',
    handoverStarted: ({ podUid, successorUid }, node, scene) => {
      const other = begun.get(podUid);
      begun.set(podUid, successorUid);
      if (other === undefined || other === successorUid) return true;
      return `${node} replaces ${nameOf(podUid, scene)} by ${successorUid} after it has begun ${other}`;
    },
    podReverted: ({ podUid: revertedUid }) => {
      for (const [podUid, successorUid] of begun) if (successorUid === revertedUid) begun.delete(podUid);
      return undefined;
    },
  };
}

function revisionsAreNumberedOnce(): Invariant {
  return {
    rule: 'each template of a DaemonSet has one revision, and a new one the next number',
    committed: (change: StoredChange, { stored }) => {
      if (change.kind !== 'ControllerRevision' || !change.current) return undefined;
      const { previous, current } = change;
      if (previous?.revision === current.revision) return undefined;
      const owner = controllerOf(current.metadata)?.uid;
      const others = [...stored.controllerRevisions.values()].filter(
        (one) => one.metadata.uid !== current.metadata.uid && controllerOf(one.metadata)?.uid === owner,
      );
      return revisionProblem(current, previous, others) ?? true;
    },
  };
}

function revisionProblem(
  current: ControllerRevision,
  previous: ControllerRevision | undefined,
  others: readonly ControllerRevision[],
): string | undefined {
  const { name } = current.metadata;
  const twin = others.find(({ data }) => JSON.stringify(data) === JSON.stringify(current.data));
  if (twin) return `${name} has the template of ${twin.metadata.name}`;
  const last = Math.max(previous?.revision ?? 0, ...others.map(({ revision }) => revision));
  return current.revision === last + 1
    ? undefined
    : `${name} has number ${current.revision}, the last one is ${last}`;
}
