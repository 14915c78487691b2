/** The LimitRanger admission plugin: defaults and limits for the resources of new Pods and claims. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { ResourceList } from '../../../shared/kube/pods/pod-types.js';
import { staticPodUid } from '../../../shared/kube/pods/static-pod-annotations.js';
import type { LimitRange } from '../../../shared/kube/policy/quota-types.js';
import { applyLimitDefaults, claimRefusal, limitRefusal } from '../../decisions/policy/limit-ranges.js';
import type { Kind } from '../../kinds/kind.js';
import type { RegistryDeps } from '../registry.js';
import { isPod } from './write-admission.js';

type RangeSource = Pick<RegistryDeps, 'limitRanges'>;

function rangesFor({ limitRanges }: RangeSource, { metadata }: KubeObject): readonly LimitRange[] {
  return limitRanges?.(metadata.namespace ?? '') ?? [];
}

/** Sets requests and limits that a new Pod lacks, in place. */
export function setLimitDefaults(source: RangeSource, object: KubeObject): void {
  if (!isPod(object) || staticPodUid(object) !== undefined) return;
  for (const range of rangesFor(source, object)) applyLimitDefaults(object, range);
}

/** Throws 403 if the object violates a LimitRange of its namespace. */
export function refuseBeyondLimits(source: RangeSource, { group, resource }: Kind, object: KubeObject): void {
  const { name, generateName } = object.metadata;
  for (const range of rangesFor(source, object)) {
    const why = refusalBy(range, object);
    if (why === undefined) continue;
    const named = name || generateName || 'Unknown';
    const qualified = group ? `${resource}.${group}` : resource;
    throw new ApiError('Forbidden', `${qualified} "${named}" is forbidden: ${why}`, {
      name: named,
      kind: resource,
    });
  }
}

function refusalBy(range: LimitRange, object: KubeObject): string | undefined {
  if (isPod(object)) return staticPodUid(object) === undefined ? limitRefusal(object, range) : undefined;
  if (object.apiVersion !== 'v1' || object.kind !== 'PersistentVolumeClaim') return undefined;
  const { spec } = object as { spec?: { resources?: { requests?: ResourceList } } };
  return claimRefusal(spec?.resources?.requests, range);
}

/** Returns a function that tells whether the ranges of the object's namespace are unchanged. */
export function limitCheck(source: RangeSource, object: KubeObject): () => boolean {
  if (!isPod(object)) return () => true;
  const versions = () =>
    rangesFor(source, object)
      .map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)
      .join();
  const present = versions();
  return () => versions() === present;
}
