/** The streams that readers have open on this host. */
import { StreamError, StreamWriter } from '../../shared/link/byte-stream.js';
import type { FromHub, StreamOpen, StreamRequest } from '../../shared/link/messages.js';
import type { Connection } from './connection.js';

type OpenStream = (request: StreamRequest, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
type StreamMessage = Extract<FromHub, { kind: 'streamOpen' | 'streamCredit' | 'streamClose' }>;

/** More than people read at once; protects the engine. */
const MAX_STREAMS = 64;

export class OutgoingStreams {
  readonly #connection: Connection;
  readonly #open: OpenStream;
  readonly #writers = new Map<number, StreamWriter>();

  /** Lives as long as `connection`. */
  constructor(connection: Connection, open: OpenStream) {
    this.#connection = connection;
    this.#open = open;
  }

  /** Takes in what the hub says about streams. */
  receive(message: StreamMessage): void {
    switch (message.kind) {
      case 'streamOpen':
        void this.#run(message);
        return;
      case 'streamCredit':
        this.#writers.get(message.stream)?.grant(message.bytes);
        return;
      case 'streamClose':
        this.#writers.get(message.stream)?.close();
        return;
    }
  }

  /** The link broke: every source is let go. */
  closeAll(): void {
    for (const writer of this.#writers.values()) writer.close();
  }

  async #run({ stream, request }: StreamOpen): Promise<void> {
    const writer = new StreamWriter();
    try {
      if (this.#writers.size >= MAX_STREAMS) {
        throw new StreamError('TooManyRequests', 'too many streams on this host');
      }
      this.#writers.set(stream, writer);
      const source = await this.#open(request, writer.signal);
      this.#connection.send({ kind: 'streamStarted', stream });
      await writer.pump(source, (bytes) =>
        this.#connection.sendDrained({ kind: 'streamData', stream, bytes }),
      );
      this.#connection.send({ kind: 'streamClose', stream });
    } catch (error) {
      this.#connection.send({ kind: 'streamClose', stream, error: described(error) });
    } finally {
      writer.close();
      this.#writers.delete(stream);
    }
  }
}

function described(error: unknown): { reason: string; message: string } {
  if (error instanceof StreamError) return { reason: error.reason, message: error.message };
  return { reason: 'InternalError', message: error instanceof Error ? error.message : 'stream failed' };
}
