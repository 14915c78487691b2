/** httpGet of probes and hooks (pkg/probe/http). */
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { HTTPGetAction } from '../../shared/kube/pods/probe-types.js';
import type { ProbeResult } from '../decisions/probes/probe-state.js';
import { dialErrorMessage, hostAndPort, type ProbeTarget, portNumber } from './probe-target.js';

/** Limit of the body that is read (pkg/probe/http maxRespBodyLength). */
const MAX_BODY_BYTES = 10 * 1024;
/** The limit of Go's HTTP client. */
const MAX_REDIRECTS = 10;
const USER_AGENT = 'kube-probe/1.32';

interface HttpResponse {
  status: number;
  body: string;
  location?: string;
}

/** Returns the URL to request. Throws an Error when the port is unknown. */
function probeUrl(action: HTTPGetAction, target: ProbeTarget): URL {
  const scheme = (action.scheme ?? 'HTTP').toLowerCase();
  const where = hostAndPort(action.host || target.podIP, portNumber(action.port, target));
  return new URL(action.path ?? '/', `${scheme}://${where}/`);
}

/** Succeeds for 2xx and 3xx. A redirect to another host is not followed and yields a warning. */
export async function probeHttp(
  action: HTTPGetAction,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<ProbeResult> {
  const signal = AbortSignal.timeout(timeoutMs);
  const start = probeUrl(action, target);
  let url = start;
  for (let redirects = 0; ; redirects += 1) {
    let response: HttpResponse;
    try {
      response = await get(url, headersOf(action), signal);
    } catch (error) {
      return { kind: 'failure', message: `Get "${url}": ${failureMessage(error, url, signal)}` };
    }
    const next = redirectOf(response, url);
    if (!next) return verdict(response);
    if (next.hostname !== start.hostname) {
      return { kind: 'warning', message: `Probe terminated redirects, Response body: ${response.body}` };
    }
    if (redirects >= MAX_REDIRECTS) {
      return { kind: 'failure', message: `Get "${next}": stopped after ${MAX_REDIRECTS} redirects` };
    }
    url = next;
  }
}

/** Sends the request of a hook and ignores the status. Throws an Error when there is no response. */
export async function sendHookRequest(
  action: HTTPGetAction,
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<void> {
  const url = probeUrl(action, target);
  try {
    await get(url, headersOf(action), signal);
  } catch (error) {
    throw new Error(`Get "${url}": ${failureMessage(error, url, signal)}`);
  }
}

function headersOf({ httpHeaders }: HTTPGetAction): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const names = new Map<string, string>();
  for (const { name, value } of httpHeaders ?? []) {
    const known = names.get(name.toLowerCase());
    if (known === undefined) {
      names.set(name.toLowerCase(), name);
      headers[name] = value;
    } else headers[known] = [headers[known] ?? [], value].flat();
  }
  // A header with an empty value removes the default.
  if (!names.has('user-agent')) headers['User-Agent'] = USER_AGENT;
  if (!names.has('accept')) headers.Accept = '*/*';
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
}

function get(url: URL, headers: OutgoingHttpHeaders, signal: AbortSignal): Promise<HttpResponse> {
  // Like upstream, does not verify certificates: a probe only checks whether the server responds.
  const options: RequestOptions = { headers, signal, agent: false, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const outgoing = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      read(response).then(resolve, reject);
    });
    outgoing.end();
  });
}

async function read(response: IncomingMessage): Promise<HttpResponse> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= MAX_BODY_BYTES) break;
  }
  const { location } = response.headers;
  return {
    status: response.statusCode ?? 0,
    body: Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8'),
    ...(location ? { location } : {}),
  };
}

function redirectOf({ status, location }: HttpResponse, from: URL): URL | undefined {
  const isRedirect = [301, 302, 303, 307, 308].includes(status);
  return isRedirect && location && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

function verdict({ status }: HttpResponse): ProbeResult {
  if (status >= 200 && status < 400) return { kind: 'success' };
  return { kind: 'failure', message: `HTTP probe failed with statuscode: ${status}` };
}

function failureMessage(error: unknown, url: URL, signal: AbortSignal): string {
  if (signal.aborted) return 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return dialErrorMessage(error, hostAndPort(url.hostname.replace(/^\[|\]$/g, ''), port));
}
