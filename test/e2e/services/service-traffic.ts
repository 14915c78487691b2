/**
 * Traffic to a Service while a test disturbs the host: a steady connection, new connections and DNS queries. The program
 * runs in the client Pod or on the host, because a test process blocks while it runs commands.
 */
import type { TestHost } from '../../harness/hosts/test-hosts.js';
import { containersOf } from '../../harness/hosts/two-hosts-fixture.js';
import { DNS_ADDRESS, engineOf, fileOf, SHARED_FOLDER } from './two-host-clients.js';

/** Successes, failures, and the longest time between two successes in ms. */
interface Tally {
  good: number;
  bad: string[];
  longestMs: number;
}

export interface Traffic {
  /** Echoes of one connection. */
  steady: Tally;
  connections: Tally;
  answers: Tally;
}

/** How long clients wait: glibc asks twice, for 5 s each. */
const PATIENCE_MS = 10_000;

/** Arguments: FILE ADDRESS PORT NAME. Ends when FILE.stop exists, and prints the result. */
const PROGRAM = `
const { existsSync } = require('node:fs');
const { connect } = require('node:net');
const { createSocket } = require('node:dgram');
const [, , stop, address, port, name] = process.argv;
const tally = () => ({ good: 0, bad: [], longestMs: 0, last: performance.now() });
const all = { steady: tally(), connections: tally(), answers: tally() };
const succeeded = (each) => {
  each.good += 1;
  each.longestMs = Math.max(each.longestMs, Math.round(performance.now() - each.last));
  each.last = performance.now();
};
const failed = (each, error) => { if (each.bad.length < 1000) each.bad.push(error.code || error.message); };
const steady = connect(port, address).setNoDelay();
steady.on('data', () => succeeded(all.steady)).on('error', (error) => failed(all.steady, error));
steady.on('end', () => failed(all.steady, new Error('closed')));
const connectOnce = () => new Promise((resolve) => {
  const socket = connect({ port, host: address });
  const end = (error) => { socket.destroy(); error ? failed(all.connections, error) : succeeded(all.connections); resolve(); };
  socket.setTimeout(${PATIENCE_MS}, () => end(new Error('timeout')));
  socket.on('error', end).on('connect', () => socket.write('x')).on('data', () => end());
});
const labels = name.split('.').map((each) => Buffer.from([each.length, ...Buffer.from(each)]));
const query = Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...Buffer.concat(labels), 0, 0, 1, 0, 1]);
const ask = () => new Promise((resolve) => {
  const socket = createSocket('udp4');
  const end = (error) => { clearTimeout(timer); socket.close(); error ? failed(all.answers, error) : succeeded(all.answers); resolve(); };
  const timer = setTimeout(end, ${PATIENCE_MS}, new Error('timeout'));
  socket.on('error', end).on('message', (reply) => end(reply[3] % 16 === 0 && reply[7] > 0 ? undefined : new Error('rcode ' + reply[3] % 16 + ' answers ' + reply[7])));
  socket.connect(53, '${DNS_ADDRESS}', () => socket.send(query));
});
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
const repeat = async (work) => { while (!existsSync(stop)) { await work(); await pause(); } };
Promise.all([repeat(connectOnce), repeat(ask), repeat(() => void steady.write('x'))]).then(() => {
  console.log(JSON.stringify(all));
  process.exit(0);
});
`;

let runs = 0;

interface Target {
  address: string;
  port: number;
  name: string;
}

/** Starts the traffic from the client Pod or from the host itself. The function that it returns ends it. */
export function startTraffic(
  host: TestHost,
  from: 'Pod' | 'host',
  { address, port, name }: Target,
): () => Promise<Traffic> {
  runs += 1;
  const base = `${SHARED_FOLDER}/traffic-${runs}`;
  host.write(`${base}.cjs`, PROGRAM);
  const [id = ''] = containersOf(host, 'client');
  const command = `/usr/local/bin/node ${base}.cjs ${base}.stop ${address} ${port} ${name}`;
  const inPod = from === 'Pod' ? `${engineOf(host)} exec ${id} ` : '';
  host.runDetached('sh', '-c', `${inPod}${command} >${base}.json 2>&1`);
  return async () => {
    host.run('touch', `${base}.stop`);
    const text = await fileOf(host, `${base}.json`);
    return JSON.parse(text) as Traffic;
  };
}

/** Returns the figures of a report line. */
export function figuresOf(traffic: Traffic): string {
  return Object.entries(traffic)
    .map(([kind, each]: [string, Tally]) => {
      const reasons = [...new Set(each.bad)].join(' ');
      return `${kind} ${each.good} good, ${each.bad.length} bad ${reasons}, longest pause ${each.longestMs} ms`;
    })
    .join('; ');
}
