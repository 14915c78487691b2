/** The streams that readers have open on one agent. */
import { ApiError, type StatusReason } from '../../shared/kube/status.js';
import { StreamError, StreamReader } from '../../shared/link/byte-stream.js';
import type { FromAgent, FromHub, StreamRequest } from '../../shared/link/messages.js';

type StreamMessage = Extract<FromAgent, { kind: 'streamStarted' | 'streamData' | 'streamClose' }>;

const MAX_STREAMS = 64;

interface OpenStream {
  reader: StreamReader;
  started: () => void;
  /** Before it began this refuses it, after that the reader is told. */
  failed: (error: ApiError) => void;
}

export class IncomingStreams {
  readonly #send: (message: FromHub) => void;
  readonly #streams = new Map<number, OpenStream>();
  #lastNumber = 0;

  constructor(send: (message: FromHub) => void) {
    this.#send = send;
  }

  /** Resolves once the host has begun; rejects with ApiError when it refuses. The stream ends when `signal` aborts. */
  open(request: StreamRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    this.#lastNumber += 1;
    const stream = this.#lastNumber;
    return new Promise((resolve, reject) => {
      if (this.#streams.size >= MAX_STREAMS) {
        reject(new ApiError('TooManyRequests', 'too many streams are open on this node'));
        return;
      }
      const leave = () => this.#leave(stream);
      const reader = new StreamReader((bytes) => this.#send({ kind: 'streamCredit', stream, bytes }), leave);
      this.#streams.set(stream, { reader, started: () => resolve(reader), failed: reject });
      signal.addEventListener('abort', leave, { once: true });
      this.#send({ kind: 'streamOpen', stream, request });
    });
  }

  /** Takes in what the agent says. False when it broke the rules of streams. Numbers of streams just left are ignored. */
  receive(message: StreamMessage): boolean {
    const open = this.#streams.get(message.stream);
    switch (message.kind) {
      case 'streamStarted':
        open?.started();
        return true;
      case 'streamData':
        return open?.reader.push(message.bytes) ?? true;
      case 'streamClose':
        this.#streams.delete(message.stream);
        if (open) finish(open, message.error && asApiError(message.error));
        return true;
    }
  }

  /** The link broke. */
  closeAll(): void {
    const error = new ApiError('ServiceUnavailable', 'the connection to the node was lost');
    for (const open of this.#streams.values()) finish(open, error);
    this.#streams.clear();
  }

  #leave(stream: number): void {
    const open = this.#streams.get(stream);
    if (!open || !this.#streams.delete(stream)) return;
    this.#send({ kind: 'streamClose', stream });
    finish(open);
  }
}

function finish({ reader, failed }: OpenStream, error?: ApiError): void {
  reader.end(error && new StreamError(error.reason, error.message));
  // Without effect once the stream has begun.
  failed(error ?? new ApiError('ServiceUnavailable', 'the stream ended before it began'));
}

const REASONS: readonly StatusReason[] = ['NotFound', 'BadRequest', 'TooManyRequests', 'ServiceUnavailable'];

function asApiError({ reason, message }: { reason: string; message: string }): ApiError {
  return new ApiError(REASONS.find((known) => known === reason) ?? 'InternalError', message);
}
