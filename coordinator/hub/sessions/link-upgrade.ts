/** Turns an HTTP upgrade into the session of a proven node, or into a refusal with its reason. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { chooseSubprotocol } from '../../../shared/link/link-features.js';
import { SUBPROTOCOL } from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { type PeerCertificate, peerCertificateOf } from '../../pki/peer-certificate.js';
import { awaitProof, newNonce } from '../identity/link-proof.js';
import type { LinkClaim, NodeAuthenticator, ProvenNode } from '../identity/node-authenticator.js';
import { nodeOfSubject } from '../identity/node-subject.js';
import { type LinkSocket, type LinkTransport, transportOf } from './link-socket.js';
import { LinkWebSockets } from './link-websockets.js';

interface LinkUpgraderOptions {
  authenticator: Pick<NodeAuthenticator, 'claimOf'>;
  clusterUID: string;
  clock: Clock;
  accept: (proven: ProvenNode, socket: LinkSocket, transport: LinkTransport, onRefused: OnRefused) => void;
  log: Logger;
}

/** Called for each refused connection. `code` is the matching HTTP status. */
export type OnRefused = (refusal: {
  remoteAddress: string;
  node?: string;
  code: number;
  reason: string;
}) => void;

/** What an upgrade shows of the agent. */
export interface LinkRequest {
  readonly headers: IncomingHttpHeaders;
  /** From the TLS connection. */
  readonly peer: PeerCertificate | undefined;
  readonly remoteAddress: string;
}

/** `nonce`: the challenge that the agent has to sign, because the TLS connection does not prove its key. */
type UpgradeVerdict =
  | { readonly claim: LinkClaim; readonly nonce: string | undefined }
  | { readonly refused: ApiError };

export class LinkUpgrader {
  readonly #options: LinkUpgraderOptions;
  readonly #webSockets = new LinkWebSockets();
  #isClosed = false;

  constructor(options: LinkUpgraderOptions) {
    this.#options = options;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Takes over the socket: accepts it, or answers with a Status and closes it. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, onRefused: OnRefused): Promise<void> {
    const destroy = () => socket.destroy();
    socket.on('error', destroy);
    const { remoteAddress = '' } = request.socket;
    const peer = peerCertificateOf(socket, this.#options.clock.now());
    const verdict = await this.judge({ headers: request.headers, peer, remoteAddress }, onRefused);
    if ('refused' in verdict) {
      socket.end(refusalResponse(verdict.refused), () => socket.destroy());
      return;
    }
    socket.off('error', destroy);
    this.#webSockets.open({ request, socket, head }, verdict.nonce, (webSocket) =>
      this.opened(verdict, webSocket, transportOf(socket), onRefused),
    );
  }

  /** Decides about an upgrade. Logs a refusal. */
  async judge(request: LinkRequest, onRefused: OnRefused): Promise<UpgradeVerdict> {
    try {
      const claim = await this.#admit(request);
      return { claim, nonce: claim.key && newNonce() };
    } catch (error) {
      const { log } = this.#options;
      const { remoteAddress, peer } = request;
      if (!(error instanceof ApiError)) {
        log.error({ err: error }, 'upgrade failed');
        return { refused: new ApiError('InternalError', 'try again later') };
      }
      log.warn({ remoteAddress, reason: error.reason, message: error.message }, 'link refused');
      const node = peer && nodeOfSubject(peer);
      onRefused({ remoteAddress, ...(node ? { node } : {}), code: error.code, reason: error.reason });
      return { refused: error };
    }
  }

  /** The upgrade of an admitted request is complete. */
  opened(
    { claim, nonce }: Exclude<UpgradeVerdict, { refused: ApiError }>,
    webSocket: LinkSocket,
    transport: LinkTransport,
    onRefused: OnRefused,
  ): void {
    const { clusterUID, clock, log } = this.#options;
    const { node, hash, key } = claim;
    const accept = (proven: ProvenNode) => {
      // The hub closes only the sessions that it has when it stops.
      if (this.#isClosed) webSocket.terminate();
      else this.#options.accept(proven, webSocket, transport, onRefused);
    };
    if (!key || nonce === undefined) {
      accept(claim);
      return;
    }
    const { remoteAddress } = transport;
    const reason = 'the proof of its key is invalid';
    awaitProof(webSocket, { key, clusterUID, node, nonce }, clock, {
      proven: () => accept({ node, hash, bearer: newNonce() }),
      refused: () => {
        log.warn({ node, reason }, 'link refused');
        // Without the claimed name, because the claim is not proven.
        onRefused({ remoteAddress, code: 401, reason });
      },
    });
  }

  async #admit(request: LinkRequest): Promise<LinkClaim> {
    if (!chooseSubprotocol(request.headers['sec-websocket-protocol'])) {
      throw new ApiError('BadRequest', `the subprotocol ${SUBPROTOCOL} is not offered`);
    }
    const proven = await this.#options.authenticator.claimOf(request);
    if (this.#isClosed) throw new ApiError('ServiceUnavailable', 'the coordinator is stopping');
    return proven;
  }
}

/** Returns the HTTP response to a refused upgrade. */
export function refusalResponse(error: ApiError): string {
  const body = JSON.stringify(error.toStatus());
  const head = [
    `HTTP/1.1 ${error.code} ${error.reason}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
