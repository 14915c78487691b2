/** From an HTTP upgrade to a WebSocket of a proven node, or to a refusal that says why. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '../../shared/kube/status.js';
import { MAX_FRAME_BYTES, SUBPROTOCOL } from '../../shared/link/messages.js';
import { chooseSubprotocol } from '../../shared/link/version.js';
import type { Logger } from '../../shared/process/log.js';

export interface UpgraderOptions {
  /** The node that the headers prove to be. Rejects with ApiError. */
  authenticate: (headers: IncomingHttpHeaders) => Promise<string>;
  accept: (node: string, socket: WebSocket, transport: Duplex) => void;
  log: Logger;
}

export class Upgrader {
  readonly #options: UpgraderOptions;
  readonly #server = new WebSocketServer({
    noServer: true,
    // The sessions are the list of what is open.
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    skipUTF8Validation: true,
    handleProtocols: () => SUBPROTOCOL,
  });
  #isClosed = false;

  constructor(options: UpgraderOptions) {
    this.#options = options;
  }

  /** Lets nobody in any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Takes over the socket: it is accepted, or answered with a Status and closed. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const destroy = () => socket.destroy();
    socket.on('error', destroy);
    try {
      const node = await this.#admit(request);
      socket.off('error', destroy);
      this.#server.handleUpgrade(request, socket, head, (webSocket) =>
        this.#options.accept(node, webSocket, socket),
      );
    } catch (error) {
      if (!(error instanceof ApiError)) this.#options.log.error({ err: error }, 'upgrade failed');
      refuse(socket, error instanceof ApiError ? error : new ApiError('InternalError', 'try again later'));
    }
  }

  async #admit({ headers }: IncomingMessage): Promise<string> {
    if (!chooseSubprotocol(headers['sec-websocket-protocol'])) {
      throw new ApiError('BadRequest', `the subprotocol ${SUBPROTOCOL} is not offered`);
    }
    const node = await this.#options.authenticate(headers);
    if (this.#isClosed) throw new ApiError('ServiceUnavailable', 'the coordinator stops');
    return node;
  }
}

function refuse(socket: Duplex, error: ApiError): void {
  const body = JSON.stringify(error.toStatus());
  const head = [
    `HTTP/1.1 ${error.code} ${error.reason}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
