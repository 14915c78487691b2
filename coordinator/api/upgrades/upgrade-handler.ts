/** Handles upgrades: exec, attach and port-forward by WebSocket and SPDY, and a browser's watches and logs. */
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError, badRequest, internalError } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { podKind } from '../../kinds/index.js';
import type { AuthFilter, Identity } from '../auth/auth-filter.js';
import type { ResourceTable } from '../discovery/resource-table.js';
import type { ApiDeps } from '../http/api-context.js';
import { findServedResource } from '../http/request-dispatch.js';
import { type RequestInfo, type ResourceRequest, readRequest } from '../http/request-info.js';
import type { LoggedRequest } from '../http/request-log.js';
import { pathNotFound, SEE_LOG } from '../http/status-response.js';
import { refuseSocket, refuseSocketInText } from '../limits/refused-socket.js';
import type { PortTarget } from './port-connection.js';
import { portsIn, servePortChannels } from './port-forward-channels.js';
import { forwardPorts } from './port-forward-spdy.js';
import { readProcessRequest, serveProcess } from './process-streams.js';
import { serveStream } from './streamed-response.js';
import { UpgradedSockets, type UpgradeRequest } from './upgraded-sockets.js';

interface UpgradeDeps extends ApiDeps {
  authFilter: AuthFilter;
  resources: ResourceTable;
  record: (request: LoggedRequest) => void;
}

/** TCP keep-alive detects vanished clients on connections without traffic. */
const KEEP_ALIVE_MS = 30_000;
const SWITCHING = 101;

export class UpgradeHandler {
  readonly #deps: UpgradeDeps;
  readonly #sockets: UpgradedSockets;
  readonly #open = new Set<AbortController>();
  #isClosed = false;

  constructor(deps: UpgradeDeps) {
    this.#deps = deps;
    this.#sockets = new UpgradedSockets(deps.settings.idleStreamMs);
  }

