/** The status of kinds that Everynode stores and does not run. A controller in a Pod may write it. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../kind.js';
import { STATUS_VERBS } from '../kind.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';

type WithStatus = KubeObject & { spec?: object; status?: object };

/** `initial`: the status of a new object. */
export function storedStatus<T extends WithStatus>(
  { group, version = 'v1', kind }: { group: string; version?: string; kind: string },
  initial?: T['status'],
): Pick<
  Kind<T>,
  | 'subresources'
  | 'hasGeneration'
  | 'prepareForCreate'
  | 'prepareForUpdate'
  | 'prepareForStatusUpdate'
  | 'validateStatusUpdate'
> {
  return {
    subresources: { status: { group, version, kind, verbs: STATUS_VERBS } },
    hasGeneration: true,
    prepareForCreate: (object) => {
      object.metadata.generation = 1;
      if (initial) object.status = { ...initial };
      else delete object.status;
    },
    prepareForUpdate: (next, current) => {
      if (current.status) next.status = current.status;
      else delete next.status;
      const isChanged = !semanticallyEqual(next.spec, current.spec);
      next.metadata.generation = (current.metadata.generation ?? 0) + (isChanged ? 1 : 0);
    },
    prepareForStatusUpdate: (next, current) => {
      if (current.spec) next.spec = current.spec;
      else delete next.spec;
    },
    validateStatusUpdate: () => [],
  };
}
