/** Tables (meta/v1 Table) for `kubectl get`, derived from the columns of a kind. */
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import type { Kind } from '../../kinds/kind.js';
import type { ObjectRecord } from '../../registry/registry.js';

/** The part of its object that a row contains (`?includeObject=`). */
export type ObjectInRow = 'None' | 'Metadata' | 'Object';

/** Returns Metadata if the parameter is absent. Throws 400. */
export function objectInRow(query: URLSearchParams): ObjectInRow {
  const value = query.get('includeObject') || 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(`unrecognized includeObject value: ${JSON.stringify(value)}`);
}

/** kubectl's page size (`--chunk-size`). */
const KUBECTL_PAGE = 500;
const PAGES_AT_ONCE = 10;

/**
 * Returns the number of rows for a page of `limit`. kubectl pauses between pages: after ten requests client-go limits
 * it to five per second (`DefaultQPS`), so 10,000 rows would take two seconds of waiting. It gets ten pages as one,
 * which the API allows (meta/v1 ListOptions). A smaller limit than kubectl's page size is kept, because the user wants
 * few rows.
 */
export function rowsOfPage(limit: number): number {
  return limit >= KUBECTL_PAGE ? limit * PAGES_AT_ONCE : limit;
}

/** Returns the column definitions of a kind as JSON. */
export function columnDefinitions(kind: Kind): string {
  return JSON.stringify(
    kind.columns.map(({ name, type, format = '', description, priority }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
  );
}

/** Returns the JSON before the rows: `{"kind":"Table",…,"rows":[`. */
export function tableStart(metadata: object, columns: string): string {
  return `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":${JSON.stringify(metadata)},"columnDefinitions":${columns},"rows":[`;
}

/** The JSON after the rows. */
export const TABLE_END = ']}';

/** Returns the PartialObjectMetadata of a record as JSON. */
export function partialObject(record: ObjectRecord): string {
  const { metadata } = record.object();
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":${JSON.stringify(metadata)}}`;
}

function rowObject(record: ObjectRecord, include: ObjectInRow): string {
  switch (include) {
    case 'None':
      return 'null';
    case 'Metadata':
      return partialObject(record);
    case 'Object':
      return record.bytes().toString('utf8');
  }
}

/** Returns one row as JSON. `now` in ms, for ages. */
export function tableRow(kind: Kind, record: ObjectRecord, now: number, include: ObjectInRow): string {
  const object = record.object();
  const cells = kind.columns.map((column) => column.cell(object, now));
  return `{"cells":${JSON.stringify(cells)},"object":${rowObject(record, include)}}`;
}
