/** What the API's port hands on to the hub: agents that join, and agents' links. The hub fits it. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { JoinAnswer } from '../../shared/link/messages.js';

/** A POST /join as it came. */
export interface JoinCall {
  /** The whole `Authorization` header. */
  authorization?: string;
  /** Decoded JSON, unchecked. */
  body: unknown;
  remoteAddress?: string;
}

export interface AgentLink {
  /** A node credential for a join token. Throws ApiError: 400, 401 wrong token, 409 name taken. */
  join(call: JoinCall): Promise<JoinAnswer>;
  /** Takes over the socket of a WebSocket upgrade at LINK_PATH, to serve or to refuse it. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}
