/** Tables (meta/v1 Table) for `kubectl get`, derived from the columns of a kind. */
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import type { Kind } from '../../kinds/kind.js';
import type { ObjectRecord } from '../../registry/registry.js';
import type { Negotiated } from '../http/media-type.js';

/** The part of its object that a row contains (`?includeObject=`). */
type ObjectInRow = 'None' | 'Metadata' | 'Object';

/** How rows are sent. */
export interface RowView extends Pick<Negotiated, 'metaVersion'> {
  include: ObjectInRow;
  /** Current time in ms, for ages. */
  now: number;
}

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

/** Returns the apiVersion of Tables and PartialObjectMetadata. */
export function metaApiVersion({ metaVersion }: Pick<Negotiated, 'metaVersion'>): string {
  return `meta.k8s.io/${metaVersion}`;
}

/** Returns the JSON before the rows: `{"kind":"Table",…,"rows":[`. */
export function tableStart(metadata: object, columns: string, view: Pick<Negotiated, 'metaVersion'>): string {
  return `{"kind":"Table","apiVersion":"${metaApiVersion(view)}","metadata":${JSON.stringify(metadata)},"columnDefinitions":${columns},"rows":[`;
}

/** The JSON after the rows. */
export const TABLE_END = ']}';

/** Returns the PartialObjectMetadata of a record as JSON. */
export function partialObject(record: ObjectRecord, view: Pick<Negotiated, 'metaVersion'>): string {
  const { metadata } = record.object();
  return `{"kind":"PartialObjectMetadata","apiVersion":"${metaApiVersion(view)}","metadata":${JSON.stringify(metadata)}}`;
}

function rowObject(record: ObjectRecord, view: RowView): string {
  switch (view.include) {
    case 'None':
      return 'null';
    case 'Metadata':
      return partialObject(record, view);
    case 'Object':
      return record.bytes().toString('utf8');
  }
}

/** Returns one row as JSON. */
export function tableRow(kind: Kind, record: ObjectRecord, view: RowView): string {
  const object = record.object();
  const cells = kind.columns.map((column) => column.cell(object, view.now));
  return `{"cells":${JSON.stringify(cells)},"object":${rowObject(record, view)}}`;
}
