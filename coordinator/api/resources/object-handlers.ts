/** HTTP to registry verbs and back: the objects themselves, their `/status`, `/approval` and `/finalize`. */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Status } from '../../../shared/kube/objects/api-status.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import { nodeKind } from '../../kinds/index.js';
import type { Kind } from '../../kinds/kind.js';
import type { DeleteResult, ObjectRecord, Patch } from '../../registry/registry.js';
import { decodeBody, unsupportedMediaType } from '../bodies/body-decoder.js';
import { readWrite } from '../bodies/write-body.js';
import { withMeters } from '../fleet/host-meters-resource.js';
import type { ApiDeps, ApiRequest } from '../http/api-context.js';
import { type ApiResponse, ok } from '../http/api-response.js';
import { negotiateAnswer, parseMediaType } from '../http/media-type.js';
import { isSwitchedOn } from '../http/request-info.js';
import { methodNotAllowed } from '../http/status-response.js';
import { objectsToRead } from '../limits/list-size.js';
import { listResponse, type ObjectView, recordResponse } from './object-response.js';
import { objectInRow, rowsOfPage } from './object-table.js';
import {
  checkPatchOptions,
  deleteOptions,
  integerParameter,
  listOptions,
  selectionOf,
} from './query-options.js';
import { endWithFailedRollout, refuseFailedRollout } from './rollout-status-command.js';
import { checkInitialEvents, streamWatch } from './watch-stream.js';
import { writeWarnings } from './write-warnings.js';

const PATCH_TYPES: Readonly<Record<string, Patch['type']>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

function viewOf({ headers, info }: ApiRequest, parts: ApiDeps): ObjectView {
  const form = negotiateAnswer(headers.accept);
  return { form, include: objectInRow(info.query), now: parts.clock.now() };
}

/** The one object that the URL names. Only for verbs that `request-info` gives a name. */
export function requestedRef({ info }: ApiRequest): ObjectRef {
  if (info.name === undefined) throw methodNotAllowed();
  return { name: info.name, ...(info.namespace === undefined ? {} : { namespace: info.namespace }) };
}

async function getObject(parts: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, parts);
  const record = await parts.registry.get(kind, requestedRef(request));
  await refuseFailedRollout(parts, kind, request);
  const isNode = kind.resource === nodeKind.resource && kind.group === nodeKind.group;
  if (!isNode || view.form === 'table') return recordResponse(kind, record, view);
  const meters = parts.meters.of(record.object().metadata.name);
  return recordResponse(kind, withMeters(record as ObjectRecord<Node>, meters), view);
}

/** Waits for a place when there is much to read; answers how to give it back before the answer ends. */
async function placeToRead(
  parts: ApiDeps,
  kind: Kind,
  { info, limitKey: limitedAs, signal }: ApiRequest,
  limit?: number,
): Promise<() => void> {
  const { largeReads, registry } = parts;
  const isLarge = largeReads.isLarge(await objectsToRead(registry, kind, info, limit));
  return isLarge ? largeReads.enter(limitedAs, signal) : () => undefined;
}

async function listObjects(parts: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, parts);
  const { limit: asked, ...options } = listOptions(request.info);
  const limit = asked && view.form === 'table' ? rowsOfPage(asked) : asked;
  await placeToRead(parts, kind, request, limit);
  const list = await parts.registry.list(kind, { ...options, ...(limit ? { limit } : {}) });
  return listResponse(kind, list, view);
}

/** Without `timeoutSeconds`, somewhere between the setting and twice it, told by the clock rather than by chance. */
function watchTimeoutMs({ settings, clock }: ApiDeps, query: URLSearchParams): number {
  const seconds = integerParameter(query, 'timeoutSeconds');
  return seconds ? seconds * 1000 : settings.watchTimeoutMs + (clock.now() % settings.watchTimeoutMs);
}

