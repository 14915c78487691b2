/** Streams of the API, such as watches and logs, over a WebSocket. `STREAM_PROTOCOL` explains why. */
import type { Status } from '../../shared/kube/objects/api-status.js';
import { STREAM_PROTOCOL } from '../../shared/kube/objects/stream-protocol.js';
import { ApiCallError, errorOfStatus } from './api-call.js';
import { coordinatorLostSignal } from './coordinator-contact.js';

/** Opens a stream that ends with the response. Fails with `ApiCallError`. `signal` closes it. */
export function openStream(path: string, signal: AbortSignal): ReadableStream<string> {
  const decoder = new TextDecoder();
  // Removes the listeners from `signal` when the stream ends, because `signal` can outlive it.
  const over = new AbortController();
  let close = (): void => undefined;
  return new ReadableStream<string>({
    start: (controller) => {
      const socket = new WebSocket(`wss://${location.host}${path}`, STREAM_PROTOCOL);
      socket.binaryType = 'arraybuffer';
      close = () => {
        over.abort();
        socket.close();
      };
      const end = (error?: ApiCallError) => {
        if (over.signal.aborted) return;
        if (error) controller.error(error);
        else controller.close();
        close();
      };
      const gone = new ApiCallError(0, 'Unreachable', 'the coordinator is unreachable');
      socket.onmessage = ({ data }) => {
        if (typeof data === 'string') end(errorOfStatus(JSON.parse(data) as Status));
        else if (!over.signal.aborted)
          controller.enqueue(decoder.decode(data as ArrayBuffer, { stream: true }));
      };
      socket.onclose = ({ wasClean }) => end(wasClean ? undefined : gone);
      for (const abort of [signal, coordinatorLostSignal()]) {
        abort.addEventListener('abort', () => end(gone), { signal: over.signal });
        if (abort.aborted) end(gone);
      }
    },
    cancel: () => close(),
  });
}

/** Yields the received lines in batches. An unterminated last line comes at the end. */
export async function* readLines(path: string, signal: AbortSignal): AsyncGenerator<string[]> {
  const reader = openStream(path, signal).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) yield lines;
    }
    if (rest !== '') yield [rest];
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
