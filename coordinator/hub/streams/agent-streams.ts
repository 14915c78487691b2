/** The open streams (logs, exec, attach, port-forward) on one agent. */
import { ApiError, type StatusReason } from '../../../shared/kube/objects/api-status.js';
import type { FromAgent, FromHub, StreamRequest } from '../../../shared/link/messages/link-messages.js';
import { StreamError, StreamReader, StreamWriter } from '../../../shared/link/streams/byte-stream.js';
import { StreamCongestion } from '../../../shared/link/streams/stream-congestion.js';

type StreamMessage = Extract<
  FromAgent,
  { kind: 'streamStarted' | 'streamData' | 'streamArrived' | 'streamCredit' | 'streamClose' }
>;

const MAX_STREAMS = 64;

interface OpenStream {
  reader: StreamReader;
  writer: StreamWriter;
  started: () => void;
  /** Rejects the promise of `open`. Has no effect after the start: from then on the reader receives the errors. */
  failed: (error: ApiError) => void;
}

/** Sends messages: queued, or paced by the operating system's send buffer. */
interface StreamTransport {
  send(message: FromHub): void;
  sendDrained(message: FromHub): Promise<void>;
  /** Monotonic time in ms. */
  now(): number;
}

export class AgentStreams {
  readonly #transport: StreamTransport;
  readonly #pace: StreamCongestion;
  readonly #streams = new Map<number, OpenStream>();
  #lastNumber = 0;

  constructor(transport: StreamTransport) {
    this.#transport = transport;
    this.#pace = new StreamCongestion(() => transport.now());
    this.#pace.enable();
  }

  /**
   * Resolves when the host has started the stream. Rejects with ApiError when the host refuses. `input` is sent as fast
   * as the host accepts it. Aborting `signal` ends the stream.
   */
  open(
    request: StreamRequest,
    input: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    this.#lastNumber += 1;
    const stream = this.#lastNumber;
    return new Promise((resolve, reject) => {
      if (this.#streams.size >= MAX_STREAMS) {
        reject(new ApiError('TooManyRequests', 'too many streams are open on this node'));
        return;
      }
      const leave = () => this.#leave(stream);
      const { send } = this.#transport;
      const reader = new StreamReader((bytes) => send({ kind: 'streamCredit', stream, bytes }), leave);
      const writer = new StreamWriter();
      const started = () => {
        resolve(reader);
        void this.#pump(stream, writer, input);
      };
      this.#streams.set(stream, { reader, writer, started, failed: reject });
      signal.addEventListener('abort', leave, { once: true });
      send({ kind: 'streamOpen', stream, request });
    });
  }

  /** Processes a stream message. Returns false for a flow control violation. Ignores closed streams. */
  receive(message: StreamMessage): boolean {
    if (message.kind === 'streamArrived') {
      this.#pace.acknowledge(message.bytes);
      return true;
    }
    const open = this.#streams.get(message.stream);
    switch (message.kind) {
      case 'streamStarted':
        open?.started();
        return true;
      case 'streamData':
        this.#transport.send({ kind: 'streamArrived', bytes: message.bytes.length });
        return open?.reader.push(message.bytes) ?? true;
      case 'streamCredit':
        open?.writer.addCredit(message.bytes);
        return true;
      case 'streamClose':
        this.#streams.delete(message.stream);
        if (open) finish(open, message.error && asApiError(message.error));
        return true;
    }
  }

  /** The link is closed. */
  closeAll(): void {
    const error = new ApiError('ServiceUnavailable', 'the connection to the node was lost');
    for (const open of this.#streams.values()) finish(open, error);
    this.#streams.clear();
    this.#pace.close();
  }

  async #pump(stream: number, writer: StreamWriter, input: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      await writer.pump(input, async (bytes) => {
        await this.#pace.waitForWindow(bytes.length);
        await this.#transport.sendDrained({ kind: 'streamData', stream, bytes });
      });
    } catch {
      // The reader of the input is closed, so its remaining data has no use.
      this.#leave(stream);
    }
  }

  #leave(stream: number): void {
    const open = this.#streams.get(stream);
    if (!open || !this.#streams.delete(stream)) return;
    this.#transport.send({ kind: 'streamClose', stream });
    finish(open);
  }
}

function finish({ reader, writer, failed }: OpenStream, error?: ApiError): void {
  writer.close();
  reader.end(error && new StreamError(error.reason, error.message));
  // No effect once the stream has started.
  failed(error ?? new ApiError('ServiceUnavailable', 'the stream ended before it started'));
}

const REASONS: readonly StatusReason[] = ['NotFound', 'BadRequest', 'TooManyRequests', 'ServiceUnavailable'];

function asApiError({ reason, message }: { reason: string; message: string }): ApiError {
  return new ApiError(REASONS.find((known) => known === reason) ?? 'InternalError', message);
}
