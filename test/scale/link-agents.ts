/** The agents' process of `link-floor`: real links with nothing behind them, or bare sockets. */
import { WebSocket } from 'ws';
import { Link } from '../../agent/link/link.js';
import { SUBPROTOCOL } from '../../shared/link/messages.js';
import { steadyClock, systemClock } from '../../shared/process/clock.js';
import { silentLogger } from '../../shared/process/log.js';
import { BenchAgent } from '../harness/hub-bench.js';

interface Order {
  mode: 'bare' | 'link';
  url: string;
  agents: number;
}

function connect({ mode, url }: Order, node: string): void {
  const credential = `${'s'.repeat(43)}.${node}`;
  if (mode === 'bare') {
    const headers = { authorization: `Bearer ${credential}` };
    const socket = new WebSocket(url, SUBPROTOCOL, { headers, perMessageDeflate: false });
    socket.on('error', (error) => process.stderr.write(`${error.message}\n`));
    return;
  }
  const link = new Link({
    target: { url, credential },
    identity: { node, bootID: 'b', instanceID: `${node}-${process.pid}`, agentVersion: '0.1.0' },
    agent: new BenchAgent({}),
    clock: steadyClock(systemClock),
    log: silentLogger,
    random: Math.random,
  });
  link.start();
}

process.on('message', (order: Order) => {
  for (let index = 0; index < order.agents; index++) connect(order, `n${index}`);
});
process.send?.('ready');
