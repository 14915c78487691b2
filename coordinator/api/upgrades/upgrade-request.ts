/** A request that is to become a connection of its own, on its way there. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ResourceRequest } from '../http/request-info.js';

export interface UpgradeRequest {
  request: IncomingMessage;
  socket: Duplex;
  /** What came behind the request's head. */
  head: Buffer;
  info: ResourceRequest;
  /** Aborts when the connection is gone or the server stops. */
  signal: AbortSignal;
}
