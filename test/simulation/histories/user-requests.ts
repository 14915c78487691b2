/** Simulated users. Each step is a request of one client, which retries when the coordinator does not respond. */
import { daemonSetKind, nodeKind, podKind } from '../../../coordinator/kinds/index.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { AcknowledgedWrite } from '../rules/invariants.js';
import { hasTemplateGeneration } from '../rules/reference-placement.js';
import type { StoredState } from '../rules/stored-truth.js';
import {
  changed,
  cordoned,
  created,
  deleted,
  type Request,
  refOf,
  type UserDeps,
} from './api-request-steps.js';
import type { UserStep } from './history.js';
import { barePod, manifestOf, setImage, setSelector, strategyOf, tolerantPod } from './history-manifests.js';
import { jobRequests } from './job-steps.js';
import { policyRequests } from './policy-steps.js';
import { priorityRequests } from './priority-steps.js';
import { valueRequests } from './value-steps.js';

/** The requests of a step, one after another. */
export function requestsOf(step: UserStep, parts: UserDeps): Request[] {
  switch (step.kind) {
    case 'create daemonset':
      return [(registry) => created(registry, daemonSetKind, manifestOf(step))];
    case 'set image':
      return [
        (registry) =>
          changed(registry, daemonSetKind, refOf(step.name), ({ spec }) => setImage(spec, step.image)),
      ];
    case 'set strategy':
      return [
        (registry) =>
          changed(registry, daemonSetKind, refOf(step.name), ({ spec }) => {
            spec.updateStrategy = strategyOf(step.strategy);
          }),
      ];
    case 'set selector':
      return [
        (registry) =>
          changed(registry, daemonSetKind, refOf(step.name), ({ spec }) => setSelector(spec, step.selector)),
      ];
    case 'delete daemonset':
      return [
        (registry) =>
          deleted(registry, daemonSetKind, refOf(step.name), parts, { propagationPolicy: step.policy }),
      ];
    case 'label node':
      return [
        (registry) =>
          changed(registry, nodeKind, { name: step.node }, ({ metadata }) => {
            const { zone: _, ...others } = metadata.labels ?? {};
            metadata.labels = step.zone ? { ...others, zone: step.zone } : others;
          }),
      ];
    case 'taint node':
      return [
        (registry) =>
          changed(registry, nodeKind, { name: step.node }, (node) => {
            const others = node.spec?.taints?.filter(({ key }) => key !== 'busy') ?? [];
            const taints = step.effect ? [...others, { key: 'busy', effect: step.effect }] : others;
            node.spec = { ...node.spec, taints };
          }),
      ];
    case 'delete pod':
      return [
        (registry) => deletePod(registry, podOn(parts.stored, step.node, step.index), step.force, parts),
      ];
    case 'evict pod':
      return [(registry) => evictPod(registry, podOn(parts.stored, step.node, step.index), parts)];
    case 'create pod':
      return [(registry) => created(registry, podKind, barePod(step))];
    case 'replace pod':
      return [
        (registry) => deleted(registry, podKind, refOf(step.name), parts, { gracePeriodSeconds: 0 }),
        (registry) => created(registry, podKind, barePod(step)),
      ];
    case 'delete node':
      return [(registry) => deleted(registry, nodeKind, { name: step.node }, parts, {})];
    case 'create tolerant pod':
      return [(registry) => created(registry, podKind, tolerantPod(step))];
    case 'cordon node':
      return [(registry) => cordoned(registry, step.node, step.isCordoned)];
    case 'set policy':
    case 'set host policy':
    case 'freeze':
    case 'pause policy':
    case 'approve wave':
    case 'delete policy':
      return policyRequests(step, parts);
    case 'create classes':
    case 'rank daemonset':
    case 'create ranked pod':
    case 'delete ranked pod':
    case 'create rivals':
      return priorityRequests(step, parts);
    case 'use values':
    case 'set values':
    case 'delete values':
      return valueRequests(step, parts);
    case 'create job':
    case 'suspend job':
    case 'rerun job':
    case 'set parallelism':
    case 'delete job':
    case 'delete job result':
    case 'edit job pod':
      return jobRequests(step, parts);
    case 'wait':
      return [];
  }
}

/** Puts right what would keep a Pod from ever being ready; what no rollout replaces is deleted. */
export function repairImages(parts: UserDeps): Request[] {
  const { stored: truth } = parts;
  const isBad = (image: string) => /broken|crash|absent/.test(image);
  const sets = [...truth.daemonSets.values()].filter(({ spec }) =>
    spec.template.spec.containers.some(({ image }) => isBad(image)),
  );
  const isRolled = (pod: Pod) => {
    const owner = truth.ownerOf(pod);
    return owner?.spec.updateStrategy?.type === 'RollingUpdate' && !hasTemplateGeneration(pod, owner);
  };
  const pods = [...truth.pods.values()].filter(
    (pod) => pod.spec.containers.some(({ image }) => isBad(image)) && !isRolled(pod),
  );
  return [
    ...sets.map(
      ({ metadata }): Request =>
        (registry) =>
          changed(registry, daemonSetKind, refOf(metadata.name), ({ spec }) => setImage(spec, 'app:1')),
    ),
    ...pods.map(
      (pod): Request =>
        (registry) =>
          deletePod(registry, pod, false, parts),
    ),
  ];
}

async function deletePod(
  registry: Registry,
  pod: Pod | undefined,
  force: boolean,
  parts: UserDeps,
): Promise<AcknowledgedWrite[]> {
  if (!pod) return [];
  return deleted(registry, podKind, refOf(pod.metadata.name), parts, force ? { gracePeriodSeconds: 0 } : {});
}

async function evictPod(
  registry: Registry,
  pod: Pod | undefined,
  { deleting }: UserDeps,
): Promise<AcknowledgedWrite[]> {
  if (!pod) return [];
  deleting(pod, false);
  const { uid = '' } = pod.metadata;
  await registry.evict(refOf(pod.metadata.name), { preconditions: { uid } });
  return [{ uid, name: pod.metadata.name, revision: 0, isDeletion: true }];
}

function podOn({ pods }: StoredState, node: string, index: number): Pod | undefined {
  const there = [...pods.values()].filter(({ spec }) => spec.nodeName === node);
  return there[index % Math.max(there.length, 1)];
}