  /** Ends all connections and rejects new ones. */
  close(): void {
    this.#isClosed = true;
    for (const closing of this.#open) closing.abort();
  }

  /** Takes over the socket: serves it until it ends, or rejects it with a Status. */
  async handle(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const info = readRequest(request.method ?? '', request.url ?? '');
    const closing = new AbortController();
    const line = this.#logLine(request, info);
    this.#open.add(closing);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => closing.abort());
    let code = SWITCHING;
    try {
      if (this.#isClosed) throw new ApiError('ServiceUnavailable', 'the server is shutting down');
      const identity = await this.#deps.authFilter.admit(info, request, line);
      if (!identity) throw pathNotFound();
      const serve = await this.#prepare({ request, socket, head, signal: closing.signal }, info, identity);
      await serve().catch((error: unknown) => this.#cut({ socket, signal: closing.signal }, error));
    } catch (error) {
      code = await this.#refuse({ request, socket, head }, error);
    } finally {
      closing.abort();
      this.#open.delete(closing);
      this.#deps.record({ ...line, code, durationMs: this.#deps.clock.monotonic() - line.startedAt });
    }
  }

  /** The connection is already upgraded, so the error can only be logged. */
  #cut({ socket, signal }: Pick<UpgradeRequest, 'socket' | 'signal'>, error: unknown): void {
    if (!signal.aborted) this.#deps.log.error({ err: error }, 'unexpected error on a connection');
    socket.destroy();
  }

  /** Does everything that may be rejected. Resolves with a function that serves the connection until it ends. */
  #prepare(
    upgrade: Omit<UpgradeRequest, 'info'>,
    info: RequestInfo,
    identity: Identity,
  ): Promise<() => Promise<void>> {
    const { socket } = upgrade;
    if (socket instanceof Socket) socket.setKeepAlive(true, KEEP_ALIVE_MS).setTimeout(0);
    if (info.type === 'resource' && this.#sockets.wantsStream(upgrade)) {
      return serveStream(this.#deps, this.#sockets, { ...upgrade, info }, identity);
    }
    const requested = podRequest(info);
    // A role with `patch pods/exec` must not allow commands: only GET and POST open a stream.
    findServedResource(this.#deps.resources, requested);
    return this.#preparePod({ ...upgrade, info: requested });
  }

  async #preparePod(upgrade: UpgradeRequest): Promise<() => Promise<void>> {
    const { namespace = '', name = '', subresource, query } = upgrade.info;
    const pod = (await this.#deps.registry.get(podKind, { namespace, name })).object();
    const node = nodeOf(pod);
    const podUid = pod.metadata.uid ?? '';
    if (subresource === 'portforward') {
      return this.#portForward(upgrade, { node, podUid, podName: name, streams: this.#deps.streams });
    }
    const requested = readProcessRequest(subresource === 'attach' ? 'attach' : 'exec', pod, query);
    return serveProcess(this.#deps.streams, this.#sockets, upgrade, node, { ...requested, podUid });
  }

  #portForward(upgrade: UpgradeRequest, target: PortTarget): () => Promise<void> {
    const sockets = this.#sockets;
    const { info, signal } = upgrade;
    switch (sockets.portForwardProtocol(upgrade)) {
      case 'tunnel':
        return async () => forwardPorts(await sockets.acceptTunnel(upgrade), target, signal);
      case 'spdy':
        return () => forwardPorts(sockets.acceptSpdy(upgrade, 'portForward'), target, signal);
      case 'channels': {
        const ports = portsIn(info.query);
        return async () => servePortChannels(await sockets.acceptChannels(upgrade), ports, target, signal);
      }
    }
  }

  async #refuse(refused: Omit<UpgradeRequest, 'info' | 'signal'>, error: unknown): Promise<number> {
    const refusal = this.#apiErrorOf(error);
    if (await this.#sockets.refuseOwnPage(refused, refusal)) return refusal.code;
    // An error of the host is sent as plain text, like the kubelet's.
    const isHosts = refusal === error && refusal.reason === 'InternalError';
    if (isHosts) refuseSocketInText(refused.socket, refusal.code, refusal.message);
    else refuseSocket(refused.socket, refusal);
    return refusal.code;
  }

  #apiErrorOf(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    this.#deps.log.error({ err: error }, 'unexpected error in an upgrade');
    return internalError(SEE_LOG);
  }

  #logLine(request: IncomingMessage, info: RequestInfo) {
    const line: Pick<LoggedRequest, 'identity' | 'decision'> = {};
    return {
      ...line,
      startedAt: this.#deps.clock.monotonic(),
      info: loggedInfo(info),
      method: request.method ?? '',
      path: (request.url ?? '').split('?', 1)[0] ?? '',
      remoteAddress: request.socket.remoteAddress ?? '',
      userAgent: request.headers['user-agent'] ?? '',
    };
  }
}

/** exec, attach and port-forward are logged as `create` for any method, because they may change anything. */
function loggedInfo(info: RequestInfo): RequestInfo {
  const isRun = info.type === 'resource' && SUBRESOURCES.has(info.subresource ?? '');
  return isRun ? { ...info, verb: 'create' } : info;
}

const SUBRESOURCES = new Set(['exec', 'attach', 'portforward']);

/** Throws 404 for other requests. */
function podRequest(info: RequestInfo): ResourceRequest {
  const isServed =
    info.type === 'resource' &&
    info.group === '' &&
    info.version === 'v1' &&
    info.resource === 'pods' &&
    info.namespace !== undefined &&
    info.name !== undefined &&
    SUBRESOURCES.has(info.subresource ?? '');
  if (!isServed) throw pathNotFound();
  return info;
}

/** Throws 400 with upstream's message (`pkg/registry/core/pod/strategy.go` streamLocation). */
function nodeOf(pod: Pod): string {
  if (pod.spec.nodeName) return pod.spec.nodeName;
  throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
}
