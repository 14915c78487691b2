/** A gRPC server of grpc.health.v1.Health on 127.0.0.1 whose responses a test sets. */
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';

export const SERVING = 1;
export const NOT_SERVING = 2;

/** A status, a gRPC error code, or no response. */
type HealthAnswer = { status: number } | { code: number; message: string } | 'silence';

export interface HealthServer {
  port: number;
  /** Returns the response for a service. '' is the whole server. */
  answer: (service: string) => HealthAnswer;
  close(): Promise<void>;
}

export async function startHealthServer(): Promise<HealthServer> {
  const open = new Set<{ destroy(): void }>();
  const server = createServer();
  const health: HealthServer = {
    port: 0,
    answer: () => ({ status: SERVING }),
    close: () =>
      new Promise((resolve) => {
        for (const session of open) session.destroy();
        server.close(() => resolve());
      }),
  };
  server.on('session', (session) => {
    open.add(session);
    session.on('close', () => open.delete(session));
  });
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const isHealth = headers[':path'] === '/grpc.health.v1.Health/Check';
      const answer: HealthAnswer = isHealth
        ? health.answer(serviceOf(Buffer.concat(chunks)))
        : { code: 12, message: 'unknown method' };
      reply(stream, answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  health.port = (server.address() as AddressInfo).port;
  return health;
}

/** A HealthCheckRequest after gRPC's five-byte prefix: field 1, a short string. */
function serviceOf(body: Buffer): string {
  const message = body.subarray(5);
  return message[0] === 0x0a ? message.subarray(2, 2 + (message[1] ?? 0)).toString() : '';
}

function reply(stream: ServerHttp2Stream, answer: HealthAnswer): void {
  if (answer === 'silence') return;
  const head = { ':status': 200, 'content-type': 'application/grpc' };
  if ('code' in answer) {
    stream.respond(
      { ...head, 'grpc-status': String(answer.code), 'grpc-message': answer.message },
      { endStream: true },
    );
    return;
  }
  stream.respond(head, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, answer.status]));
}
