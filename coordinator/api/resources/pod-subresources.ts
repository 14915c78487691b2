/** `POST …/pods/P/eviction` and `POST …/pods/P/binding`. */

import { ApiError, badRequest, type Status } from '../../../shared/kube/objects/api-status.js';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import { requiredBodyOf } from '../bodies/write-body.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import { requestedRef } from './object-handlers.js';
import { deleteOptions, writeOptions } from './query-options.js';

/** Accepts both versions, like `EvictionREST.AcceptsGroupVersion`. */
const EVICTION = { kind: 'Eviction', apiVersion: 'policy/v1', alsoAccepted: ['policy/v1beta1'] };
const BINDING = { kind: 'Binding', apiVersion: 'v1' };

function metadataOf(body: object): {
  name?: unknown;
  namespace?: unknown;
  uid?: unknown;
  resourceVersion?: unknown;
} {
  const metadata: unknown = Reflect.get(body, 'metadata');
  return typeof metadata === 'object' && metadata !== null ? metadata : {};
}

/**
 * Throws 400 if name or namespace in the body differ from the URL (`EvictionREST.Create`,
 * `rest.EnsureObjectNamespaceMatchesRequestNamespace`).
 */
function checkPlace(body: object, ref: ObjectRef): void {
  const { name, namespace } = metadataOf(body);
  if (namespace && namespace !== ref.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (name && name !== ref.name)
    throw badRequest(`name in URL does not match name in ${Reflect.get(body, 'kind')} object`);
}

/** Evicts the Pod. Returns 201 with a Success Status. Throws 400, 404, 409. */
export async function handleEviction(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const body = requiredBodyOf(request, EVICTION);
  const ref = requestedRef(request);
  checkPlace(body, ref);
  const options = deleteOptions(request.info.query, Reflect.get(body, 'deleteOptions'));
  const dryRun = options.dryRun || writeOptions(request.info, undefined, request.warn).dryRun === true;
  if (dryRun) request.onDryRun();
  const { user, warn, annotate } = request;
  const caller = { user: user.username, groups: user.groups, warn, annotate };
  const value = await deps.registry.evict(ref, { ...options, ...caller, dryRun });
  return { type: 'value', code: 201, value };
}

/** Only a Node can be a target (`pkg/apis/core/validation` ValidatePodBinding). */
function targetNode(body: object): string {
  const target: unknown = Reflect.get(body, 'target');
  const fields = typeof target === 'object' && target !== null ? target : {};
  const kind: unknown = Reflect.get(fields, 'kind');
  const name: unknown = Reflect.get(fields, 'name');
  const mistake =
    kind !== undefined && kind !== '' && kind !== 'Node'
      ? {
          field: 'target.kind',
          message: `Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`,
        }
      : { field: 'target.name', message: 'Required value' };
  if (mistake.field === 'target.name' && typeof name === 'string' && name) return name;
  throw new ApiError('Invalid', `Binding "" is invalid: ${mistake.field}: ${mistake.message}`, {
    kind: 'Binding',
    causes: [{ reason: 'FieldValueInvalid', ...mistake }],
  });
}

const BOUND: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** Binds the Pod to a node. Returns 201 with a Success Status. Throws 400, 404, 409, 422. */
export async function handleBinding(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const body = requiredBodyOf(request, BINDING);
  const ref = requestedRef(request);
  checkPlace(body, ref);
  const node = targetNode(body);
  const { uid, resourceVersion } = metadataOf(body);
  const preconditions = {
    ...(typeof uid === 'string' && uid ? { uid } : {}),
    ...(typeof resourceVersion === 'string' && resourceVersion ? { resourceVersion } : {}),
  };
  const { dryRun } = writeOptions(request.info, undefined, request.warn);
  if (dryRun) request.onDryRun();
  else await deps.registry.bind(ref, node, preconditions);
  return { type: 'value', code: 201, value: BOUND };
}
