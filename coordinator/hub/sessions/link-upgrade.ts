/** Turns an HTTP upgrade into a WebSocket of a proven node, or into a refusal with its reason. */
import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { CHALLENGE_HEADER } from '../../../shared/link/key-proof.js';
import { chooseSubprotocol } from '../../../shared/link/link-features.js';
import { MAX_FRAME_BYTES, SUBPROTOCOL } from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { awaitProof, newNonce } from '../identity/link-proof.js';
import type { LinkClaim, NodeAuthenticator, ProvenNode } from '../identity/node-authenticator.js';

interface LinkUpgraderOptions {
  authenticator: Pick<NodeAuthenticator, 'claimOf' | 'nameOf'>;
  clusterUID: string;
  clock: Clock;
  accept: (proven: ProvenNode, socket: WebSocket, transport: Duplex, onRefused: OnRefused) => void;
  log: Logger;
}

/** Called for each refused connection. `code` is the matching HTTP status. */
export type OnRefused = (refusal: {
  remoteAddress: string;
  node?: string;
  code: number;
  reason: string;
}) => void;

export class LinkUpgrader {
  readonly #options: LinkUpgraderOptions;
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
  #isClosed = false;

  constructor(options: LinkUpgraderOptions) {
    this.#options = options;
    this.#server.on('headers', (headers, request) => {
      const nonce = this.#nonces.get(request);
      if (nonce !== undefined) headers.push(`${CHALLENGE_HEADER}: ${nonce}`);
    });
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Takes over the socket: accepts it, or answers with a Status and closes it. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, onRefused: OnRefused): Promise<void> {
    const destroy = () => socket.destroy();
    socket.on('error', destroy);
    try {
      const claim = await this.#admit(request);
      socket.off('error', destroy);
      const nonce = claim.key && newNonce();
      if (nonce !== undefined) this.#nonces.set(request, nonce);
      this.#server.handleUpgrade(request, socket, head, (webSocket) => {
        if (claim.key && nonce !== undefined)
          this.#challenge(webSocket, socket, { ...claim, key: claim.key, nonce }, onRefused);
        else this.#options.accept(claim, webSocket, socket, onRefused);
      });
    } catch (error) {
      const { log, authenticator } = this.#options;
      const { remoteAddress = '' } = request.socket;
      if (!(error instanceof ApiError)) log.error({ err: error }, 'upgrade failed');
      else {
        log.warn({ remoteAddress, reason: error.reason, message: error.message }, 'link refused');
        const node = authenticator.nameOf(request);
        onRefused({ remoteAddress, ...(node ? { node } : {}), code: error.code, reason: error.reason });
      }
      refuse(socket, error instanceof ApiError ? error : new ApiError('InternalError', 'try again later'));
    }
  }

  #challenge(
    webSocket: WebSocket,
    socket: Duplex,
    claim: ProvenNode & { key: KeyObject; nonce: string },
    onRefused: OnRefused,
  ): void {
    const { node, hash, key, nonce } = claim;
    const { clusterUID, clock, accept, log } = this.#options;
    const { remoteAddress = '' } = socket as Partial<Socket>;
    const reason = 'the proof of its key is invalid';
    awaitProof(webSocket, { key, clusterUID, node, nonce }, clock, {
      proven: () => accept({ node, hash, bearer: newNonce() }, webSocket, socket, onRefused),
      refused: () => {
        log.warn({ node, reason }, 'link refused');
        // Without the claimed name, because the claim is not proven.
        onRefused({ remoteAddress, code: 401, reason });
      },
    });
  }

  async #admit(request: IncomingMessage): Promise<LinkClaim> {
    if (!chooseSubprotocol(request.headers['sec-websocket-protocol'])) {
      throw new ApiError('BadRequest', `the subprotocol ${SUBPROTOCOL} is not offered`);
    }
    const proven = await this.#options.authenticator.claimOf(request);
    if (this.#isClosed) throw new ApiError('ServiceUnavailable', 'the coordinator is stopping');
    return proven;
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