async function watchObjects(parts: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const { query } = request.info;
  const view = viewOf(request, parts);
  const sendInitialEvents = checkInitialEvents(query);
  const resourceVersion = query.get('resourceVersion') ?? '';
  const beginsWithAll = sendInitialEvents ?? Number(resourceVersion) === 0;
  const leave = beginsWithAll ? await placeToRead(parts, kind, request) : () => undefined;
  const options = {
    kind,
    view,
    startRevision: sendInitialEvents ? 0 : Number(resourceVersion),
    bookmarks: isSwitchedOn(query, 'allowWatchBookmarks'),
    timeoutMs: watchTimeoutMs(parts, query),
    stallMs: parts.settings.stallMs,
    slice: parts.slice,
    rest: parts.watchCoalescer,
    clock: parts.clock,
    log: parts.log,
    onInitialEnd: leave,
  };
  // Last, since from here on the watch must be read or closed.
  const all = await parts.registry.watch(kind, {
    ...selectionOf(request.info),
    resourceVersion,
    ...(sendInitialEvents === undefined ? {} : { sendInitialEvents }),
  });
  const watch = await endWithFailedRollout(parts, kind, request, all);
  return {
    type: 'stream',
    contentType: 'application/json',
    write: (response) => streamWatch(response, watch, request.signal, options),
  };
}

async function createObject(parts: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, parts);
  const { body, options } = readWrite(parts, request);
  const warnOfWrite = await writeWarnings(parts, kind, request, options);
  const record = await parts.registry.create(kind, request.info.namespace, body, options);
  await warnOfWrite(record);
  request.onCreated(record.object().metadata.name);
  return recordResponse(kind, record, view, 201);
}

async function updateObject(parts: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, parts);
  const { body, options } = readWrite(parts, request);
  const warnOfWrite = await writeWarnings(parts, kind, request, options);
  const record = await parts.registry.update(kind, requestedRef(request), body, options);
  await warnOfWrite(record);
  return recordResponse(kind, record, view);
}

function patchTypeOf({ headers, info }: ApiRequest): Patch['type'] {
  const { type } = parseMediaType(headers.contentType ?? '');
  const patchType = ownValue(PATCH_TYPES, type);
  if (!patchType) throw unsupportedMediaType(Object.keys(PATCH_TYPES));
  checkPatchOptions(info.query, patchType === 'apply');
  return patchType;
}

async function patchObject(parts: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, parts);
  const type = patchTypeOf(request);
  const { body, options } = readWrite(parts, request, type);
  const patch = { type, body, force: isSwitchedOn(request.info.query, 'force') };
  const warnOfWrite = await writeWarnings(parts, kind, request, options);
  const { record, created } = await parts.registry.patch(kind, requestedRef(request), patch, options);
  await warnOfWrite(record);
  return recordResponse(kind, record, view, created ? 201 : 200);
}

function deletedStatus(kind: Kind, { metadata }: KubeObject): Status {
  const { name, uid } = metadata;
  const group = kind.group ? { group: kind.group } : {};
  const details = { name, ...group, kind: kind.resource, ...(uid ? { uid } : {}) };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

function deletionAnswer(kind: Kind, result: DeleteResult<KubeObject>): ApiResponse {
  return ok(result.isRemoved ? deletedStatus(kind, result.object) : result.object);
}

async function deleteObject(parts: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const options = deleteOptions(request.info.query, decodeBody(request.body, request.headers.contentType));
  const warnOfWrite = await writeWarnings(parts, kind, request, options);
  const result = await parts.registry.delete(kind, requestedRef(request), options);
  if (result.isRemoved) await warnOfWrite();
  return deletionAnswer(kind, result);
}

async function deleteObjects(parts: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, parts);
  const options = deleteOptions(request.info.query, decodeBody(request.body, request.headers.contentType));
  await placeToRead(parts, kind, request);
  const records = await parts.registry.deleteCollection(kind, selectionOf(request.info), options);
  return listResponse(kind, { records, resourceVersion: '' }, view);
}

const HANDLERS = {
  get: getObject,
  list: listObjects,
  watch: watchObjects,
  create: createObject,
  update: updateObject,
  patch: patchObject,
  delete: deleteObject,
  deletecollection: deleteObjects,
};

/** Answers a verb on objects of a kind that the kind takes. */
export async function handleObject(parts: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  return HANDLERS[request.info.verb](parts, kind, request);
}

/** Answers a verb on `/status`, `/approval` or `/finalize` of an object. */
export async function handleObjectSubresource(
  parts: ApiDeps,
  kind: Kind,
  request: ApiRequest,
): Promise<ApiResponse> {
  const { verb } = request.info;
  if (verb !== 'get' && verb !== 'update' && verb !== 'patch') throw methodNotAllowed();
  return HANDLERS[verb](parts, kind, request);
}
