/**
 * `GET nodes/NAME/proxy/PATH`: a page of the node's kubelet. The agent sends it over its link, so it is available for
 * hosts without an open port.
 */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { decodePage } from '../../../shared/link/encoding/kubelet-answer.js';
import { ProtocolError } from '../../../shared/link/encoding/schema-combinators.js';
import { MAX_PAGE_PATH, MAX_PAGE_QUERY } from '../../../shared/link/messages/link-limits.js';
import { nodeKind } from '../../kinds/index.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import { collectResponse, emptyInput } from './host-usage-query.js';

const KUBELET_PORT = 10_250;
/** A page has some kilobytes per Pod. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** Throws 400, 404, 500 for an invalid response of the host, 503 if the host is not connected, 504. */
export async function handleNodeProxy(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { name: text = '', proxyPath: path = '/', query } = request.info;
  const { name, port } = proxyTarget(text);
  const node = (await deps.registry.get(nodeKind, { name })).object();
  if (port !== undefined && port !== KUBELET_PORT && port !== kubeletPortOf(node))
    throw badRequest(`port ${port} of node "${name}" is not proxied: only the kubelet's port is`);
  // A longer message would violate the protocol of the link, and the agent would end it.
  if (path.length > MAX_PAGE_PATH || query.toString().length > MAX_PAGE_QUERY)
    throw badRequest(`the path or the query of a page of node "${name}" is too long`);
  const { signal, acceptsGzip: gzip } = request;
  const timedOut = new AbortController();
  const timer = deps.clock.after(TIMEOUT_MS, () => timedOut.abort());
  const page = { type: 'kubelet' as const, path, query: query.toString(), gzip };
  try {
    const until = AbortSignal.any([signal, timedOut.signal]);
    const stream = await deps.streams.open(name, page, emptyInput(), until);
    const answer = await collectResponse(stream, MAX_PAGE_BYTES);
    if (timedOut.signal.aborted) throw tooSlow(name);
    return pageResponse(answer, gzip);
  } catch (error) {
    // The host sends nothing before its page is complete, so the stream ends before it started.
    if (timedOut.signal.aborted) throw tooSlow(name);
    if (!(error instanceof ProtocolError || error instanceof SyntaxError)) throw error;
    throw new ApiError('InternalError', `node "${name}" sent an invalid page: ${error.message}`);
  } finally {
    timer.cancel();
    timedOut.abort();
  }
}

function tooSlow(name: string): ApiError {
  return new ApiError('Timeout', `node "${name}" did not answer within ${TIMEOUT_MS / 1000} s`);
}

function pageResponse(bytes: Buffer, gzip: boolean): ApiResponse {
  const { head, body } = decodePage(bytes);
  if (head.encoding && !gzip) throw new ProtocolError('the page is compressed without request');
  return {
    type: 'bytes',
    code: head.status,
    bytes: body,
    headers: {
      'content-type': head.contentType,
      'x-content-type-options': 'nosniff',
      ...(head.encoding ? { 'content-encoding': head.encoding } : {}),
    },
  };
}

/** Parses `NAME`, `NAME:PORT` or `https:NAME:PORT` (apimachinery/pkg/util/net `SplitSchemeNamePort`). Throws 400. */
export function proxyTarget(text: string): { name: string; port?: number } {
  const [, name, port] = /^(?:https?:(?=[^:]*:))?([^:]+)(?::(\d{0,5}))?$/.exec(text) ?? [];
  if (name === undefined) throw badRequest(`invalid node request ${JSON.stringify(text)}`);
  return { name, ...(port ? { port: Number(port) } : {}) };
}

function kubeletPortOf({ status }: Node): number | undefined {
  return status?.daemonEndpoints?.kubeletEndpoint?.Port;
}
