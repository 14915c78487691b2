/**
 * The independent checker: compares the containers of each host's engine, the objects of the API, and the requested
 * state. It shares no rule with the product.
 */

import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import { findCondition, isConditionTrue } from '../../shared/kube/objects/conditions.js';
import { controllerOf } from '../../shared/kube/objects/meta.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { EngineContainer } from '../harness/engines/engine-containers.js';
import type { RequestedDaemonSet } from './requested-state.js';

/** A container with its start time according to the engine. */
export type ObservedHostContainer = EngineContainer & { startedAt?: string };

export interface ObservedHost {
  name: string;
  /** All containers of the engine, including exited ones; undefined if the engine does not respond. */
  containers: readonly ObservedHostContainer[] | undefined;
  /** Name of the container that does not belong to Everynode. */
  bystander: string;
}

/** All observations of one check. */
export interface ObservedFleet {
  hosts: readonly ObservedHost[];
  nodes: readonly Node[];
  pods: readonly Pod[];
  daemonSets: readonly DaemonSet[];
}

export interface ExpectedState {
  daemonSets: readonly RequestedDaemonSet[];
  /** True if this host must run a Pod of the DaemonSet. */
  belongs: (daemonSet: RequestedDaemonSet, host: string) => boolean;
  /**
   * All errors that the coordinator's clock has had, ms. Times that were reported to it during an error keep that
   * error.
   */
  clockErrorsMs: Iterable<number>;
}

/** The coordinator derives times from messages and stores whole seconds. */
const TIME_TOLERANCE_MS = 3_000;
/** The coordinator notices a clock step a little later and never stores a time ahead of its clock. */
const SET_CLOCK_TOLERANCE_MS = 10_000;

/**
 * Differences from the required state after all faults have ended and everything has settled. Empty if there are none.
 */
export function problemsOf(seen: ObservedFleet, wanted: ExpectedState): string[] {
  return [
    ...seen.hosts.flatMap((host) => hostProblems(host, seen)),
    ...wanted.daemonSets.flatMap((daemonSet) => daemonSetProblems(daemonSet, seen, wanted)),
    ...strangers(seen, wanted),
    ...seen.pods.flatMap((pod) => podProblems(pod, seen, wanted)),
  ];
}

function hostProblems(
  { name, containers, bystander }: ObservedHost,
  { nodes, pods }: ObservedFleet,
): string[] {
  const node = nodes.find(({ metadata }) => metadata.name === name);
  if (!node) return [`${name} is no Node`];
  if (!containers) return [`the engine of ${name} does not respond`];
  const missing = ['Ready', 'Connected'].find((type) => !isConditionTrue(node.status?.conditions, type));
  const taint = node.spec?.taints?.find(({ key }) => key.startsWith('node.kubernetes.io/'));
  const uids = new Set(pods.filter(({ spec }) => spec.nodeName === name).map(({ metadata }) => metadata.uid));
  const orphans = containers.filter(({ podUID }) => podUID !== undefined && !uids.has(podUID));
  return [
    ...(missing ? [`Node ${name} is not ${missing}`] : []),
    ...(taint ? [`Node ${name} keeps the taint ${taint.key}`] : []),
    ...orphans.map(
      ({ podName, state }) =>
        `${name} has a container (${state}) of ${podName}, which is not a Pod of this host`,
    ),
    ...(containers.some(({ id }) => id === bystander) ? [] : [`${name} lost the bystander container`]),
  ];
}

function daemonSetProblems(
  daemonSet: RequestedDaemonSet,
  seen: ObservedFleet,
  wanted: ExpectedState,
): string[] {
  const { name, version } = daemonSet;
  const stored = seen.daemonSets.find(({ metadata }) => metadata.name === name);
  if (!stored) return [`DaemonSet ${name} was requested and does not exist`];
  const [container] = stored.spec.template.spec.containers;
  const reported = container?.env?.find((variable) => variable.name === 'VERSION')?.value;
  if (container?.image !== daemonSet.image || reported !== version)
    return [
      `DaemonSet ${name} has version ${reported} and image ${container?.image}; acknowledged were ${version} and ${daemonSet.image}`,
    ];
  const places = seen.hosts.flatMap(({ name: host }) => {
    const pods = seen.pods.filter((pod) => isOf(pod, stored) && pod.spec.nodeName === host);
    const count = wanted.belongs(daemonSet, host) ? 1 : 0;
    const old = pods.find((pod) => versionOf(pod) !== version);
    return [
      ...(pods.length === count ? [] : [`${name} has ${pods.length} Pods on ${host}, wanted ${count}`]),
      ...(old
        ? [`Pod ${old.metadata.name} on ${host} has version ${versionOf(old)}, wanted ${version}`]
        : []),
    ];
  });
  return places.length > 0 ? places : statusProblems(stored, daemonSet, seen, wanted);
}

function statusProblems(
  stored: DaemonSet,
  asked: RequestedDaemonSet,
  seen: ObservedFleet,
  wanted: ExpectedState,
): string[] {
  const count = seen.hosts.filter(({ name }) => wanted.belongs(asked, name)).length;
  const right = {
    observedGeneration: stored.metadata.generation,
    desiredNumberScheduled: count,
    currentNumberScheduled: count,
    numberReady: count,
    numberAvailable: count,
    updatedNumberScheduled: count,
    numberMisscheduled: 0,
  };
  return Object.entries(right).flatMap(([figure, value]) => {
    const reported = stored.status?.[figure as keyof typeof right] ?? 0;
    return reported === value
      ? []
      : [`DaemonSet ${asked.name} reports ${figure} ${reported}, expected ${value}`];
  });
}

