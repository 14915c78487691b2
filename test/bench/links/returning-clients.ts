/**
 * Hosts that repeatedly connect with a certificate and disconnect at once, with or without a TLS session ticket. Runs
 * as a process that takes orders over IPC and exits with the IPC channel.
 */
import { WebSocket } from 'ws';
import { ResumingTls } from '../../../agent/link/resuming-tls.js';
import { SimulatedHostNetwork } from '../../../agent/simulate/simulated-host-network.js';
import { LINK_PATH, SUBPROTOCOL } from '../../../shared/link/messages/link-messages.js';
import { systemClock } from '../../../shared/process/time/clock.js';

/** Certificate and key for the TLS handshake. */
export interface HostCertificate {
  key: string;
  certificate: string;
}

export type ClientsOrder =
  | { kind: 'hosts'; hosts: readonly HostCertificate[] }
  /** All hosts connect once; `withTickets`: hosts with a session ticket for that port use it. */
  | { kind: 'visit'; port: number; ca: string; withTickets: boolean };

/** Result of a visit. */
export interface Visit {
  ms: number;
  resumed: number;
}

const CONNECTING_AT_ONCE = 32;
const SOCKETS_AN_ADDRESS = 400;

let hosts: readonly HostCertificate[] = [];
/** TLS sessions by port, then by host. */
const sessions = new Map<number, ResumingTls[]>();

async function visitAll({ port, ca, withTickets }: ClientsOrder & { kind: 'visit' }): Promise<Visit> {
  if (!withTickets || !sessions.has(port))
    sessions.set(
      port,
      hosts.map(() => new ResumingTls()),
    );
  const tls = sessions.get(port) ?? [];
  const left = hosts.entries();
  let resumed = 0;
  const visit = async (): Promise<void> => {
    for (const [index, host] of left) {
      if (await visitOnce(port, ca, host, tls[index] ?? new ResumingTls(), index)) resumed += 1;
    }
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: CONNECTING_AT_ONCE }, visit));
  return { ms: performance.now() - startMs, resumed };
}

/**
 * Resolves when the server has admitted the host and the host has disconnected. Returns whether the TLS session was
 * resumed.
 */
function visitOnce(
  port: number,
  ca: string,
  { key, certificate }: HostCertificate,
  tls: ResumingTls,
  index: number,
): Promise<boolean> {
  const address = `127.3.0.${Math.floor(index / SOCKETS_AN_ADDRESS) + 1}`;
  const network = new SimulatedHostNetwork(tls, systemClock, address);
  let isResumed = false;
  const socket = new WebSocket(`wss://127.0.0.1:${port}${LINK_PATH}`, SUBPROTOCOL, {
    ...{ ca, key, cert: certificate },
    createConnection: ((options: object) => {
      const connection = network.connect(options);
      connection.once('secureConnect', () => {
        isResumed = (connection as unknown as { isSessionReused(): boolean }).isSessionReused();
      });
      return connection;
    }) as never,
    perMessageDeflate: false,
  });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => socket.close());
    socket.on('close', () => resolve(isResumed));
  });
}

process.on('message', (order: ClientsOrder) => {
  if (order.kind === 'hosts') {
    hosts = order.hosts;
    process.send?.({ ms: 0, resumed: 0 } satisfies Visit);
  } else void visitAll(order).then((visit) => process.send?.(visit));
});
process.on('disconnect', () => process.exit(0));
