/** What the API's port hands on to the hub: agents that join, and agents' links. The hub fits it. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { JoinResponse } from '../../../shared/link/messages/link-messages.js';

/** A POST of a host that wants a certificate, as it came. */
export interface JoinCall {
  /** The whole `Authorization` header. */
  authorization?: string;
  /** Decoded JSON, unchecked. */
  body: unknown;
  remoteAddress?: string;
}

/** `waiting`: for a person's word on the CertificateSigningRequest `request`. */
export type JoinOutcome =
  | { state: 'joined'; answer: JoinResponse }
  | { state: 'waiting'; request: string; message: string };

/** Somebody who was sent away, and why. */
export interface LinkRefusal {
  remoteAddress: string;
  /** Of a host that had proved which one it is. */
  node?: string;
  /** HTTP status, or the one that says the same. */
  code: number;
  reason: string;
}

export interface AgentLink {
  /** A certificate for a join token. Throws ApiError: 400, 401 wrong token, 403 refused, 409 name taken. */
  join(call: JoinCall): Promise<JoinOutcome>;
  /** A certificate for a host that is known. Throws ApiError: 400, 401, 403 refused. */
  certify(call: JoinCall): Promise<JoinOutcome>;
  /** Takes over the socket of a WebSocket upgrade at LINK_PATH, to serve or to refuse it; `onRefused` hears that it did, then or later. */
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    onRefused?: (refusal: LinkRefusal) => void,
  ): void;
}
