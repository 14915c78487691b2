/** People at work: each step is what one client asks of the API, again after a while when nobody answers. */
import { daemonSetKind, nodeKind, podKind } from '../../coordinator/kinds/index.js';
import type { Kind } from '../../coordinator/kinds/kind.js';
import type { Registry } from '../../coordinator/registry/registry.js';
import type { KubeObject, ObjectRef } from '../../shared/kube/meta.js';
import type { Pod } from '../../shared/kube/pod.js';
import type { DaemonSet, DaemonSetSpec } from '../../shared/kube/workload.js';
import type { Strategy, UserStep, Zone } from './history.js';
import type { AcknowledgedWrite } from './invariants.js';
import { hasTemplateGeneration } from './reference.js';
import type { Truth } from './truth.js';

const NAMESPACE = 'default';
/** So that "the old Pods of this DaemonSet" can be told from its new ones in any order of events. */
export const VERSION = 'version';

/** The request of a step: what it answers is told when it was acknowledged. */
export type Request = (registry: Registry) => Promise<AcknowledgedWrite[]>;

/** What is deleted by a step is told before it is asked for, since it may happen unanswered. */
export interface UserParts {
  truth: Truth;
  deleting: (object: KubeObject, isForced: boolean) => void;
}

/** The requests of a step, one after another. */
export function requestsOf(step: UserStep, parts: UserParts): Request[] {
  switch (step.kind) {
    case 'create daemonset':
      return [(registry) => created(registry, daemonSetKind, manifestOf(step))];
    case 'set image':
      return [
        (registry) =>
          changed(registry, daemonSetKind, setRef(step.name), ({ spec }) => setImage(spec, step.image)),
      ];
    case 'set strategy':
      return [
        (registry) =>
          changed(registry, daemonSetKind, setRef(step.name), ({ spec }) => {
            spec.updateStrategy = strategyOf(step.strategy);
          }),
      ];
    case 'set selector':
      return [
        (registry) =>
          changed(registry, daemonSetKind, setRef(step.name), ({ spec }) => setSelector(spec, step.selector)),
      ];
    case 'delete daemonset':
      return [
        (registry) =>
          deleted(registry, daemonSetKind, setRef(step.name), parts, { propagationPolicy: step.policy }),
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
        (registry) => deletePod(registry, podOn(parts.truth, step.node, step.index), step.force, parts),
      ];
    case 'evict pod':
      return [(registry) => evictPod(registry, podOn(parts.truth, step.node, step.index), parts)];
    case 'create pod':
      return [(registry) => created(registry, podKind, barePod(step))];
    case 'replace pod':
      return [
        (registry) => deleted(registry, podKind, podRef(step.name), parts, { gracePeriodSeconds: 0 }),
        (registry) => created(registry, podKind, barePod(step)),
      ];
    case 'delete node':
      return [(registry) => deleted(registry, nodeKind, { name: step.node }, parts, {})];
  }
}

/** Puts right what would keep a Pod from ever being ready; what no rollout replaces is deleted. */
export function mendImages(parts: UserParts): Request[] {
  const { truth } = parts;
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
          changed(registry, daemonSetKind, setRef(metadata.name), ({ spec }) => setImage(spec, 'app:1')),
    ),
    ...pods.map(
      (pod): Request =>
        (registry) =>
          deletePod(registry, pod, false, parts),
    ),
  ];
}

function setRef(name: string): ObjectRef {
  return { namespace: NAMESPACE, name };
}

function podRef(name: string): ObjectRef {
  return { namespace: NAMESPACE, name };
}

async function created<T extends KubeObject>(
  registry: Registry,
  kind: Kind<T>,
  object: object,
): Promise<AcknowledgedWrite[]> {
  const record = await registry.create(kind, NAMESPACE, object, { fieldManager: 'user' });
  return [acknowledged(record.object().metadata, record.revision)];
}

async function changed<T extends KubeObject>(
  registry: Registry,
  kind: Kind<T>,
  ref: ObjectRef,
  change: (object: T) => void,
): Promise<AcknowledgedWrite[]> {
  const edit = (object: T): undefined => change(object) as undefined;
  const record = await registry.modify(kind, ref, edit, { fieldManager: 'user' });
  return [acknowledged(record.object().metadata, record.revision)];
}

async function deleted<T extends KubeObject>(
  registry: Registry,
  kind: Kind<T>,
  ref: ObjectRef,
  { deleting }: UserParts,
  options: { gracePeriodSeconds?: number; propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' },
): Promise<AcknowledgedWrite[]> {
  const present = (await registry.get(kind, ref)).object();
  const { uid = '' } = present.metadata;
  deleting(present, options.gracePeriodSeconds === 0);
  const result = await registry.delete(kind, ref, { ...options, preconditions: { uid } });
  const { metadata } = 'deleted' in result ? result.deleted : result.terminating;
  return [{ ...acknowledged(metadata, Number(metadata.resourceVersion)), isDeletion: true }];
}

async function deletePod(
  registry: Registry,
  pod: Pod | undefined,
  force: boolean,
  parts: UserParts,
): Promise<AcknowledgedWrite[]> {
  if (!pod) return [];
  return deleted(registry, podKind, podRef(pod.metadata.name), parts, force ? { gracePeriodSeconds: 0 } : {});
}

async function evictPod(
  registry: Registry,
  pod: Pod | undefined,
  { deleting }: UserParts,
): Promise<AcknowledgedWrite[]> {
  if (!pod) return [];
  deleting(pod, false);
  const { uid = '' } = pod.metadata;
  await registry.evict(podRef(pod.metadata.name), { preconditions: { uid } });
  return [{ uid, name: pod.metadata.name, revision: 0, isDeletion: true }];
}

function podOn({ pods }: Truth, node: string, index: number): Pod | undefined {
  const there = [...pods.values()].filter(({ spec }) => spec.nodeName === node);
  return there[index % Math.max(there.length, 1)];
}

function acknowledged({ uid = '', name }: KubeObject['metadata'], revision: number): AcknowledgedWrite {
  return { uid, name, revision, isDeletion: false };
}

function manifestOf(step: Extract<UserStep, { kind: 'create daemonset' }>): object {
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
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name }, spec } satisfies DaemonSet;
}

function strategyOf({ type, ...rollingUpdate }: Strategy): NonNullable<DaemonSetSpec['updateStrategy']> {
  return type === 'OnDelete' ? { type } : { type, rollingUpdate };
}

function setImage(spec: DaemonSetSpec, image: string): void {
  spec.template.spec.containers = [{ name: 'app', image }];
  setVersion(spec);
}

function setSelector(spec: DaemonSetSpec, zone: Zone | null): void {
  if (zone) spec.template.spec.nodeSelector = { zone };
  else delete spec.template.spec.nodeSelector;
  setVersion(spec);
}

/** What the template says, in short: two templates of one version are equal. */
function setVersion({ template }: DaemonSetSpec): void {
  const { containers, nodeSelector } = template.spec;
  const version = `${containers[0]?.image} ${nodeSelector?.zone ?? 'anywhere'}`;
  template.metadata = { ...template.metadata, annotations: { [VERSION]: version } };
}

function barePod({ name, node, image }: { name: string; node: string; image: string }): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { nodeName: node, terminationGracePeriodSeconds: 5, containers: [{ name: 'app', image }] },
  };
}
