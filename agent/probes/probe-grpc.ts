/**
 * gRPC probes: one call of grpc.health.v1.Health/Check (pkg/probe/grpc). Uses Node's HTTP/2, loaded with the first such
 * probe. Request and response have one field each, and a gRPC library would use more memory than the rest of the agent.
 */
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import type { Handler } from '../../shared/kube/pods/probe-types.js';
import type { ProbeResult } from '../decisions/probes/probe-state.js';
import { dialErrorMessage, hostAndPort, type ProbeTarget } from './probe-target.js';

const PATH = '/grpc.health.v1.Health/Check';
const SERVING = 1;
const STATUS_NAMES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const UNIMPLEMENTED = '12';
const CODE_NAMES: Record<string, string> = {
  '2': 'Unknown',
  '5': 'NotFound',
  '13': 'Internal',
  '14': 'Unavailable',
};

interface GrpcResponse {
  code: string;
  message: string;
  body: Buffer;
}

/** Calls the health service once. Never rejects: an error becomes a failed probe with its message. */
export async function probeGrpc(
  { port, service = '' }: NonNullable<Handler['grpc']>,
  { podIP }: ProbeTarget,
  timeoutMs: number,
): Promise<ProbeResult> {
  const where = hostAndPort(podIP, port);
  const { connect } = await import('node:http2');
  const session = connect(`http://${where}`);
  const seconds = `${timeoutMs / 1000}s`;
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    await connected(session, deadline);
  } catch (error) {
    session.destroy();
    const message = deadline.aborted
      ? `timeout: failed to connect service "${where}" within ${seconds}: context deadline exceeded`
      : `error: failed to connect service at "${where}": ${dialErrorMessage(error, where)}`;
    return { kind: 'failure', message };
  }
  try {
    return verdict(await check(session, service, deadline));
  } catch (error) {
    const message = deadline.aborted
      ? `timeout: health rpc did not complete within ${seconds}`
      : `error: health rpc probe failed: ${error instanceof Error ? error.message : String(error)}`;
    return { kind: 'failure', message };
  } finally {
    session.destroy();
  }
}

function connected(session: ClientHttp2Session, deadline: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    deadline.addEventListener('abort', reject, { once: true });
    session.once('connect', () => resolve());
    // Remains until the session ends: an error after the connect also fails the call.
    session.on('error', reject);
  });
}

function check(session: ClientHttp2Session, service: string, deadline: AbortSignal): Promise<GrpcResponse> {
  const call = session.request({
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/grpc',
    'user-agent': 'kube-probe/1.32',
    te: 'trailers',
  });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let fields: IncomingHttpHeaders = {};
    deadline.addEventListener('abort', reject, { once: true });
    call.on('response', (headers) => {
      fields = { ...fields, ...headers };
    });
    call.on('trailers', (trailers) => {
      fields = { ...fields, ...trailers };
    });
    call.on('data', (chunk: Buffer) => chunks.push(chunk));
    call.on('error', reject);
    call.on('end', () => resolve(responseOf(fields, Buffer.concat(chunks))));
    call.end(framed(encodeRequest(service)));
  });
}

function responseOf(fields: IncomingHttpHeaders, body: Buffer): GrpcResponse {
  const text = (name: string): string => String(fields[name] ?? '');
  const status = text(':status');
  const code = text('grpc-status') || (status === '200' ? '2' : '14');
  const message =
    decodeURIComponent(text('grpc-message')) || (status === '200' ? '' : `HTTP status ${status}`);
  return { code, message, body };
}

function verdict({ code, message, body }: GrpcResponse): ProbeResult {
  if (code === UNIMPLEMENTED) {
    const what = 'this server does not implement the grpc health protocol (grpc.health.v1.Health)';
    return { kind: 'failure', message: `error: ${what}: ${message}` };
  }
  if (code !== '0') {
    const error = `rpc error: code = ${CODE_NAMES[code] ?? `Code(${code})`} desc = ${message}`;
    return { kind: 'failure', message: `error: health rpc probe failed: ${error}` };
  }
  const status = decodeStatus(body);
  if (status === SERVING) return { kind: 'success' };
  const name = STATUS_NAMES[status] ?? String(status);
  return { kind: 'failure', message: `service unhealthy (responded with "${name}")` };
}

/** HealthCheckRequest: field 1 is the service's name. An empty name is left out. */
function encodeRequest(service: string): Buffer {
  const name = Buffer.from(service);
  if (name.length === 0) return name;
  return Buffer.concat([Buffer.from([0x0a]), varint(name.length), name]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  return Buffer.from([...bytes, left]);
}

/** gRPC's frame: not compressed, length, message. */
function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** HealthCheckResponse: field 1 is the status, one byte. Absent means 0. */
function decodeStatus(body: Buffer): number {
  const message = body.subarray(5);
  return message[0] === 0x08 ? (message[1] ?? 0) : 0;
}
