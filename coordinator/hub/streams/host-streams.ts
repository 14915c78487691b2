/** Opens streams on hosts for the API. Implements `PodStreams` of `coordinator/api`. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { LogStreamRequest, StreamRequest } from '../../../shared/link/messages/link-messages.js';
import type { Session } from '../sessions/session.js';

export class HostStreams {
  readonly #sessionOf: (node: string) => Session | undefined;
  readonly #hostUid: (uid: string) => string;

  /** `sessionOf` returns the live session of a node, `hostUid` the uid of a Pod on its host. */
  constructor(
    sessionOf: (node: string) => Session | undefined,
    hostUid: (uid: string) => string = (uid) => uid,
  ) {
    this.#sessionOf = sessionOf;
    this.#hostUid = hostUid;
  }

  /** Returns the bytes of a container's log, at the speed of the reader. Rejects like `open`. */
  logs(nodeName: string, request: LogStreamRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.open(nodeName, request, nothing(), signal);
  }

  /** Opens a stream in both directions. Rejects with ApiError if the host is not connected or refuses. */
  async open(
    nodeName: string,
    request: StreamRequest,
    input: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const session = this.#sessionOf(nodeName);
    if (!session) throw new ApiError('ServiceUnavailable', `node "${nodeName}" is not connected`);
    return session.openStream(this.#forHost(request), input, signal);
  }

  #forHost(request: StreamRequest): StreamRequest {
    return 'podUid' in request ? { ...request, podUid: this.#hostUid(request.podUid) } : request;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {
  // A log stream has no input.
}