/** Containers and Pods that no request explains. */
function strangers({ daemonSets, pods }: ObservedFleet, wanted: ExpectedState): string[] {
  const names = new Set(wanted.daemonSets.map(({ name }) => name));
  return [
    ...daemonSets
      .filter(({ metadata }) => !names.has(metadata.name))
      .map(({ metadata }) => `DaemonSet ${metadata.name} was deleted and exists`),
    ...pods
      .filter((pod) => !daemonSets.some((daemonSet) => isOf(pod, daemonSet)))
      .map(({ metadata }) => `Pod ${metadata.name} belongs to no DaemonSet`),
  ];
}

function podProblems(pod: Pod, { hosts }: ObservedFleet, { clockErrorsMs }: ExpectedState): string[] {
  const { name, uid, deletionTimestamp } = pod.metadata;
  const where = `Pod ${name} on ${pod.spec.nodeName}`;
  if (deletionTimestamp) return [`${where} is still terminating`];
  const own = hosts
    .find((host) => host.name === pod.spec.nodeName)
    ?.containers?.filter(({ podUID, state }) => podUID === uid && state === 'running');
  if (own?.length !== 1) return [`${where} has ${own?.length ?? 'no known'} running containers, wanted 1`];
  const [container] = own;
  const [status] = pod.status?.containerStatuses ?? [];
  const since = status?.state?.running?.startedAt;
  const image = pod.spec.containers[0]?.image ?? '';
  const expectations: [string, unknown, unknown][] = [
    ['phase', pod.status?.phase, 'Running'],
    ['Ready', findCondition(pod.status?.conditions, 'Ready')?.status, 'True'],
    ['image', container?.image.endsWith(image), true],
    ['containerID', status?.containerID?.replace(/^\w+:\/\//, ''), container?.id],
    ['restartCount', status?.restartCount, container?.attempt],
    [
      'startedAt',
      isNear(since, container?.startedAt, clockErrorsMs) || `${since}, not ${container?.startedAt}`,
      true,
    ],
  ];
  return expectations.flatMap(([what, reported, is]) =>
    reported === is ? [] : [`${where} reports ${what} ${reported}, expected ${is}`],
  );
}

/**
 * Containers that were replaced although their Pod and their host's engine were left alone. A cut link, a killed agent
 * or a killed coordinator must never cause this.
 */
export function replacedContainers(
  before: readonly ObservedHost[],
  after: ObservedFleet,
  isDisturbed: (host: string) => boolean,
): string[] {
  const uids = new Set(after.pods.map(({ metadata }) => metadata.uid));
  return before.flatMap(({ name, containers = [] }) => {
    if (isDisturbed(name)) return [];
    const now = after.hosts.find((host) => host.name === name)?.containers ?? [];
    return containers
      .filter(({ state, podUID }) => state === 'running' && podUID !== undefined && uids.has(podUID))
      .filter(({ id, startedAt }) => !now.some((each) => each.id === id && each.startedAt === startedAt))
      .map(
        ({ podName }) => `the container of ${podName} on ${name} was replaced without a fault or a request`,
      );
  });
}

/**
 * Containers that exited between two checks although their Pods were `kept`. A restored coordinator must never cause
 * this before an operator has confirmed the restore.
 */
export function stoppedWithoutRequest(
  before: readonly ObservedHost[],
  after: readonly ObservedHost[],
  { kept, isDisturbed }: { kept: readonly Pod[]; isDisturbed: (host: string) => boolean },
): string[] {
  const uids = new Set(kept.map(({ metadata }) => metadata.uid));
  return before.flatMap(({ name, containers = [] }) => {
    const now = after.find((host) => host.name === name)?.containers;
    if (isDisturbed(name) || !now) return [];
    return containers
      .filter(({ state, podUID }) => state === 'running' && uids.has(podUID))
      .filter(({ id }) => !now.some((each) => each.id === id && each.state === 'running'))
      .map(
        ({ podName }) => `the container of ${podName} on ${name} stopped before the restore was confirmed`,
      );
  });
}

/** DaemonSets that run twice on a host at the same time, by container name. DaemonSets with maxSurge may do so. */
export function duplicateContainers(
  containers: readonly EngineContainer[],
  surging: ReadonlySet<string>,
): string[] {
  const running = containers.filter(({ state, container }) => state === 'running' && container);
  const names = running.map(({ container }) => container ?? '');
  return [...new Set(names)].filter(
    (name) => !surging.has(name) && names.indexOf(name) !== names.lastIndexOf(name),
  );
}

function isOf(pod: Pod, { metadata }: DaemonSet): boolean {
  return controllerOf(pod.metadata)?.uid === metadata.uid;
}

function versionOf({ spec }: Pod): string | undefined {
  return spec.containers[0]?.env?.find(({ name }) => name === 'VERSION')?.value;
}

function isNear(
  reported: string | null | undefined,
  is: string | undefined,
  clockErrorsMs: Iterable<number>,
): boolean {
  const wrongByMs = Date.parse(reported ?? '') - Date.parse(is ?? '');
  const isSoByWrongClock = (errorMs: number) => Math.abs(wrongByMs - errorMs) <= SET_CLOCK_TOLERANCE_MS;
  return Math.abs(wrongByMs) <= TIME_TOLERANCE_MS || [...clockErrorsMs].some(isSoByWrongClock);
}
