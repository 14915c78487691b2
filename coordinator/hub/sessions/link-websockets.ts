/** Accepts WebSockets of agents whose upgrade was admitted. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { CHALLENGE_HEADER } from '../../../shared/link/key-proof.js';
import { MAX_FRAME_BYTES, SUBPROTOCOL } from '../../../shared/link/messages/link-messages.js';

/** An HTTP upgrade as Node's server reports it. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

export class LinkWebSockets {
  readonly #server = new WebSocketServer({
    noServer: true,
    // The sessions already track the open sockets.
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    skipUTF8Validation: true,
    handleProtocols: () => SUBPROTOCOL,
  });
  /** Challenges to send in the response headers. */
  readonly #nonces = new WeakMap<IncomingMessage, string>();

  constructor() {
    this.#server.on('headers', (headers, request) => {
      const nonce = this.#nonces.get(request);
      if (nonce !== undefined) headers.push(`${CHALLENGE_HEADER}: ${nonce}`);
    });
  }

  /** Completes the upgrade. `nonce`: the challenge that the agent has to sign. */
  open(
    { request, socket, head }: Upgrade,
    nonce: string | undefined,
    opened: (socket: WebSocket) => void,
  ): void {
    if (nonce !== undefined) this.#nonces.set(request, nonce);
    this.#server.handleUpgrade(request, socket, head, opened);
  }
}
