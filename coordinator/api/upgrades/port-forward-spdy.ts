/**
 * Port forwarding of kubectl: for each connection two SPDY streams with the same `requestid`, first `error`, then
 * `data` (`pkg/kubelet/… /portforward/httpstream.go`).
 */
import type { Duplex } from 'node:stream';
import { SpdyConnection, type SpdyStream } from '../spdy/spdy-connection.js';
import { connectPort, type PortTarget } from './port-connection.js';

/** Resolves when the client ends the connection, or `signal` aborts. */
export async function forwardPorts(socket: Duplex, target: PortTarget, signal: AbortSignal): Promise<void> {
  const waiting = new Map<string, SpdyStream>();
  signal.addEventListener('abort', () => socket.destroy(), { once: true });
  const connection = new SpdyConnection(socket, (stream) => {
    const id = stream.headers.get('requestid') ?? '';
    const other = waiting.get(id);
    if (!other) {
      waiting.set(id, stream);
      return;
    }
    waiting.delete(id);
    const isData = stream.headers.get('streamtype') === 'data';
    void forward(isData ? stream : other, isData ? other : stream, target);
  });
  await connection.serve();
}

async function forward(data: SpdyStream, error: SpdyStream, target: PortTarget): Promise<void> {
  error.input.resume();
  const problem = await problemOf(data, target);
  if (problem !== undefined) await error.write(Buffer.from(problem));
  await error.end();
  await data.end();
}

async function problemOf(data: SpdyStream, target: PortTarget): Promise<string | undefined> {
  const port = parsePort(data.headers.get('port'));
  if (port === undefined) return `"${data.headers.get('port')}" is not a port`;
  return connectPort(target, port, data.input, (bytes) => data.write(bytes), data.signal);
}

/** Returns a TCP port; undefined for anything else. */
export function parsePort(text: string | undefined): number | undefined {
  const port = Number(text);
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined;
}
