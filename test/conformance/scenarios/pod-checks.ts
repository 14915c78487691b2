/** Expectations about Pods. */

import { controllerOf } from '../../../shared/kube/objects/meta.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { requireKeys } from '../tables/conformance-table.js';
import { imageOf, isLive, ownerName, podsOfSet } from './cluster-snapshot.js';
import {
  isReady,
  mostNodesWithTwoPods,
  onePodPerNodeAndRevision,
  replayPods,
  shortestOverlapSeconds,
  unavailableCounts,
} from './pod-replay.js';
import {
  type Check,
  daemonSetIn,
  type ExpectationContext,
  expectEqual,
  expectTrue,
} from './scenario-check.js';

const POD_KEYS = ['image', 'count', 'ready', 'same', 'owner', 'terminating'];

function setPods({ now, set }: ExpectationContext): Pod[] {
  return podsOfSet(now.pods, set);
}

function uidsBefore({ before }: ExpectationContext): Set<string | undefined> {
  return new Set(before.pods.map((pod) => pod.metadata.uid));
}

function momentsOfLook(look: ExpectationContext) {
  return replayPods(podsOfSet(look.before.pods, look.set), look.recording.podEvents(look.set));
}

function describePod(pod: Pod, look: ExpectationContext): Record<string, unknown> {
  return {
    image: imageOf(pod),
    ready: isReady(pod),
    same: uidsBefore(look).has(pod.metadata.uid),
    owner: ownerName(pod),
  };
}

const pods: Check = (expected, look) => {
  const got: Record<string, unknown> = {};
  let fine = true;
  for (const [node, wanted] of Object.entries(expected as Record<string, Record<string, unknown>>)) {
    requireKeys(wanted, POD_KEYS, `pods.${node}`);
    const { count, terminating = false, ...properties } = wanted;
    const there = setPods(look).filter((pod) => targetNodeOf(pod) === node && isLive(pod) !== terminating);
    const described = there.map((pod) => describePod(pod, look));
    const matches = described.every((pod) =>
      Object.entries(properties).every(([key, value]) => pod[key] === value),
    );
    if (!matches || (count !== undefined && there.length !== count)) fine = false;
    got[node] = described;
  }
  return expectTrue(fine, got);
};

function countBy(
  look: ExpectationContext,
  keyOf: (pod: Pod) => string | null | undefined,
  keys: readonly string[],
) {
  const live = look.now.pods.filter(isLive);
  return Object.fromEntries(keys.map((key) => [key, live.filter((pod) => keyOf(pod) === key).length]));
}

function keptPods(look: ExpectationContext, kept: boolean): number {
  const before = uidsBefore(look);
  return setPods(look).filter((pod) => isLive(pod) && before.has(pod.metadata.uid) === kept).length;
}

const survivor: Check = (expected, look) => {
  if (expected !== 'oldest') throw new Error(`survivor: unknown value ${String(expected)}`);
  const created = look.recording.podEvents(look.set).map(({ pod }) => pod);
  const all = [...podsOfSet(look.before.pods, look.set), ...created];
  const oldest = all.map((pod) => pod.metadata.creationTimestamp ?? '').sort()[0];
  const left = setPods(look).filter(isLive);
  const got = left.map((pod) => pod.metadata.creationTimestamp);
  return expectTrue(left.length === 1 && got[0] === oldest, got);
};

const released: Check = (expected, look) => {
  requireKeys(expected, ['node', 'stillRunning', 'owner'], 'released');
  const { node, stillRunning, owner } = expected as Record<string, unknown>;
  const owned = look.before.pods.find((pod) => targetNodeOf(pod) === node && ownerName(pod) === look.set);
  const pod = look.now.pods.find((one) => one.metadata.uid === owned?.metadata.uid);
  const got = {
    node,
    stillRunning: pod !== undefined && isLive(pod) && pod.status?.phase === 'Running',
    owner: pod ? ownerName(pod) : undefined,
  };
  return expectTrue(got.stillRunning === stillRunning && (owner === undefined || got.owner === owner), got);
};

const EACH_POD_KEYS = [
  'affinityPinsToOwnNode',
  'generateName',
  'controllerOwner',
  'tolerationsInclude',
  'tolerationsExclude',
  'labelsInclude',
];

interface Pin {
  terms?: number;
  matchFields?: unknown;
}

function pinOf(pod: Pod, wanted: Pin): boolean {
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const own = JSON.stringify(wanted.matchFields).replaceAll('<node>', targetNodeOf(pod) ?? '');
  const fields = [
    wanted.matchFields === undefined || terms.every((term) => JSON.stringify(term.matchFields) === own),
  ];
  return terms.length === (wanted.terms ?? terms.length) && fields.every(Boolean);
}

