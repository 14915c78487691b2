/** `…/pods/P/exec` and `…/pods/P/attach`: connects a client's channels with a process on the Pod's host. */
import type { WebSocket } from 'ws';
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { AttachStreamRequest, ExecStreamRequest } from '../../../shared/link/messages/link-messages.js';
import { CHANNEL, framesOf } from '../../../shared/link/streams/stream-channels.js';
import { isSwitchedOn } from '../http/request-info.js';
import type { PodStreams } from '../ports.js';
import { chosenContainer } from '../resources/pod-container.js';
import { serveProcessOverSpdy } from './process-spdy.js';
import { closeSocket, FrameQueue, sendMessage } from './socket-frame-queue.js';
import type { UpgradedSockets, UpgradeRequest } from './upgraded-sockets.js';

type ProcessRequest = Omit<ExecStreamRequest, 'podUid'> | Omit<AttachStreamRequest, 'podUid'>;

/** Parses the query (core/v1 PodExecOptions, PodAttachOptions). Throws 400. */
export function readProcessRequest(
  type: 'exec' | 'attach',
  pod: Pod,
  query: URLSearchParams,
): ProcessRequest {
  const container = chosenContainer(pod, query.get('container'));
  const tty = isSwitchedOn(query, 'tty');
  const [stdin, stdout] = [isSwitchedOn(query, 'stdin'), isSwitchedOn(query, 'stdout')];
  // A terminal has no separate stderr.
  const stderr = isSwitchedOn(query, 'stderr') && !tty;
  if (!stdin && !stdout && !stderr) throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  const common = { container, stdin, stdout, stderr, tty };
  if (type === 'attach') return { type, ...common };
  const command = query.getAll('command');
  if (command.length === 0) throw badRequest('you must specify at least one command');
  return { type, command, ...common };
}

/**
 * Resolves when the process runs, with a function that serves the connection until it ends. Throws the host's error.
 */
export async function serveProcess(
  streams: PodStreams,
  sockets: UpgradedSockets,
  upgrade: UpgradeRequest,
  node: string,
  request: ExecStreamRequest | AttachStreamRequest,
): Promise<() => Promise<void>> {
  const protocol = sockets.processProtocol(upgrade);
  const frames = new FrameQueue();
  const output = await streams.open(node, request, inLinkFrames(frames.frames), upgrade.signal);
  if (protocol === 'spdy') {
    return async () => {
      const connection = sockets.acceptSpdy(upgrade, 'process');
      const send = (frame: Uint8Array) => frames.put(frame);
      await serveProcessOverSpdy(connection, request, output, send).finally(() => frames.close());
    };
  }
  return async () =>
    serveOverWebSocket(await sockets.acceptChannels(upgrade), output, frames, upgrade.signal);
}

async function serveOverWebSocket(
  socket: WebSocket,
  output: AsyncIterable<Uint8Array>,
  frames: FrameQueue,
  signal: AbortSignal,
): Promise<void> {
  frames.read(socket);
  signal.addEventListener('abort', () => socket.terminate(), { once: true });
  try {
    for await (const frame of output) await sendMessage(socket, frame);
  } catch {
    // The host is gone. The client's connection ends without a status.
    socket.terminate();
  }
  frames.close();
  await closeSocket(socket);
}

/** A client's message may exceed the maximum frame of the link. */
async function* inLinkFrames(messages: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const message of messages) {
    if (message[0] === CHANNEL.stdin) yield* framesOf(CHANNEL.stdin, message.subarray(1));
    else if (message.length > 0) yield message;
  }
}
