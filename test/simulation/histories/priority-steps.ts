/** The requests of users who give Pods priorities. */
import { daemonSetKind, podKind, priorityClassKind } from '../../../coordinator/kinds/index.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  changed,
  cordoned,
  created,
  deleted,
  type Request,
  refOf,
  type UserDeps,
} from './api-request-steps.js';
import type { Rank, UserStep } from './history.js';
import { rankedPod, setRank } from './history-manifests.js';

type PriorityStep = Extract<
  UserStep,
  { kind: 'create classes' | 'rank daemonset' | 'create ranked pod' | 'delete ranked pod' | 'create rivals' }
>;

const VALUES: Record<Rank, number> = { low: -10, mid: 100, high: 1_000 };

export function priorityRequests(step: PriorityStep, parts: UserDeps): Request[] {
  switch (step.kind) {
    case 'create classes':
      return Object.entries(VALUES).map(
        ([name, value]): Request =>
          async (registry) => {
            await registry.create(priorityClassKind, undefined, { metadata: { name }, value });
            return [];
          },
      );
    case 'rank daemonset':
      return [
        (registry) =>
          changed(registry, daemonSetKind, refOf(step.name), ({ spec }) =>
            setRank(spec, step.rank, step.cpu),
          ),
      ];
    case 'create ranked pod':
      return [(registry) => created(registry, podKind, rankedPod(step))];
    case 'create rivals':
      return [
        (registry) => cordoned(registry, step.node, true),
        ...step.rivals.map(
          (rival): Request =>
            (registry) =>
              created(registry, podKind, rankedPod({ ...rival, ...step })),
        ),
        (registry) => cordoned(registry, step.node, false),
      ];
    case 'delete ranked pod':
      return [(registry) => deleted(registry, podKind, refOf(step.name), parts, {})];
  }
}

/** Deletes all ranked Pods, so that there is room for all Pods of the DaemonSets. */
export function returnRoom(parts: UserDeps): Request[] {
  const isRanked = ({ metadata }: Pod) => metadata.name.startsWith('ranked-');
  return [...parts.stored.pods.values()].filter(isRanked).map(
    ({ metadata }): Request =>
      (registry) =>
        deleted(registry, podKind, refOf(metadata.name), parts, {}),
  );
}
