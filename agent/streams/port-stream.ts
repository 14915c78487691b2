/** Serves `kubectl port-forward`: connections to ports of a Pod, in frames (`shared/link/streams/stream-channels.ts`). */
import type { Duplex } from 'node:stream';
import type { PortStreamRequest } from '../../shared/link/messages/link-messages.js';
import { StreamError } from '../../shared/link/streams/byte-stream.js';
import { CHANNEL, framesOf } from '../../shared/link/streams/stream-channels.js';
import { type RuntimeDriver, RuntimeError, SANDBOX } from '../runtime/runtime-driver.js';

/** Connects to the port from inside the Pod's network. Throws `StreamError`. */
export async function openPort(
  driver: Pick<RuntimeDriver, 'inspectPod' | 'dial'>,
  { podUid, port }: PortStreamRequest,
  input: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const running = (await driver.inspectPod(podUid)).filter(({ state }) => state === 'running');
  // All containers share one network. Prefer the sandbox, because it does not restart.
  const holder = running.find(({ identity }) => identity.container === SANDBOX) ?? running[0];
  if (!holder) throw new StreamError('InternalError', 'the pod has no running container');
  const socket = await dial(driver, holder.id, port, signal);
  const cut = () => void socket.destroy();
  signal.addEventListener('abort', cut, { once: true });
  if (signal.aborted) cut();
  feed(socket, input).catch(cut);
  return frames(socket);
}

async function dial(
  driver: Pick<RuntimeDriver, 'dial'>,
  id: string,
  port: number,
  signal: AbortSignal,
): Promise<Duplex> {
  try {
    return await driver.dial(id, port, signal);
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    throw new StreamError('InternalError', `failed to connect to localhost:${port}: ${error.message}`);
  }
}

/** Ends when the server closes or resets the connection. */
async function* frames(socket: Duplex): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const bytes of socket) yield* framesOf(CHANNEL.stdout, bytes as Uint8Array);
  } catch (error) {
    if (!isSocketError(error)) throw error;
  } finally {
    socket.destroy();
  }
}

function isSocketError(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}

async function feed(socket: Duplex, input: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const frame of input) {
    if (frame[0] === CHANNEL.close) socket.end();
    if (frame[0] !== CHANNEL.stdin || !socket.writable) continue;
    if (!socket.write(frame.subarray(1))) await drained(socket);
  }
}

function drained(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}
