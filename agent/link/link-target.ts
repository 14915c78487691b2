/** Address and credentials of an agent's link, and how its WebSocket is opened. */
import { X509Certificate } from 'node:crypto';
import type { createConnection, Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { WebSocket } from 'ws';
import { dialThrough, type OpenTunnel } from '../../shared/link/forward-proxy/proxy-tunnel.js';
import { CERTIFICATE_HEADER } from '../../shared/link/key-proof.js';
import { limitConnectTime } from '../../shared/link/limit-connect-time.js';
import { LINK_PROTOCOL } from '../../shared/link/link-features.js';
import { JOIN_MAC_HEADER, MAX_FRAME_BYTES, SUBPROTOCOL } from '../../shared/link/messages/link-messages.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { CoordinatorAddresses } from './coordinator-addresses.js';
import { connectTrusting } from './server-trust.js';

/** Timeout from the first packet to the answer of the upgrade. */
const HANDSHAKE_TIMEOUT_MS = 15_000;

/** ALPN protocol for a server that does not recognise links. */
const HTTP_1 = 'http/1.1';

/** Read again at each connect. */
export interface LinkTarget {
  /** `wss://HOST:PORT/link`. */
  url: string;
  /** The addresses to try in turn; `url` is the current one. Absent: `url` is the only one. */
  addresses?: CoordinatorAddresses;
  /** PEM of the only trusted certificate authorities. */
  ca?: string | undefined;
  /** PEM of the host's key and of its certificate. */
  key?: string | undefined;
  certificate?: string | undefined;
  /** The fleet for which the host proves its key; absent: no proof is sent. */
  clusterUID?: string | undefined;
  node?: string | undefined;
  /** The coordinator's MAC over the join, if it made one. */
  joinMac?: string | undefined;
  /** Called at each welcome with the bearer token for HTTPS, if a proxy hides the host's certificate. */
  onWelcome?: (bearer: string | undefined) => void;
  /** Replaces `tls.connect`: for hosts that share TLS contexts, or whose network is simulated. */
  connect?: (options: ConnectionOptions) => Socket;
  /** Opens the tunnel through an HTTP proxy; absent: this host needs none. */
  tunnel?: OpenTunnel | undefined;
  /** Awaited before a reconnect; undefined: connect now. Limits thousands of simulated hosts on one machine. */
  waitForConnectSlot?: () => Promise<void> | undefined;
  /** Replaces everything above: for a network that is a queue in memory. */
  openWebSocket?: () => WebSocket;
}

/** Starts to connect; the socket's events report the result. */
export function openSocket(target: LinkTarget, clock: Clock): WebSocket {
  if (target.openWebSocket) return target.openWebSocket();
  const { url, addresses, ca, key, certificate, tunnel } = target;
  const { connectTimeoutMs, handshakeTimeoutMs } = addresses ?? {};
  const trusting = ca
    ? (options: ConnectionOptions) => connectTrusting(options, { ca, certificate })
    : undefined;
  const dial = target.connect ?? trusting;
  const connect =
    dial &&
    ((options: ConnectionOptions) => {
      const socket = dial({ ...options, ALPNProtocols: [LINK_PROTOCOL, HTTP_1] });
      // A tunnel is connected, and its time was limited.
      if (!options.socket) limitConnectTime(socket, clock, connectTimeoutMs);
      return limitConnectTime(socket, clock, handshakeTimeoutMs, 'secureConnect');
    });
  return new WebSocket(url, SUBPROTOCOL, {
    ...(ca ? { ca } : {}),
    ...(key && certificate ? { key, cert: certificate } : {}),
    ...(connect ? { createConnection: createConnectionOf(tunnel, connect, connectTimeoutMs) } : {}),
    headers: headersOf(target),
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    skipUTF8Validation: true,
  });
}

/** The type declares all overloads of net.connect; http calls it with options and a callback. */
function createConnectionOf(...args: Parameters<typeof dialThrough>): typeof createConnection {
  return dialThrough(...args) as unknown as typeof createConnection;
}

function headersOf({ key, certificate, joinMac }: LinkTarget): Record<string, string> {
  return {
    ...(key && certificate ? { [CERTIFICATE_HEADER]: derOf(certificate) } : {}),
    ...(joinMac ? { [JOIN_MAC_HEADER]: joinMac } : {}),
  };
}

/** Returns the certificate of a PEM text as DER in base64. */
function derOf(certificate: string): string {
  return new X509Certificate(certificate).raw.toString('base64');
}
