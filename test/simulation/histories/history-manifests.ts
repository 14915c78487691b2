/** The objects that simulated users write. */

import type { DaemonSet, DaemonSetSpec } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { pinnedTo } from '../../harness/objects/object-builders.js';
import type { HandoverRules, Policy, Rank, Strategy, UserStep, Zone } from './history.js';

/** On every DaemonSet: the policy of a history selects them all. */
const GOVERNED = { governed: 'yes' };

export const POLICY = 'gentle';

/** A label that separates old from new Pods of a DaemonSet in any order of events. */
const VERSION = 'version';

export function manifestOf(step: Extract<UserStep, { kind: 'create daemonset' }>): object {
  const { name, image, strategy, minReadySeconds, graceSeconds, selector } = step;
  const spec: DaemonSetSpec = {
    selector: { matchLabels: { app: name } },
    updateStrategy: strategyOf(strategy),
    minReadySeconds,
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'app', image }], terminationGracePeriodSeconds: graceSeconds },
    },
  };
  setImage(spec, image);
  setSelector(spec, selector);
  const metadata = { name, labels: GOVERNED };
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec } satisfies DaemonSet;
}

export function strategyOf({
  type,
  ...rollingUpdate
}: Strategy): NonNullable<DaemonSetSpec['updateStrategy']> {
  return type === 'OnDelete' ? { type } : { type, rollingUpdate };
}

export function setImage(spec: DaemonSetSpec, image: string): void {
  const [present] = spec.template.spec.containers;
  spec.template.spec.containers = [{ ...present, name: 'app', image }];
  setVersion(spec);
}

export function setSelector(spec: DaemonSetSpec, zone: Zone | null): void {
  if (zone) spec.template.spec.nodeSelector = { zone };
  else delete spec.template.spec.nodeSelector;
  setVersion(spec);
}

/** Sets the class of the Pods, and the CPUs that they request. */
export function setRank({ template }: DaemonSetSpec, rank: Rank | null, cpu: string | null): void {
  const { priorityClassName: _, ...others } = template.spec;
  const containers = others.containers.map(({ resources: __, ...container }) => ({
    ...container,
    ...(cpu ? { resources: { requests: { cpu } } } : {}),
  }));
  template.spec = { ...others, containers, ...(rank ? { priorityClassName: rank } : {}) };
  setVersion({ template });
}

/** A Pod that the scheduler binds to the node. */
export function rankedPod(step: Omit<Extract<UserStep, { kind: 'create ranked pod' }>, 'kind'>): object {
  const { name, node, rank, cpu, graceSeconds } = step;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      ...pinnedTo(node),
      priorityClassName: rank,
      terminationGracePeriodSeconds: graceSeconds,
      containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu } } }],
    },
  };
}

/** Sets the label from the template fields that a step can change: see `versionOf`. */
export function setVersion({ template }: Pick<DaemonSetSpec, 'template'>): void {
  const { containers, nodeSelector, priorityClassName = '' } = template.spec;
  const cpu = containers[0]?.resources?.requests?.cpu ?? '';
  const rank = priorityClassName || cpu ? ` ${priorityClassName} ${cpu}` : '';
  const names = (containers[0]?.env ?? []).map(({ name }) => name).join(' ');
  const values = names ? ` with ${names}` : '';
  const version = `${containers[0]?.image} ${nodeSelector?.zone ?? 'anywhere'}${rank}${values}`;
  template.metadata = { ...template.metadata, annotations: { [VERSION]: version } };
}

export function barePod({ name, node, image }: { name: string; node: string; image: string }) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { nodeName: node, terminationGracePeriodSeconds: 5, containers: [{ name: 'app', image }] },
  };
}

export function tolerantPod(step: Extract<UserStep, { kind: 'create tolerant pod' }>): object {
  const pod = barePod(step);
  const keys = ['busy', 'node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
  const tolerations = keys.map((key) => ({
    ...{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: step.seconds },
  }));
  return { ...pod, spec: { ...pod.spec, tolerations } };
}

/** Waves by zone, so that labels alone decide the wave of a node. */
export function policySpec(policy: Policy, turns?: HandoverRules): RolloutPolicySpec {
  const { soakSeconds, approval, maxFailed, deadlineSeconds, action } = policy;
  return {
    selector: { matchLabels: GOVERNED },
    waves: [
      { name: 'first', nodeSelector: { matchLabels: { zone: 'a' } }, soakSeconds },
      { name: 'second', nodeSelector: { matchLabels: { zone: 'b' } }, soakSeconds, approval },
    ],
    ...(maxFailed !== null && {
      failureBudget: { maxFailed, progressDeadlineSeconds: deadlineSeconds, action },
    }),
    ...(turns && turnSpec(turns)),
  };
}

function turnSpec({ windowSeconds, confirmSeconds, lockSeconds: holdSeconds, prePulls }: HandoverRules) {
  return {
    ...(windowSeconds !== null && {
      windows: [{ schedule: '*/3 * * * *', durationSeconds: windowSeconds }],
    }),
    ...(confirmSeconds !== null && { confirm: { deadlineSeconds: confirmSeconds } }),
    ...(holdSeconds !== null && { updateLock: { maxSeconds: holdSeconds } }),
    ...(prePulls && { prePull: { aheadSeconds: 60, maxParallel: 1 } }),
  } satisfies Partial<RolloutPolicySpec>;
}
