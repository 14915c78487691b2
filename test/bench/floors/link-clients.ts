/**
 * Agents that only respond: plain `ws` over the hosts' shared TLS. They connect on an IPC message and exit with the IPC
 * channel.
 */
import { createSecureContext } from 'node:tls';
import { pack } from 'msgpackr';
import { WebSocket } from 'ws';
import { ResumingTls } from '../../../agent/link/resuming-tls.js';
import { SimulatedHostNetwork } from '../../../agent/simulate/simulated-host-network.js';
import { HEARTBEAT_INTERVAL_MS } from '../../../shared/link/messages/link-messages.js';
import { systemClock } from '../../../shared/process/time/clock.js';

export interface ClientsOrder {
  port: number;
  ca: string;
  agents: number;
}

const CONNECTING_AT_ONCE = 32;
const SOCKETS_AN_ADDRESS = 400;

async function connectAll({ port, ca, agents }: ClientsOrder): Promise<void> {
  const tls = new ResumingTls(createSecureContext({ ca }));
  const left = Array.from({ length: agents }, (_, index) => index).values();
  const connect = async (): Promise<void> => {
    for (const index of left) await open(port, tls, index);
  };
  await Promise.all(Array.from({ length: CONNECTING_AT_ONCE }, connect));
  process.send?.('connected');
}

function open(port: number, tls: ResumingTls, index: number): Promise<void> {
  const address = `127.2.0.${Math.floor(index / SOCKETS_AN_ADDRESS) + 1}`;
  const network = new SimulatedHostNetwork(tls, systemClock, address);
  const socket = new WebSocket(`wss://127.0.0.1:${port}/link`, {
    createConnection: ((options: object) => network.connect(options)) as never,
    perMessageDeflate: false,
    skipUTF8Validation: true,
  });
  const answer = pack({ kind: 'status', id: 1, text: 'x'.repeat(30) });
  socket.on('message', () => socket.send(answer));
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => {
      setTimeout(
        () => setInterval(() => socket.ping(), HEARTBEAT_INTERVAL_MS),
        Math.random() * HEARTBEAT_INTERVAL_MS,
      );
      resolve();
    });
  });
}

process.on('message', (order: ClientsOrder) => void connectAll(order));
process.on('disconnect', () => process.exit(0));
