/**
 * `POST …/serviceaccounts/NAME/token`: issues a token for a ServiceAccount
 * (`pkg/registry/core/serviceaccount/storage/token.go`).
 */

import { serviceAccountTokenSources } from '../../../shared/kube/access/service-account-token.js';
import {
  ApiError,
  badRequest,
  conflict,
  invalid,
  orUndefined,
} from '../../../shared/kube/objects/api-status.js';
import { type KubeObject, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { nodeOfUser } from '../../access/node-authorizer.js';
import { ISSUER, type TokenIssueRequest } from '../../access/service-account-tokens.js';
import { nodeKind, podKind, secretKind, serviceAccountKind } from '../../kinds/index.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import { requiredBodyOf } from '../bodies/write-body.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import { requestedRef } from '../resources/object-handlers.js';

const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
const TYPE = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1' };
const TOKEN_REQUEST = { group: 'authentication.k8s.io', kind: 'TokenRequest', resource: '' };

interface BoundReference {
  kind?: string;
  name?: string;
  uid?: string;
}

interface RequestedToken {
  audiences: string[];
  expirationSeconds: number;
  bound: BoundReference | undefined;
}

/** Returns 201 with the token in the status. Throws 400, 404, 409, 422. */
export async function handleTokenRequest(
  { registry, identities, clock }: ApiDeps,
  request: ApiRequest,
): Promise<ApiResponse> {
  const ref = requestedRef(request);
  const body = requiredBodyOf(request, TYPE);
  const requested = requestedToken(mapOf(body.spec ?? {}));
  const { metadata } = (await registry.get(serviceAccountKind, ref)).object();
  const { namespace = '', name, uid = '' } = metadata;
  if (nodeOfUser(request.user))
    await checkNode(registry, nodeOfUser(request.user) ?? '', namespace, requested);
  const options: TokenIssueRequest = {
    serviceAccount: { namespace, name, uid },
    audiences: requested.audiences,
    expirationSeconds: requested.expirationSeconds,
    ...(requested.bound ? await boundTo(registry, namespace, name, requested.bound) : {}),
  };
  const { token, expiresAt } = await identities.tokens.issue(options);
  const spec = {
    audiences: requested.audiences,
    expirationSeconds: requested.expirationSeconds,
    boundObjectRef: requested.bound ?? null,
  };
  const value = {
    ...TYPE,
    metadata: { name, namespace, creationTimestamp: toTimestamp(clock.now()) },
    spec,
    status: { token, expirationTimestamp: toTimestamp(expiresAt) },
  };
  return { type: 'value', code: 201, value };
}

/**
 * A node may request tokens only for its own Pods and for audiences that these Pods mount
 * (`plugin/pkg/admission/noderestriction`).
 */
async function checkNode(
  registry: Registry,
  node: string,
  namespace: string,
  { audiences, bound }: RequestedToken,
): Promise<void> {
  if (bound?.kind !== 'Pod' || !bound.uid) throw nodeForbidden('node requested token not bound to a pod');
  const pod = await findBound(registry, podKind, { namespace, name: bound.name ?? '' }, bound.uid);
  if (pod.spec.nodeName !== node)
    throw nodeForbidden('node requested token bound to a pod scheduled on a different node');
  const wanted = new Set(serviceAccountTokenSources(pod).map(({ audience }) => audience || ISSUER));
  const other = audiences.find((audience) => !wanted.has(audience));
  if (other !== undefined)
    throw nodeForbidden(`audience ${JSON.stringify(other)} not found in pod spec volume`);
}

function nodeForbidden(detail: string): ApiError {
  return new ApiError('Forbidden', `serviceaccounts is forbidden: ${detail}`, { kind: 'serviceaccounts' });
}

function requestedToken(spec: Record<string, unknown>): RequestedToken {
  const { audiences = [], expirationSeconds = DEFAULT_SECONDS, boundObjectRef } = spec;
  if (!Array.isArray(audiences) || !audiences.every((audience) => typeof audience === 'string')) {
    throw badRequest('spec.audiences must be a list of strings');
  }
  const seconds = Number(expirationSeconds ?? DEFAULT_SECONDS);
  if (!(seconds >= MIN_SECONDS))
    throw invalidSeconds(seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > MAX_SECONDS)
    throw invalidSeconds(seconds, 'may not specify a duration larger than 2^32 seconds');
  return {
    audiences: audiences.length > 0 ? audiences : [ISSUER],
    expirationSeconds: Math.floor(seconds),
    bound: boundObjectRef === undefined || boundObjectRef === null ? undefined : mapOf(boundObjectRef),
  };
}

function invalidSeconds(seconds: number, detail: string): ApiError {
  const message = `Invalid value: ${seconds}: ${detail}`;
  return invalid(TOKEN_REQUEST, '', [
    { reason: 'FieldValueInvalid', field: 'spec.expirationSeconds', message },
  ]);
}

/** Returns the object that the token is bound to. */
async function boundTo(
  registry: Registry,
  namespace: string,
  account: string,
  { kind = '', name = '', uid }: BoundReference,
): Promise<Partial<TokenIssueRequest>> {
  switch (kind) {
    case 'Pod': {
      const pod = await findBound(registry, podKind, { namespace, name }, uid);
      refuseOtherAccount(pod, account);
      const { nodeName } = pod.spec;
      const node = nodeName ? await uidOfNode(registry, nodeName) : undefined;
      return { pod: { name, uid: pod.metadata.uid ?? '' }, ...(node ? { node } : {}) };
    }
    case 'Secret':
      return {
        secret: {
          name,
          uid: (await findBound(registry, secretKind, { namespace, name }, uid)).metadata.uid ?? '',
        },
      };
    case 'Node':
      return { node: { name, uid: (await findBound(registry, nodeKind, { name }, uid)).metadata.uid ?? '' } };
    default:
      throw badRequest(`cannot bind token to object of type ${kind}`);
  }
}

async function findBound<T extends KubeObject>(
  registry: Registry,
  kind: Kind<T>,
  ref: { namespace?: string; name: string },
  uid: string | undefined,
): Promise<T> {
  const object = (await registry.get(kind, ref)).object();
  if (!uid || uid === object.metadata.uid) return object;
  const detail = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  throw conflict(kind, ref.name, detail);
}

function refuseOtherAccount(pod: Pod, account: string): void {
  const { serviceAccountName = 'default' } = pod.spec;
  if (serviceAccountName === account) return;
  throw badRequest(
    `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
  );
}

async function uidOfNode(
  registry: Registry,
  name: string,
): Promise<{ name: string; uid: string } | undefined> {
  const node = await orUndefined(() => registry.get(nodeKind, { name }));
  return node && { name, uid: node.object().metadata.uid ?? '' };
}

function mapOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the body of the request is not a TokenRequest');
  }
  return value as Record<string, unknown>;
}
