/** What the API needs of whoever can reach a host; the hub fits it. */
import type { LogStreamRequest, StreamRequest } from '../../../shared/link/messages/link-messages.js';

/** Bytes from and to a host. Throws ApiError when the host is not connected or refuses. */
export interface PodStreams {
  /** Ends when the log does, or when the signal aborts. Nothing is read faster than it is consumed. */
  logs(nodeName: string, request: LogStreamRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Resolves once the host has begun. `input` is read as fast as the host takes it, and left when the stream ends. */
  open(
    nodeName: string,
    request: StreamRequest,
    input: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>;
}
