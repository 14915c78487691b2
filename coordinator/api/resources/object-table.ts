/** Server-printed tables (meta/v1 Table): what `kubectl get` shows, derived from the columns of a kind. */
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import type { Kind } from '../../kinds/kind.js';
import type { ObjectRecord } from '../../registry/registry.js';

/** How much of its object a row carries (`?includeObject=`). */
export type ObjectInRow = 'None' | 'Metadata' | 'Object';

/** Reads `?includeObject=`; absent means Metadata. Throws 400. */
export function objectInRow(query: URLSearchParams): ObjectInRow {
  const value = query.get('includeObject') || 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(`unrecognized includeObject value: ${JSON.stringify(value)}`);
}

/** What kubectl asks for at a time (`--chunk-size`). */
const KUBECTL_PAGE = 500;
const PAGES_AT_ONCE = 10;

/**
 * Rows of a page where the client asks for at most `limit`. kubectl waits between its pages: after ten requests it lets itself
 * make five a second (client-go's `DefaultQPS`), so 10,000 rows would take two seconds of nothing. It gets ten of its pages as
 * one, for a server need not keep to the limit (meta/v1 ListOptions); who asks for fewer rows wants to see so few.
 */
export function rowsOfPage(limit: number): number {
  return limit >= KUBECTL_PAGE ? limit * PAGES_AT_ONCE : limit;
}

/** The column definitions of a kind as JSON. */
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

/** `{"kind":"Table",…,"rows":[`: what stands before the rows. */
export function tableStart(metadata: object, columns: string): string {
  return `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":${JSON.stringify(metadata)},"columnDefinitions":${columns},"rows":[`;
}

/** What stands after the rows. */
export const TABLE_END = ']}';

/** PartialObjectMetadata of a record, as JSON. */
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

/** One row as JSON. `now` in ms, for ages. */
export function tableRow(kind: Kind, record: ObjectRecord, now: number, include: ObjectInRow): string {
  const object = record.object();
  const cells = kind.columns.map((column) => column.cell(object, now));
  return `{"cells":${JSON.stringify(cells)},"object":${rowObject(record, include)}}`;
}
