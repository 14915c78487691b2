/**
 * Handlers for objects and their subresources `/status`, `/approval`, `/finalize` and `/ephemeralcontainers`. They
 * translate requests to registry calls.
 */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Status } from '../../../shared/kube/objects/api-status.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import { nodeKind } from '../../kinds/index.js';
import type { Kind } from '../../kinds/kind.js';
import type { DeleteResult, ObjectRecord } from '../../registry/registry.js';
import type { DeleteOptions, Patch } from '../../registry/registry-options.js';
import { decodeBody, unsupportedMediaType } from '../bodies/body-decoder.js';
import { readWrite } from '../bodies/write-body.js';
import { withMeters } from '../fleet/host-telemetry-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { negotiateAnswer, parseMediaType } from '../http/media-type.js';
import { isSwitchedOn } from '../http/request-info.js';
import { methodNotAllowed } from '../http/status-response.js';
import { objectsToRead } from '../limits/large-reads.js';
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

function viewOf({ headers, info }: ApiRequest, deps: ApiDeps): ObjectView {
  return { ...negotiateAnswer(headers.accept), include: objectInRow(info.query), now: deps.clock.now() };
}

/** Returns the reference to the object in the URL. Only for verbs on one object. */
export function requestedRef({ info }: ApiRequest): ObjectRef {
  if (info.name === undefined) throw methodNotAllowed();
  return { name: info.name, ...(info.namespace === undefined ? {} : { namespace: info.namespace }) };
}

async function getObject(deps: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, deps);
  const record = await deps.registry.get(kind, requestedRef(request));
  await refuseFailedRollout(deps, kind, request);
  const isNode = kind.resource === nodeKind.resource && kind.group === nodeKind.group;
  if (!isNode || view.form === 'table') return recordResponse(kind, record, view);
  const meters = deps.meters.of(record.object().metadata.name);
  return recordResponse(kind, withMeters(record as ObjectRecord<Node>, meters), view);
}

/**
 * Waits for a slot if there are many objects to read. Returns a function that frees the slot before the response ends.
 */
async function takeReadSlot(
  deps: ApiDeps,
  kind: Kind,
  { info, limitKey, signal }: ApiRequest,
  limit?: number,
): Promise<() => void> {
  const { largeReads, registry } = deps;
  const isLarge = largeReads.isLarge(await objectsToRead(registry, kind, info, limit));
  return isLarge ? largeReads.enter(limitKey, signal) : () => undefined;
}

async function listObjects(deps: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, deps);
  const { limit: requested, ...options } = listOptions(request.info);
  const limit = requested && view.form === 'table' ? rowsOfPage(requested) : requested;
  await takeReadSlot(deps, kind, request, limit);
  const list = await deps.registry.list(kind, { ...options, ...(limit ? { limit } : {}) });
  return listResponse(kind, list, view);
}

/**
 * Without `timeoutSeconds`, a value between the setting and twice the setting. The clock provides the spread instead of
 * a random number.
 */
function watchTimeoutMs({ settings, clock }: ApiDeps, query: URLSearchParams): number {
  const seconds = integerParameter(query, 'timeoutSeconds');
  return seconds ? seconds * 1000 : settings.watchTimeoutMs + (clock.now() % settings.watchTimeoutMs);
}

async function watchObjects(deps: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const { query } = request.info;
  const view = viewOf(request, deps);
  const sendInitialEvents = checkInitialEvents(query);
  const resourceVersion = query.get('resourceVersion') ?? '';
  const startsWithAll = sendInitialEvents ?? Number(resourceVersion) === 0;
  const leave = startsWithAll ? await takeReadSlot(deps, kind, request) : () => undefined;
  const options = {
    kind,
    view,
    startRevision: sendInitialEvents ? 0 : Number(resourceVersion),
    bookmarks: isSwitchedOn(query, 'allowWatchBookmarks'),
    timeoutMs: watchTimeoutMs(deps, query),
    stallMs: deps.settings.stallMs,
    slice: deps.slice,
    rest: deps.watchCoalescer,
    clock: deps.clock,
    log: deps.log,
    onInitialEnd: leave,
  };
  // Opened last, because an open watch must be read or closed.
  const all = await deps.registry.watch(kind, {
    ...selectionOf(request.info),
    resourceVersion,
    ...(sendInitialEvents === undefined ? {} : { sendInitialEvents }),
  });
  const watch = await endWithFailedRollout(deps, kind, request, all);
  return {
    type: 'stream',
    contentType: 'application/json',
    write: (response) => streamWatch(response, watch, request.signal, options),
  };
}

async function createObject(deps: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, deps);
  const { body, options } = readWrite(deps, request);
  const warnOfWrite = await writeWarnings(deps, kind, request, options);
  const record = await deps.registry.create(kind, request.info.namespace, body, options);
  await warnOfWrite(record);
  request.onCreated(record.object().metadata.name);
  return recordResponse(kind, record, view, 201);
}

async function updateObject(deps: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, deps);
  const { body, options } = readWrite(deps, request);
  const warnOfWrite = await writeWarnings(deps, kind, request, options);
  const record = await deps.registry.update(kind, requestedRef(request), body, options);
  await warnOfWrite(record);
  return recordResponse(kind, record, view);
}

/** Returns the type of the request's patch. Throws 415. */
export function patchTypeOf({ headers, info }: ApiRequest): Patch['type'] {
  const { type } = parseMediaType(headers.contentType ?? '');
  const patchType = ownValue(PATCH_TYPES, type);
  if (!patchType) throw unsupportedMediaType(Object.keys(PATCH_TYPES));
  checkPatchOptions(info.query, patchType === 'apply');
  return patchType;
}

async function patchObject(deps: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, deps);
  const type = patchTypeOf(request);
  const { body, options } = readWrite(deps, request, type);
  const patch = { type, body, force: isSwitchedOn(request.info.query, 'force') };
  const warnOfWrite = await writeWarnings(deps, kind, request, options);
  const { record, created } = await deps.registry.patch(kind, requestedRef(request), patch, options);
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

/** Returns the options of a delete, with the user for admission. Throws 400, 422. */
function readDelete(request: ApiRequest): DeleteOptions {
  const body = decodeBody(request.body, request.headers.contentType);
  const { user, warn, annotate } = request;
  const options = deleteOptions(request.info.query, body);
  if (options.dryRun) request.onDryRun();
  return { ...options, user: user.username, groups: user.groups, warn, annotate };
}

async function deleteObject(deps: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  negotiateAnswer(request.headers.accept);
  const options = readDelete(request);
  const warnOfWrite = await writeWarnings(deps, kind, request, options);
  const result = await deps.registry.delete(kind, requestedRef(request), options);
  if (result.isRemoved) await warnOfWrite();
  return deletionAnswer(kind, result);
}

async function deleteObjects(deps: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const view = viewOf(request, deps);
  const options = readDelete(request);
  await takeReadSlot(deps, kind, request);
  const records = await deps.registry.deleteCollection(kind, selectionOf(request.info), options);
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

/** Handles a verb that the kind supports. */
export async function handleObject(deps: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  return HANDLERS[request.info.verb](deps, kind, request);
}

/** Handles a verb on `/status`, `/approval`, `/finalize` or `/ephemeralcontainers`. */
export async function handleObjectSubresource(
  deps: ApiDeps,
  kind: Kind,
  request: ApiRequest,
): Promise<ApiResponse> {
  const { verb } = request.info;
  if (verb !== 'get' && verb !== 'update' && verb !== 'patch') throw methodNotAllowed();
  return HANDLERS[verb](deps, kind, request);
}
