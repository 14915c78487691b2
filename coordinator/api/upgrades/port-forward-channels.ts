/**
 * Port forwarding over plain WebSocket channels, as the JavaScript, Python and Rust clients use it. Port n has channel
 * 2n for data and channel 2n + 1 for errors. Both start with the port number, 16 bits, little-endian
 * (`staging/…/cri/streaming/portforward/websocket.go`).
 */

import { PassThrough } from 'node:stream';
import type { WebSocket } from 'ws';
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { untilWritable } from '../http/paced-writer.js';
import { connectPort, type PortTarget } from './port-connection.js';
import { parsePort } from './port-forward-spdy.js';
import { closeSocket, FrameQueue, sendMessage } from './socket-frame-queue.js';

/** Two channels each, and a channel number is one byte. */
const MAX_PORTS = 127;

/** Returns the ports of the query. Throws 400. */
export function portsIn(query: URLSearchParams): number[] {
  const texts = query.getAll('ports').flatMap((text) => text.split(','));
  const ports = texts.map(parsePort).filter((port) => port !== undefined);
  if (ports.length > 0 && ports.length === texts.length && ports.length <= MAX_PORTS) return ports;
  throw badRequest('the query must contain `ports`, each from 1 to 65535');
}

/** Resolves when all ports' connections have ended, the client disconnects, or `signal` aborts. */
export async function servePortChannels(
  socket: WebSocket,
  ports: readonly number[],
  target: PortTarget,
  signal: AbortSignal,
): Promise<void> {
  signal.addEventListener('abort', () => socket.terminate(), { once: true });
  const inputs = ports.map(() => new PassThrough());
  const frames = new FrameQueue();
  frames.read(socket);
  void distribute(frames.frames, inputs);
  await Promise.all(
    ports.map(async (port, index) => {
      const send = (channel: number, bytes: Uint8Array) =>
        sendMessage(socket, Buffer.concat([Buffer.of(2 * index + channel), bytes]));
      const number = Buffer.of(port & 0xff, port >> 8);
      await send(0, number);
      await send(1, number);
      const input = inputs[index] ?? new PassThrough();
      const problem = await connectPort(target, port, input, (bytes) => send(0, bytes), signal);
      if (problem !== undefined) await send(1, Buffer.from(problem));
    }),
  );
  frames.close();
  await closeSocket(socket);
}

/** Passes each message to the input of its port. Ends all inputs with the connection. */
async function distribute(
  messages: AsyncIterable<Uint8Array>,
  inputs: readonly PassThrough[],
): Promise<void> {
  try {
    for await (const message of messages) {
      const input = inputs[(message[0] ?? 0) >> 1];
      if (input?.writable && !input.write(message.subarray(1))) await untilWritable(input);
    }
  } catch {
    // The connection was closed.
  } finally {
    for (const input of inputs) input.end();
  }
}