function tolerationKeys(pod: Pod): string[] {
  return (pod.spec.tolerations ?? [])
    .filter((toleration) => toleration.operator === 'Exists')
    .map((toleration) => `${toleration.key ?? ''}:${toleration.effect ?? ''}`);
}

function matchesEachPod(pod: Pod, wanted: Record<string, unknown>): boolean {
  const owner: Record<string, unknown> = { ...controllerOf(pod.metadata) };
  const has = tolerationKeys(pod);
  const list = (key: string) => (wanted[key] as string[] | undefined) ?? [];
  return (
    (wanted.generateName === undefined || pod.metadata.generateName === wanted.generateName) &&
    (wanted.affinityPinsToOwnNode === undefined || pinOf(pod, wanted.affinityPinsToOwnNode as Pin)) &&
    Object.entries(wanted.controllerOwner ?? {}).every(([key, value]) => owner[key] === value) &&
    list('tolerationsInclude').every((key) => has.includes(key)) &&
    !list('tolerationsExclude').some((key) => has.includes(key)) &&
    list('labelsInclude').every((key) => pod.metadata.labels?.[key] !== undefined)
  );
}

const eachPod: Check = (expected, look) => {
  requireKeys(expected, EACH_POD_KEYS, 'eachPod');
  const all = setPods(look);
  const fine = all.length > 0 && all.every((pod) => matchesEachPod(pod, expected as Record<string, unknown>));
  return expectTrue(
    fine,
    all.map((pod) => ({ metadata: pod.metadata, spec: pod.spec })),
  );
};

const recreations: Check = (expected, look) => {
  requireKeys(expected, ['min', 'max'], 'recreations');
  const { min = 0, max = Number.POSITIVE_INFINITY } = expected as { min?: number; max?: number };
  const before = uidsBefore(look);
  const made = new Set(
    look.recording
      .podEvents(look.set)
      .map(({ pod }) => pod.metadata.uid)
      .filter((uid) => !before.has(uid)),
  ).size;
  return expectTrue(made >= min && made <= max, made);
};

const always: Check = (expected, look) => {
  requireKeys(
    expected,
    ['maxNodesWithTwoPods', 'onePodPerNodeAndRevision', 'oldDeletedAfterNewReadySeconds'],
    'always',
  );
  const wanted = expected as Record<string, number | boolean | undefined>;
  const moments = momentsOfLook(look);
  const got = {
    maxNodesWithTwoPods: mostNodesWithTwoPods(moments),
    onePodPerNodeAndRevision: onePodPerNodeAndRevision(moments),
    oldDeletedAfterNewReadySeconds: shortestOverlapSeconds(moments),
  };
  const fine =
    got.maxNodesWithTwoPods <= Number(wanted.maxNodesWithTwoPods ?? Number.POSITIVE_INFINITY) &&
    (wanted.onePodPerNodeAndRevision !== true || got.onePodPerNodeAndRevision) &&
    got.oldDeletedAfterNewReadySeconds >= Number(wanted.oldDeletedAfterNewReadySeconds ?? 0) - 1;
  return expectTrue(fine, got);
};

function unavailable(look: ExpectationContext): number[] {
  const minReadySeconds = daemonSetIn(look.now, look.set)?.spec.minReadySeconds ?? 0;
  return unavailableCounts(momentsOfLook(look), minReadySeconds);
}

export const POD_CHECKS: Readonly<Record<string, Check>> = {
  pods,
  podsTotal: (expected, { now }) => expectEqual(expected, now.pods.filter(isLive).length),
  podsOf: (expected, look) =>
    expectEqual(expected, countBy(look, ownerName, Object.keys(expected as object))),
  podsWithImage: (expected, look) =>
    expectEqual(expected, countBy(look, imageOf, Object.keys(expected as object))),
  unchangedPods: (expected, look) => expectEqual(expected, keptPods(look, true)),
  changedPods: (expected, look) => expectEqual(expected, keptPods(look, false)),
  survivor,
  released,
  eachPod,
  restartCountAtLeast: (expected, look) => {
    const counts = setPods(look).map((pod) => pod.status?.containerStatuses?.[0]?.restartCount ?? 0);
    return expectTrue(Math.max(0, ...counts) >= Number(expected), counts);
  },
  recreations,
  neverMoreUnavailableThan: (expected, look) => {
    const most = Math.max(...unavailable(look));
    return expectTrue(most <= Number(expected), most);
  },
  seenUnavailableAtOnce: (expected, look) => {
    const most = Math.max(...unavailable(look));
    return expectTrue(most >= Number(expected), most);
  },
  always,
};
