/** What the API needs of whoever can reach a Pod's host; the hub fits it. */
import type { LogStreamRequest } from '../../shared/link/messages.js';

/** Bytes from a Pod's host. Throws ApiError when the host is not connected or refuses. */
export interface PodStreams {
  /** Ends when the log does, or when the signal aborts. Nothing is read faster than it is consumed. */
  logs(nodeName: string, request: LogStreamRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}
