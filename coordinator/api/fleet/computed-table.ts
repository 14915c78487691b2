/** The Table for kubectl of computed objects. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Column } from '../../kinds/kind.js';
import type { ApiRequest } from '../http/api-context.js';
import { negotiateAnswer } from '../http/media-type.js';

export function wantsTable({ headers }: Pick<ApiRequest, 'headers'>): boolean {
  return negotiateAnswer(headers.accept) === 'table';
}

/** `now` in ms, for the age column. */
export function computedTable<T extends KubeObject>(
  columns: readonly Column<T>[],
  objects: readonly T[],
  now: number,
): object {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {},
    columnDefinitions: columns.map(({ name, type, format = '', description, priority }) => ({
      ...{ name, type, format, description, priority },
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
    })),
  };
}
