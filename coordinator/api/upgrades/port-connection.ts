/** A connection to one port of a Pod, independent of the client's protocol. */
import { CHANNEL, closeFrame, framesOf } from '../../../shared/link/streams/stream-channels.js';
import type { PodStreams } from '../ports.js';

export interface PortTarget {
  node: string;
  podUid: string;
  podName: string;
  streams: PodStreams;
}

/**
 * Connects and copies both ways until the server closes the connection or `signal` aborts. After the end of `input` the
 * server may still send. Resolves with undefined, or with the kubelet's error message.
 */
export async function connectPort(
  { node, podUid, podName, streams }: PortTarget,
  port: number,
  input: AsyncIterable<Uint8Array>,
  write: (bytes: Uint8Array) => Promise<void>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const output = await streams.open(node, { type: 'port', podUid, port }, inFrames(input), signal);
    for await (const frame of output) await write(frame.subarray(1));
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `error forwarding port ${port} to pod ${podName}, uid ${podUid}: ${why}`;
  }
}

async function* inFrames(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const bytes of input) yield* framesOf(CHANNEL.stdin, bytes);
  yield closeFrame(CHANNEL.stdin);
}
