/** One request from its head to its response: authentication, authorization, in-flight limit, handler, request log. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, timedOut } from '../../../shared/kube/objects/api-status.js';
import { networkOf } from '../../../shared/link/peer-network.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { AccessDecision } from '../../access/rbac-authorizer.js';
import type { ObjectChange } from '../audit/object-changes.js';
import { type AuthFilter, type Identity, limitKeyOf } from '../auth/auth-filter.js';
import { isIssuerPath, issuerResponse } from '../auth/issuer-discovery.js';
import { createPathResponses } from '../discovery/path-responses.js';
import type { ResourceTable } from '../discovery/resource-table.js';
import { InFlightLimit } from '../limits/in-flight-limit.js';
import { AGENTS_METRICS_PATH, type LeadershipProof, METRICS_PATH, type MetricsPage } from '../ports.js';
import type { ApiDeps, ApiResponse } from './api-context.js';
import { dispatchRequest } from './request-dispatch.js';
import { isLongRunning, type RequestInfo, readRequest } from './request-info.js';
import type { LoggedRequest } from './request-log.js';
import { methodNotAllowed, pathNotFound } from './status-response.js';
import { writeResponse } from './write-response.js';

export interface RequestHandlerOptions extends ApiDeps {
  authFilter: AuthFilter;
  resources: ResourceTable;
  /** The coordinator's version, for `/version`. */
  version: string;
  maxInFlight: number;
  /** For the check `etcd` of `/readyz`. Absent if this is the only coordinator. */
  leadership?: LeadershipProof;
  /** Absent: `/metrics` is not served. */
  metrics?: MetricsPage;
  /** Records completed requests in the request log and in the audit log. */
  record: (request: LoggedRequest) => void;
}

/** Documents that name all kinds. Health checks are not among them: they must not wait. */
const PATHS_OF_KINDS = /^\/(apis|openapi)(\/|$)/;

interface Admission {
  info: RequestInfo;
  /** Absent on public paths, and until the client is authenticated. */
  identity?: Identity;
  decision?: AccessDecision;
  /** Frees the request's in-flight slot. */
  leave: () => void;
  createdName?: string;
  isDryRun?: boolean;
  /** Annotations of admission, for the audit event. */
  annotations?: Record<string, string>;
  /** The object that a write was about to store, for the audit event. */
  change?: ObjectChange;
  /** True for a watch or a log: the client or the server must end it. */
  isStream?: boolean;
  /** Aborts when the response is complete, when the client disconnects, and when a stream must end. */
  closing: AbortController;
}

