/**
 * Parses a request line: the verb and its resource, or another path. Like k8s.io/apiserver
 * `pkg/endpoints/request/requestinfo.go`.
 */

import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/**
 * A request for a resource. `name` is absent for collections, `namespace` for cluster-scoped resources and for all
 * namespaces.
 */
export interface ResourceRequest {
  type: 'resource';
  verb: Verb;
  /** "" for the core group. */
  group: string;
  version: string;
  namespace?: string;
  resource: string;
  name?: string;
  subresource?: string;
  /** The path behind `nodes/NAME/proxy`, decoded, with a leading slash. Absent for other requests. */
  proxyPath?: string;
  query: URLSearchParams;
}

/** A request for discovery, OpenAPI, health or another path. `path` is decoded and has no trailing slash. */
export interface PathRequest {
  type: 'path';
  method: string;
  path: string;
  query: URLSearchParams;
}

/**
 * A request that no handler supports. `method`: no resource takes the method at this depth, e.g. PUT on a collection.
 * `path`: the path is malformed. `traversal`: a segment such as `..` would escape its parent, which no known client
 * sends.
 */
interface RefusedRequest {
  type: 'refused';
  reason: 'method' | 'path' | 'traversal';
}

export type RequestInfo = ResourceRequest | PathRequest | RefusedRequest;

/** The path after `/api/v1` or `/apis/G/V`: optional `namespaces/NS`, then resource, name, subresource. */
interface ResourcePath {
  namespace?: string;
  resource: string;
  name?: string;
  subresource?: string;
  proxyPath?: string;
}

/** Subresources of Namespaces. Without this list they would be parsed as resources in that namespace. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** `POST /apis/fleet.everynode.dev/v1/backups`. Other API groups have a resource of this name, too. */
function isBackup({ verb, group, resource }: Pick<ResourceRequest, 'verb' | 'group' | 'resource'>): boolean {
  return verb === 'create' && group === FLEET_GROUP && resource === 'backups';
}

/** True for a watch, a log or a backup: the response may begin late, and last until the client or the server ends it. */
export function isLongRunning(
  info: Pick<ResourceRequest, 'verb' | 'group' | 'resource' | 'subresource'>,
): boolean {
  return info.verb === 'watch' || info.subresource === 'log' || isBackup(info);
}

/** Parses a boolean query parameter like Go's conversion: true if present and neither "false" nor "0". */
export function isSwitchedOn(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)?.toLowerCase();
  return value !== undefined && value !== 'false' && value !== '0';
}

function readResourcePath(parts: readonly string[]): ResourcePath | undefined {
  const [first = '', second, third = '', ...rest] = parts;
  if (first === 'namespaces' && second !== undefined && third && !NAMESPACE_SUBRESOURCES.has(third)) {
    return withName({ namespace: second, resource: third }, rest);
  }
  return withName({ resource: first }, parts.slice(1));
}

function withName(path: ResourcePath, rest: readonly string[]): ResourcePath | undefined {
  const [name, subresource, ...surplus] = rest;
  if (path.resource === 'nodes' && path.namespace === undefined && subresource === 'proxy')
    return {
      ...path,
      ...(name === undefined ? {} : { name }),
      subresource,
      proxyPath: `/${surplus.join('/')}`,
    };
  if (surplus.length > 0) return undefined;
  return {
    ...path,
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function readVerb(method: string, path: ResourcePath, query: URLSearchParams): Verb | undefined {
  const named = path.name !== undefined;
  switch (method) {
    case 'GET':
      if (named) return 'get';
      return isSwitchedOn(query, 'watch') ? 'watch' : 'list';
    case 'POST':
      return named && path.subresource === undefined ? undefined : 'create';
    case 'PUT':
      return named ? 'update' : undefined;
    case 'PATCH':
      return named ? 'patch' : undefined;
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      return undefined;
  }
}

/** True for a path segment that would escape its parent. */
function isTraversal(part: string): boolean {
  return part === '.' || part === '..' || part.includes('/');
}

/** Splits and decodes a path. Returns the refusal reason for a broken `%` sequence, an empty segment or a traversal. */
function segmentsOf(path: string): string[] | 'path' | 'traversal' {
  const trimmed = path.replace(/^\/+|\/+$/g, '');
  if (trimmed === '') return [];
  try {
    const parts = trimmed.split('/').map(decodeURIComponent);
    if (parts.some(isTraversal)) return 'traversal';
    return parts.includes('') ? 'path' : parts;
  } catch (error) {
    if (error instanceof URIError) return 'path';
    throw error;
  }
}

function groupVersionOf(
  parts: readonly string[],
): { group: string; version: string; rest: string[] } | undefined {
  const [root, ...tail] = parts;
  if (root === 'api' && tail.length > 1) return { group: '', version: tail[0] ?? '', rest: tail.slice(1) };
  if (root === 'apis' && tail.length > 2) {
    return { group: tail[0] ?? '', version: tail[1] ?? '', rest: tail.slice(2) };
  }
  return undefined;
}

/**
 * Parses method and request target (`/path?query`). Pure. Never throws: an invalid request yields a `RefusedRequest`.
 */
export function readRequest(method: string, target: string): RequestInfo {
  const [rawPath = '', ...rawQuery] = target.split('?');
  const query = new URLSearchParams(rawQuery.join('?'));
  const parts = segmentsOf(rawPath);
  if (typeof parts === 'string') return { type: 'refused', reason: parts };
  const groupVersion = groupVersionOf(parts);
  if (!groupVersion) return { type: 'path', method, path: `/${parts.join('/')}`, query };
  const path = readResourcePath(groupVersion.rest);
  if (!path) return { type: 'refused', reason: 'path' };
  const verb = readVerb(method, path, query);
  if (!verb) return { type: 'refused', reason: 'method' };
  const { group, version } = groupVersion;
  return { type: 'resource', verb, group, version, ...path, query };
}
