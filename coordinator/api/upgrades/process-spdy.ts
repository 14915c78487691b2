/**
 * exec and attach over SPDY, for kubectl up to 1.29 and programs with client-go's NewSPDYExecutor. Each channel is a
 * stream, named by the header `streamtype` (`staging/…/cri/streaming/remotecommand/httpstream.go`).
 */
import type { Duplex } from 'node:stream';
import type { ExecStreamRequest } from '../../../shared/link/messages/link-messages.js';
import { CHANNEL, closeFrame, framesOf } from '../../../shared/link/streams/stream-channels.js';
import { SpdyConnection, type SpdyStream } from '../spdy/spdy-connection.js';

/** Names of the output streams by channel. */
const OUTPUT: Readonly<Record<number, string>> = {
  [CHANNEL.stdout]: 'stdout',
  [CHANNEL.stderr]: 'stderr',
  [CHANNEL.status]: 'error',
};

type ProcessChannels = Pick<ExecStreamRequest, 'stdin' | 'stdout' | 'stderr' | 'tty'>;

/** Resolves when the connection has ended. `send` passes the client's frames on and resolves when it accepts more. */
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
    // The host is gone. The client's connection ends without a status.
    connection.close();
  }
}

/** A client writes one terminal size at a time, so each chunk of `resize` is one size. */
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