export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  readonly #inFlight: InFlightLimit;
  readonly #admissions = new WeakMap<FastifyRequest, Admission>();
  readonly #answerPath: ReturnType<typeof createPathResponses>;
  readonly #open = new Set<Admission>();
  /** Called when the last open response is complete. Set while the server drains. */
  #onDrained: (() => void) | undefined;

  constructor(options: RequestHandlerOptions) {
    const { resources, version, leadership } = options;
    this.#options = options;
    this.#inFlight = new InFlightLimit(options.maxInFlight);
    this.#answerPath = createPathResponses(resources, version, leadership);
  }

  /** Runs before the body is read: authenticates, authorizes and takes an in-flight slot. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (this.#onDrained) throw shuttingDown(reply);
    const info = readRequest(request.method, request.raw.url ?? '');
    const admission: Admission = { info, leave: () => undefined, closing: new AbortController() };
    this.#admissions.set(request, admission);
    this.#onClose(request, reply, admission);
    await this.#findNewKinds(info);
    const identity = await this.#options.authFilter.admit(info, request.raw, admission);
    admission.leave = this.#inFlight.enter(holderOf(identity, request.ip));
  }

  /** Waits for a custom kind that was established just now, and for documents that must contain it. */
  async #findNewKinds(info: RequestInfo): Promise<void> {
    const { resources, registry, settings, clock } = this.#options;
    const isNeeded =
      info.type === 'resource'
        ? resources.find(info) === undefined
        : info.type === 'path' && PATHS_OF_KINDS.test(info.path);
    if (isNeeded) await withTimeout(registry.caughtUp(), settings.responseTimeoutMs, clock);
  }

  /**
   * Ends all watches and logs as if their timeout had passed and rejects new requests. Resolves when no response is
   * open.
   */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDrained = resolve;
      for (const { isStream, closing } of this.#open) if (isStream) closing.abort();
      if (this.#open.size === 0) resolve();
    });
  }

  async handle(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const admission = this.#admissions.get(request);
    if (!admission) throw pathNotFound();
    const warnings: string[] = [];
    const answer = await this.#answer(request, admission, (text) => void warnings.push(text));
    if (answer.type === 'stream') this.#keepOpen(admission);
    await writeResponse(reply, answer, {
      slice: this.#options.slice,
      stallMs: this.#options.settings.stallMs,
      warnings,
      acceptsGzip: acceptsGzip(request.headers),
    });
  }

  /** Frees the in-flight slot, because a stream can last for hours and holds no request body. */
  #keepOpen(admission: Admission): void {
    admission.leave();
    admission.isStream = true;
    if (this.#onDrained) admission.closing.abort();
  }

  #onClose(request: FastifyRequest, reply: FastifyReply, admission: Admission): void {
    const { clock } = this.#options;
    const startedAt = clock.monotonic();
    const userAgent = request.headers['user-agent'];
    this.#open.add(admission);
    reply.raw.once('close', () => {
      admission.leave();
      admission.closing.abort();
      this.#open.delete(admission);
      if (this.#open.size === 0) this.#onDrained?.();
      this.#tell({
        ...admission,
        method: request.method,
        path: (request.raw.url ?? '').split('?', 1)[0] ?? '',
        remoteAddress: request.ip,
        ...(userAgent ? { userAgent } : {}),
        code: reply.raw.headersSent ? reply.raw.statusCode : 0,
        durationMs: clock.monotonic() - startedAt,
      });
    });
  }

  #tell(request: LoggedRequest): void {
    this.#options.record(request);
    this.#options.metrics?.observe(request);
  }

  async #answer(
    { headers, body }: FastifyRequest,
    admission: Admission,
    warn: (text: string) => void,
  ): Promise<ApiResponse> {
    const { info, identity, closing } = admission;
    const { accept, 'user-agent': userAgent, 'content-type': contentType, prefer } = headers;
    const kubectlCommand = headers['kubectl-command'];
    const accepted = accept === undefined ? {} : { accept };
    if (info.type === 'refused') throw info.reason === 'method' ? methodNotAllowed() : pathNotFound();
    if (info.type === 'path') {
      const { metrics } = this.#options;
      if (info.path === METRICS_PATH && metrics) return metricsAnswer(metrics, await metrics.text());
      if (info.path === AGENTS_METRICS_PATH && metrics) return metricsAnswer(metrics, metrics.agentsText());
      if (isIssuerPath(info.path)) return issuerResponse(this.#options, info);
      const ifNoneMatch = headers['if-none-match'];
      return this.#answerPath(info, {
        ...{ ...accepted, acceptsGzip: acceptsGzip(headers) },
        ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
      });
    }
    if (!identity) throw new ApiError('Unauthorized', 'Unauthorized');
    const answer = dispatchRequest(this.#options.resources, this.#options, {
      info,
      user: identity.user,
      limitKey: limitKeyOf(identity),
      headers: {
        ...accepted,
        ...(contentType ? { contentType } : {}),
        ...(userAgent ? { userAgent } : {}),
        ...(typeof prefer === 'string' ? { prefer } : {}),
        ...(typeof kubectlCommand === 'string' ? { kubectlCommand } : {}),
      },
      acceptsGzip: acceptsGzip(headers),
      ...(Buffer.isBuffer(body) ? { body } : {}),
      signal: closing.signal,
      warn,
      onCreated: (name) => {
        admission.createdName = name;
      },
      annotate: (key, value) => {
        admission.annotations = { ...admission.annotations, [key]: value };
      },
      onDryRun: () => {
        admission.isDryRun = true;
      },
      onChange: (change) => {
        admission.change = change;
      },
    });
    const { settings, clock } = this.#options;
    return isLongRunning(info) ? answer : withTimeout(answer, settings.responseTimeoutMs, clock);
  }
}

/**
 * Returns the owner of the in-flight slot: the authenticated user, not the impersonated one; on a public path the
 * client's network.
 */
function holderOf(identity: Identity | undefined, address: string): string {
  return identity ? limitKeyOf(identity) : networkOf(address);
}

function acceptsGzip({ 'accept-encoding': encodings = '' }: FastifyRequest['headers']): boolean {
  return /\bgzip\b/.test(String(encodings));
}

function metricsAnswer({ contentType }: MetricsPage, text: string): ApiResponse {
  const bytes = Buffer.from(text);
  return { type: 'bytes', code: 200, bytes, headers: { 'content-type': contentType } };
}

/**
 * Returns a 503 that clients retry. The connection is closed, so that the retry reaches the next server on this port.
 */
function shuttingDown(reply: FastifyReply): ApiError {
  reply.header('connection', 'close');
  const message = 'the server is shutting down, please try again later';
  return new ApiError('ServiceUnavailable', message, { retryAfterSeconds: 1 });
}

/**
 * Resolves like `work`, or throws 504 Timeout after `limitMs`. Like in kube-apiserver, `work` continues, so a write may
 * still succeed.
 */
function withTimeout<T>(work: Promise<T>, limitMs: number, clock: Clock): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = clock.after(limitMs, () => {
      reject(timedOut('request did not complete within the allotted timeout'));
    });
    work.finally(() => timer.cancel()).then(resolve, reject);
  });
}
