/** Calls admission webhooks over HTTPS: at a URL, or at a Pod of a Service through the link of its host. */
import { once } from 'node:events';
import { type RequestOptions, request } from 'node:https';
import { Duplex, PassThrough } from 'node:stream';
import { connect } from 'node:tls';
import type { WebhookClientConfig, WebhookService } from '../shared/kube/admission/webhook-types.js';
import { serviceKey } from '../shared/kube/services/service-types.js';
import type { Clock } from '../shared/process/time/clock.js';
import type { PodStreams } from './api/ports.js';
import { connectPort, type PortTarget } from './api/upgrades/port-connection.js';
import type { Informers } from './informers/informer.js';
import { SLICES_BY_SERVICE } from './informers/informer.js';

/** Larger answers are refused, so that a webhook cannot fill the memory. */
const MAX_ANSWER_BYTES = 3 * 1024 * 1024;
const HTTPS_PORT = 443;

interface WebhookCallerDeps {
  clock: Clock;
  informers: () => Pick<Informers, 'services' | 'endpointSlices' | 'pods'>;
  streams: () => PodStreams;
}

/** Resolves with the parsed answer. Rejects with an Error that names the webhook's address and the cause. */
export async function callWebhookServer(
  deps: WebhookCallerDeps,
  { url, service, caBundle }: WebhookClientConfig,
  review: unknown,
  timeoutMs: number,
): Promise<unknown> {
  const ca = caBundle ? { ca: Buffer.from(caBundle, 'base64') } : {};
  const aborting = new AbortController();
  const timer = deps.clock.after(timeoutMs, () => aborting.abort());
  const address = url ?? serviceUrl(service ?? {});
  try {
    const tunnel = url === undefined ? tunnelOptions(deps, service ?? {}, aborting.signal) : {};
    const options: RequestOptions = { ...ca, ...tunnel, method: 'POST', signal: aborting.signal };
    return await post(withTimeout(address, timeoutMs), options, JSON.stringify(review));
  } catch (error) {
    const why = aborting.signal.aborted ? 'context deadline exceeded' : (error as Error).message;
    throw new Error(`Post ${JSON.stringify(withTimeout(address, timeoutMs))}: ${why}`);
  } finally {
    timer.cancel();
    aborting.abort();
  }
}

function serviceUrl({ name = '', namespace = '', path = '', port = HTTPS_PORT }: WebhookService): string {
  return `https://${name}.${namespace}.svc:${port}${path}`;
}

function withTimeout(address: string, timeoutMs: number): string {
  const url = new URL(address);
  url.searchParams.set('timeout', `${Math.ceil(timeoutMs / 1000)}s`);
  return url.href;
}

/** Returns options that connect through the link of the host on which the Service has a ready Pod. */
function tunnelOptions(
  deps: WebhookCallerDeps,
  service: WebhookService,
  signal: AbortSignal,
): RequestOptions {
  const { target, port } = readyPod(deps, service);
  const { name = '', namespace = '' } = service;
  const socket = tunnelTo(target, port, signal);
  const servername = `${name}.${namespace}.svc`;
  return {
    servername,
    // Without an agent, the request uses this connection.
    createConnection: (options) => connect({ ...(options as object), socket, servername }),
  };
}

/** Throws an Error that states why no Pod can answer. */
function readyPod(deps: WebhookCallerDeps, service: WebhookService): { target: PortTarget; port: number } {
  const { name = '', namespace = '', port = HTTPS_PORT } = service;
  const { services, endpointSlices, pods } = deps.informers();
  const found = services.get({ namespace, name });
  if (!found) throw new Error(`service "${name}" not found`);
  const servicePort = found.spec?.ports?.find((each) => each.port === port);
  if (!servicePort) throw new Error(`no service port ${port} found for service "${name}"`);
  for (const slice of endpointSlices.indexed(SLICES_BY_SERVICE, serviceKey({ namespace, name }))) {
    const targetPort = slice.ports?.find((each) => (each.name ?? '') === (servicePort.name ?? ''))?.port;
    for (const { conditions, targetRef, nodeName } of slice.endpoints ?? []) {
      if (conditions?.ready === false || targetRef?.kind !== 'Pod' || targetPort == null) continue;
      const pod = pods.get({ namespace, name: targetRef.name ?? '' });
      const node = nodeName ?? pod?.spec.nodeName;
      if (!pod?.metadata.uid || !node) continue;
      const target = { node, podUid: pod.metadata.uid, podName: pod.metadata.name, streams: deps.streams() };
      return { target, port: targetPort };
    }
  }
  throw new Error(`no endpoints available for service "${name}"`);
}

/** Returns a byte stream to a port of a Pod. */
function tunnelTo(target: PortTarget, port: number, signal: AbortSignal): Duplex {
  const [toPod, fromPod] = [new PassThrough(), new PassThrough()];
  const receive = async (bytes: Uint8Array): Promise<void> => {
    if (!fromPod.write(bytes)) await once(fromPod, 'drain', { signal });
  };
  void connectPort(target, port, toPod, receive, signal).then((failure) => {
    if (failure === undefined) fromPod.end();
    else fromPod.destroy(new Error(failure));
  });
  return Duplex.from({ readable: fromPod, writable: toPod });
}

function post(address: string, options: RequestOptions, body: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(address, { ...options, headers }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) sent.destroy(new Error('the answer is too large'));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        if (response.statusCode !== 200) {
          reject(new Error(`the server answered with status ${response.statusCode}: ${text.slice(0, 200)}`));
          return;
        }
        try {
          resolve(JSON.parse(text));
        } catch {
          reject(new Error('the answer is not JSON'));
        }
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
