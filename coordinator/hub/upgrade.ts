/** Answers to an HTTP upgrade: a WebSocket, or a refusal that says why. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ApiError } from '../../shared/kube/status.js';
import { MAX_FRAME_BYTES, SUBPROTOCOL } from '../../shared/link/messages.js';

/** Speaks WebSocket on sockets that others accept; keeps no list of them. */
export class Upgrader {
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    skipUTF8Validation: true,
    handleProtocols: () => SUBPROTOCOL,
  });

  /** Completes the upgrade; a request that is no proper one is refused and `accept` never called. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, accept: (socket: WebSocket) => void): void {
    this.#server.handleUpgrade(request, socket, head, accept);
  }
}

/** Ends the connection with the Status of `error`. */
export function refuseUpgrade(socket: Duplex, error: ApiError): void {
  const body = JSON.stringify(error.toStatus());
  const head = [
    `HTTP/1.1 ${error.code} ${error.reason}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
