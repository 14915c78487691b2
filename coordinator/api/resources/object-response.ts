/** Encodes records and lists in the form that the client requested. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import type { ObjectRecord, RecordList } from '../../registry/registry.js';
import type { ApiResponse } from '../http/api-context.js';
import type { Negotiated } from '../http/media-type.js';
import type { BodyPiece } from '../http/paced-writer.js';
import {
  columnDefinitions,
  metaApiVersion,
  partialObject,
  type RowView,
  TABLE_END,
  tableRow,
  tableStart,
} from './object-table.js';

/** The form of the objects and, for Tables, of their rows. */
export type ObjectView = Negotiated & RowView;

/** `code` is 201 for a creation. */
export function recordResponse(kind: Kind, record: ObjectRecord, view: ObjectView, code = 200): ApiResponse {
  switch (view.form) {
    case 'object':
      return { type: 'bytes', code, bytes: record.bytes() };
    case 'metadata':
      return { type: 'bytes', code, bytes: Buffer.from(partialObject(record, view)) };
    case 'table':
      return { type: 'bytes', code, bytes: Buffer.from([...tableOf(kind, [record], {}, view)].join('')) };
  }
}

const COMMA = Buffer.from(',');

function* joined(
  start: string,
  items: Iterable<BodyPiece>,
  end: string,
): Generator<BodyPiece, void, undefined> {
  yield start;
  let first = true;
  for (const item of items) {
    if (!first) yield COMMA;
    first = false;
    yield item;
  }
  yield end;
}

/** Drops each record after encoding it, because its bytes and its decoded object use memory. */
function* mapped<T>(records: ObjectRecord[], encode: (record: ObjectRecord) => T): Generator<T> {
  records.reverse();
  for (let record = records.pop(); record; record = records.pop()) yield encode(record);
}

function tableOf(
  kind: Kind,
  records: ObjectRecord[],
  metadata: object,
  view: ObjectView,
): Iterable<BodyPiece> {
  const rows = mapped(records, (record) => tableRow(kind, record, view));
  return joined(tableStart(metadata, columnDefinitions(kind), view), rows, TABLE_END);
}

function listStart(kindName: string, apiVersion: string, metadata: object): string {
  return `{"kind":"${kindName}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`;
}

function listPieces(kind: Kind, list: RecordList<KubeObject>, view: ObjectView): Iterable<BodyPiece> {
  const { records, resourceVersion, remainingItemCount } = list;
  const metadata = {
    resourceVersion,
    ...(list.continue ? { continue: list.continue } : {}),
    ...(remainingItemCount ? { remainingItemCount } : {}),
  };
  switch (view.form) {
    case 'table':
      return tableOf(kind, records, metadata, view);
    case 'object': {
      const start = listStart(kind.listKind ?? `${kind.kind}List`, apiVersionOf(kind), metadata);
      return joined(
        start,
        mapped(records, (record) => record.copyableBytes?.() ?? record.bytes()),
        ']}',
      );
    }
    case 'metadata':
      return joined(
        listStart('PartialObjectMetadataList', metaApiVersion(view), metadata),
        mapped(records, (record) => partialObject(record, view)),
        ']}',
      );
  }
}

/** The list is encoded record by record while it is sent. Empties `list.records`. */
export function listResponse(kind: Kind, list: RecordList<KubeObject>, view: ObjectView): ApiResponse {
  return { type: 'pieces', pieces: listPieces(kind, list, view) };
}
