/** The streams that readers have opened on this host. */

import type { FromHub, StreamOpen, StreamRequest } from '../../shared/link/messages/link-messages.js';
import { StreamError, StreamReader, StreamWriter } from '../../shared/link/streams/byte-stream.js';
import { StreamCongestion } from '../../shared/link/streams/stream-congestion.js';
import type { HubConnection } from './hub-connection.js';

/** `input`: data from the reader, if the request has any. */
type OpenStream = (
  request: StreamRequest,
  input: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
) => Promise<AsyncIterable<Uint8Array>>;
type StreamMessage = Extract<
  FromHub,
  { kind: 'streamOpen' | 'streamData' | 'streamArrived' | 'streamCredit' | 'streamClose' }
>;

/** Limit of open streams, which protects the engine. */
const MAX_STREAMS = 64;

interface OpenEnds {
  writer: StreamWriter;
  input: StreamReader;
}

export class OutgoingStreams {
  readonly #connection: HubConnection;
  readonly #open: OpenStream;
  readonly #streams = new Map<number, OpenEnds>();
  readonly #pace: StreamCongestion;

  /** Lives as long as `connection`. `now` returns monotonic ms. */
  constructor(connection: HubConnection, open: OpenStream, now: () => number) {
    this.#connection = connection;
    this.#open = open;
    this.#pace = new StreamCongestion(now);
  }

  /** Called if the hub reports which bytes have arrived. */
  enablePacing(): void {
    this.#pace.enable();
  }

  /** Handles a stream message of the hub. Returns false if the hub sent more than it was granted. */
  receive(message: StreamMessage): boolean {
    switch (message.kind) {
      case 'streamOpen':
        void this.#run(message);
        return true;
      case 'streamData':
        this.#connection.send({ kind: 'streamArrived', bytes: message.bytes.length });
        return this.#streams.get(message.stream)?.input.push(message.bytes) ?? true;
      case 'streamArrived':
        this.#pace.acknowledge(message.bytes);
        return true;
      case 'streamCredit':
        this.#streams.get(message.stream)?.writer.addCredit(message.bytes);
        return true;
      case 'streamClose':
        this.#streams.get(message.stream)?.writer.close();
        return true;
    }
  }

  /** Closes all sources after the link broke. */
  closeAll(): void {
    for (const { writer } of this.#streams.values()) writer.close();
    this.#pace.close();
  }

  async #run({ stream, request }: StreamOpen): Promise<void> {
    const writer = new StreamWriter();
    const input = this.#inputOf(stream);
    writer.signal.addEventListener('abort', () => input.end(), { once: true });
    try {
      if (this.#streams.size >= MAX_STREAMS) {
        throw new StreamError('TooManyRequests', 'too many streams on this host');
      }
      this.#streams.set(stream, { writer, input });
      const source = await this.#open(request, input, writer.signal);
      this.#connection.send({ kind: 'streamStarted', stream });
      await writer.pump(source, async (bytes) => {
        await this.#pace.waitForWindow(bytes.length);
        await this.#connection.sendDrained({ kind: 'streamData', stream, bytes });
      });
      this.#connection.send({ kind: 'streamClose', stream });
    } catch (error) {
      this.#connection.send({ kind: 'streamClose', stream, error: described(error) });
    } finally {
      writer.close();
      this.#streams.delete(stream);
    }
  }

  #inputOf(stream: number): StreamReader {
    const grant = (bytes: number) => this.#connection.send({ kind: 'streamCredit', stream, bytes });
    // Unread input is dropped; the output may continue.
    return new StreamReader(grant, () => undefined);
  }
}

function described(error: unknown): { reason: string; message: string } {
  if (error instanceof StreamError) return { reason: error.reason, message: error.message };
  return { reason: 'InternalError', message: error instanceof Error ? error.message : 'stream failed' };
}
