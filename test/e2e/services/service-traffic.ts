/**
 * Traffic to a Service while a test disturbs the host: a steady connection, new connections and DNS queries. The program
 * runs in the client Pod or on the host, because a test process blocks while it runs commands.
 */
import assert from 'node:assert/strict';
import { untilPasses } from '../../harness/basics/wait-until.js';
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
  /** DNS queries of which only the repetition was answered. */
  lostQueries: number;
}

/** How long clients wait: glibc asks twice, for 5 s each. */
const ATTEMPT_MS = 5_000;
const PATIENCE_MS = 2 * ATTEMPT_MS;

/**
 * Arguments: FILE ADDRESS PORT NAME. Prints `started` after the first success of each kind. Ends when FILE exists, and
 * prints the result.
 */
const PROGRAM = `
const { existsSync } = require('node:fs');
const { connect } = require('node:net');
const { createSocket } = require('node:dgram');
const [, , stop, address, port, name] = process.argv;
const tally = () => ({ good: 0, bad: [], longestMs: 0, last: performance.now() });
const all = { steady: tally(), connections: tally(), answers: tally(), lostQueries: 0 };
let isStarted = false;
const succeeded = (each) => {
  each.good += 1;
  if (!isStarted && all.steady.good && all.connections.good && all.answers.good) console.log('started');
  isStarted ||= all.steady.good > 0 && all.connections.good > 0 && all.answers.good > 0;
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
// With another id. The server answers in order, so a late reply to the first query arrives first.
const repetition = Buffer.from(query);
repetition[1] = 8;
const ask = () => new Promise((resolve) => {
  const socket = createSocket('udp4');
  const end = (error) => { clearTimeout(again); clearTimeout(timer); socket.close(); error ? failed(all.answers, error) : succeeded(all.answers); resolve(); };
  const again = setTimeout(() => socket.send(repetition), ${ATTEMPT_MS});
  const timer = setTimeout(end, ${PATIENCE_MS}, new Error('timeout'));
  socket.on('error', end).on('message', (reply) => {
    if (reply[1] === 8) all.lostQueries += 1;
    end(reply[3] % 16 === 0 && reply[7] > 0 ? undefined : new Error('rcode ' + reply[3] % 16 + ' answers ' + reply[7]));
  });
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

/**
 * Starts the traffic from the client Pod or from the host itself. Resolves when all kinds of it have succeeded once. The
 * function that it resolves with ends it.
 */
export async function startTraffic(
  host: TestHost,
  from: 'Pod' | 'host',
  { address, port, name }: Target,
): Promise<() => Promise<Traffic>> {
  runs += 1;
  const base = `${SHARED_FOLDER}/traffic-${runs}`;
  const output = `${base}.json`;
  host.write(`${base}.cjs`, PROGRAM);
  const [id = ''] = containersOf(host, 'client');
  const command = `/usr/local/bin/node ${base}.cjs ${base}.stop ${address} ${port} ${name}`;
  const inPod = from === 'Pod' ? `${engineOf(host)} exec ${id} ` : '';
  host.runDetached('sh', '-c', `${inPod}${command} >${output} 2>&1`);
  assert.equal((await fileOf(host, output)).trim(), 'started');
  return async () => {
    host.run('touch', `${base}.stop`);
    let result = '';
    await untilPasses(async () => {
      const text = await fileOf(host, output);
      result = text.replace('started', '').trim();
      assert.notEqual(result, '');
    });
    return JSON.parse(result) as Traffic;
  };
}

/** Returns the figures of a report line. */
export function figuresOf({ lostQueries, ...tallies }: Traffic): string {
  const figures = Object.entries(tallies)
    .map(([kind, each]: [string, Tally]) => {
      const reasons = [...new Set(each.bad)].join(' ');
      return `${kind} ${each.good} good, ${each.bad.length} bad ${reasons}, longest pause ${each.longestMs} ms`;
    })
    .join('; ');
  return `${figures}; ${lostQueries} queries lost`;
}
