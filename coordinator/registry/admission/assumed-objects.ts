/** Objects that a dry run treats as stored: a plan of several manifests checks each against what the others would create. */
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';

/** The object of this core/v1 kind and name among `assumed`. */
export function assumedObject<T extends KubeObject>(
  assumed: readonly KubeObject[] | undefined,
  kind: 'Namespace' | 'ServiceAccount',
  { namespace, name }: ObjectRef,
): T | undefined {
  const found = assumed?.find(
    ({ apiVersion, kind: own, metadata }) =>
      apiVersion === 'v1' && own === kind && metadata.name === name && metadata.namespace === namespace,
  );
  return found as T | undefined;
}
