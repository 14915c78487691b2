/** Where an agent's link goes and as whom, and the WebSocket that is opened by it. */
import { X509Certificate } from 'node:crypto';
import type { createConnection, Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { WebSocket } from 'ws';
import { CERTIFICATE_HEADER } from '../../shared/link/key-proof.js';
import { JOIN_MAC_HEADER, MAX_FRAME_BYTES, SUBPROTOCOL } from '../../shared/link/messages/link-messages.js';
import { connectTrusting } from './server-trust.js';

/** From the first packet to the answer of the upgrade. */
const HANDSHAKE_TIMEOUT_MS = 15_000;

/** Where to connect and as whom; read at each connect. */
export interface LinkTarget {
  /** `wss://HOST:PORT/link`. */
  url: string;
  /** PEM of the only certificate authorities that are trusted. */
  ca?: string | undefined;
  /** PEM of the host's key and of the certificate for it. */
  key?: string | undefined;
  certificate?: string | undefined;
  /** The fleet that a proof of the key is for; without, none is given. */
  clusterUID?: string | undefined;
  node?: string | undefined;
  /** Of the join, if it was sealed. */
  joinMac?: string | undefined;
  /** Told at each welcome by what the host is known over HTTPS, where its certificate is not seen. */
  onWelcome?: (bearer: string | undefined) => void;
  /** Opens the socket in place of `tls.connect`: for hosts that share what TLS costs, or whose network is pretended. */
  connect?: (options: ConnectionOptions) => Socket;
  /** Waited for before a further connect, nothing = now: for thousands of hosts that share a machine. */
  waitForConnectSlot?: () => Promise<void> | undefined;
  /** Opens the WebSocket itself, in place of all of the above: for a network that is a queue in memory. */
  openWebSocket?: () => WebSocket;
}

/** Begins to connect; how it comes out, the socket's events tell. */
export function openSocket(target: LinkTarget): WebSocket {
  if (target.openWebSocket) return target.openWebSocket();
  const { url, ca, key, certificate } = target;
  const trusting = ca
    ? (options: ConnectionOptions) => connectTrusting(options, { ca, certificate })
    : undefined;
  const connect = target.connect ?? trusting;
  return new WebSocket(url, SUBPROTOCOL, {
    ...(ca ? { ca } : {}),
    ...(key && certificate ? { key, cert: certificate } : {}),
    // Declared with all of net.connect's forms; it is called with options alone.
    ...(connect ? { createConnection: connect as typeof createConnection } : {}),
    headers: headersOf(target),
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    skipUTF8Validation: true,
  });
}

function headersOf({ key, certificate, joinMac }: LinkTarget): Record<string, string> {
  return {
    ...(key && certificate ? { [CERTIFICATE_HEADER]: derOf(certificate) } : {}),
    ...(joinMac ? { [JOIN_MAC_HEADER]: joinMac } : {}),
  };
}

/** The one certificate of a PEM text, DER in base64. */
function derOf(certificate: string): string {
  return new X509Certificate(certificate).raw.toString('base64');
}
