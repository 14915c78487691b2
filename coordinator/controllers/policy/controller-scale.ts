/** The number of Pods that a controller wants (pkg/controller/disruption getExpectedScale). */
import { isNotFound } from '../../../shared/kube/objects/api-status.js';
import { controllerOf, type KubeObject, type OwnerReference } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';

/** Why the expected Pods cannot be counted. The message is upstream's. */
export class UnknownScale extends Error {}

type ScaleReader = Pick<Registry, 'get' | 'allKinds'>;

function kindOf(kinds: readonly Kind[], { apiVersion, kind }: OwnerReference): Kind | undefined {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  return kinds.find((one) => one.kind === kind && one.group === group);
}

/**
 * Returns uid and scale of the controller, or of the Deployment above a ReplicaSet. Throws `UnknownScale` if the
 * controller is missing, or has no scale, such as a DaemonSet.
 */
export async function scaleOf(
  registry: ScaleReader,
  namespace: string,
  reference: OwnerReference,
  pod: string,
): Promise<{ uid: string; replicas: number }> {
  const kind = kindOf(registry.allKinds(), reference);
  const object = kind && (await ownerObject(registry, kind, namespace, reference));
  if (!object) throw new UnknownScale(`found no controllers for pod ${JSON.stringify(pod)}`);
  const above = controllerOf(object.metadata);
  if (reference.kind === 'ReplicaSet' && above?.kind === 'Deployment') {
    return scaleOf(registry, namespace, above, pod);
  }
  if (!kind.subresources.scale) {
    const resource = kind.group ? `${kind.resource}.${kind.group}` : kind.resource;
    throw new UnknownScale(`${resource} does not implement the scale subresource`);
  }
  const { spec } = object as { spec?: { replicas?: number } };
  return { uid: reference.uid, replicas: spec?.replicas ?? 1 };
}

async function ownerObject(
  registry: ScaleReader,
  kind: Kind,
  namespace: string,
  { name, uid }: OwnerReference,
): Promise<KubeObject | undefined> {
  try {
    const object = (await registry.get(kind, { namespace, name })).object();
    return object.metadata.uid === uid ? object : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
