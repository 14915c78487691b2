/** The Table for kubectl of computed objects. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Column } from '../../kinds/kind.js';
import type { ApiRequest } from '../http/api-context.js';
import { type MetaVersion, negotiateAnswer } from '../http/media-type.js';

/** Returns the version of the Table that the client wants; undefined if it wants whole objects. Throws 406. */
export function tableVersion({ headers }: Pick<ApiRequest, 'headers'>): MetaVersion | undefined {
  const { form, metaVersion } = negotiateAnswer(headers.accept, ['object', 'table']);
  return form === 'table' ? metaVersion : undefined;
}

/** `now` in ms, for the age column. */
export function computedTable<T extends KubeObject>(
  columns: readonly Column<T>[],
  objects: readonly T[],
  now: number,
  version: MetaVersion,
): object {
  const apiVersion = `meta.k8s.io/${version}`;
  return {
    kind: 'Table',
    apiVersion,
    metadata: {},
    columnDefinitions: columns.map(({ name, type, format = '', description, priority }) => ({
      ...{ name, type, format, description, priority },
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      object: { kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata },
    })),
  };
}
