/**
 * exec and attach over SPDY, as clients before WebSocket do them and newer ones fall back to: a stream for each channel,
 * named by the header `streamtype` (`staging/…/cri/streaming/remotecommand/httpstream.go`).
 */
import type { Duplex } from 'node:stream';
import type { ExecStreamRequest } from '../../../shared/link/messages/link-messages.js';
import { CHANNEL, closeFrame, framesOf } from '../../../shared/link/streams/stream-channels.js';
import { SpdyConnection, type SpdyStream } from '../spdy/spdy-connection.js';

/** The channels by which frames go out, by the names of their streams. */
const OUTPUT: Readonly<Record<number, string>> = {
  [CHANNEL.stdout]: 'stdout',
  [CHANNEL.stderr]: 'stderr',
  [CHANNEL.status]: 'error',
};

type ProcessChannels = Pick<ExecStreamRequest, 'stdin' | 'stdout' | 'stderr' | 'tty'>;

/** Serves until the connection ends. `send` takes the client's frames and resolves when there is room for more. */
export async function serveProcessOverSpdy(
  socket: Duplex,
  channels: ProcessChannels,
  output: AsyncIterable<Uint8Array>,
  send: (frame: Uint8Array) => Promise<void>,
): Promise<void> {
  const streams = new Map<string, SpdyStream>();
  const expected = streamsOf(channels);
  const connection: SpdyConnection = new SpdyConnection(socket, (stream) => {
    const type = stream.headers.get('streamtype') ?? '';
    if (!expected.includes(type) || streams.has(type)) return;
    streams.set(type, stream);
    if (streams.size === expected.length) void begin(connection, streams, output, send);
  });
  await connection.serve();
}

function streamsOf({ stdin, stdout, stderr, tty }: ProcessChannels): string[] {
  const requested = { stdin, stdout, stderr, resize: tty };
  return [
    'error',
    ...Object.entries(requested).flatMap(([name, isRequested]) => (isRequested ? [name] : [])),
  ];
}

async function begin(
  connection: SpdyConnection,
  streams: ReadonlyMap<string, SpdyStream>,
  output: AsyncIterable<Uint8Array>,
  send: (frame: Uint8Array) => Promise<void>,
): Promise<void> {
  const ignore = () => undefined;
  feed(streams.get('stdin'), CHANNEL.stdin, send).catch(ignore);
  feed(streams.get('resize'), CHANNEL.resize, send).catch(ignore);
  try {
    for await (const frame of output)
      await streams.get(OUTPUT[frame[0] ?? 0] ?? '')?.write(frame.subarray(1));
    for (const stream of streams.values()) await stream.end();
  } catch {
    // The host is gone: the client sees its connection end without a status.
    connection.close();
  }
}

/** A client writes one size at a time, so a piece of `resize` is one. */
async function feed(
  stream: SpdyStream | undefined,
  channel: number,
  send: (frame: Uint8Array) => Promise<void>,
): Promise<void> {
  if (!stream) return;
  for await (const bytes of stream.input) {
    for (const frame of framesOf(channel, bytes as Uint8Array)) await send(frame);
  }
  await send(closeFrame(channel));
}
