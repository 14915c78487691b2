/** Sockets that another process holds, like systemd: queries wait while the server is restarted. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Nameserver } from '../../../agent/dns/forwarding/host-nameservers.js';
import { openUdpAndTcp } from '../../harness/basics/test-sockets.js';
import { until } from '../../harness/basics/wait-until.js';
import { askOverTcp, askOverUdp, queryMessage } from '../../harness/dns/dns-client.js';

const DNS_PROCESS = fileURLToPath(new URL('../../harness/dns/dns-process.js', import.meta.url));
/** Holds the sockets as descriptors 3 and 4, and starts the server again when it has ended. */
const HOLDER = `for round in 1 2; do
  LISTEN_FDS=2 sh -c 'echo pid $$; LISTEN_PID=$$ exec "$@"' sh "$@" & wait $!
done`;

function descriptorOf(socket: unknown): number {
  return (socket as { _handle: { fd: number } })._handle.fd;
}

/** Runs the server twice, one after the other. `pids`: of the servers that have been started. */
async function withHolder(
  body: (server: Nameserver, holder: { output: () => string; pids: () => number[] }) => Promise<void>,
): Promise<void> {
  const { udp, tcp } = await openUdpAndTcp();
  const { port } = udp.address();
  const command = ['-c', HOLDER, 'sh', process.execPath, DNS_PROCESS, '', '127.0.0.1:1'];
  const holder = spawn('sh', command, {
    stdio: ['ignore', 'pipe', 'ignore', descriptorOf(udp), descriptorOf(tcp)],
  });
  udp.close();
  tcp.close();
  let output = '';
  holder.stdout?.on('data', (bytes: Buffer) => {
    output += String(bytes);
  });
  const pids = () => [...output.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
  try {
    await until(() => output.includes('serving'), { what: 'the first server' });
    await body({ address: '127.0.0.1', port }, { output: () => output, pids });
  } finally {
    // The holder ends with its second server.
    holder.kill('SIGKILL');
    for (const pid of pids().filter((each) => existsSync(`/proc/${each}`))) process.kill(pid, 'SIGKILL');
  }
}

/** Returns the bytes in the receive queue of the datagram socket with this port. */
function waitingBytes(port: number): number {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = readFileSync('/proc/net/udp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const [, , , , queues = ':0'] = sockets.find(([, local]) => local?.endsWith(end)) ?? [];
  return Number.parseInt(queues.split(':')[1] ?? '', 16);
}

const QUERY = queryMessage('web.default.svc.cluster.local', 'A');

test('queries over UDP and TCP that arrive while the server does not run are answered by the next one', async () => {
  await withHolder(async (server, { pids }) => {
    assert.equal((await askOverUdp(server, QUERY)).answers?.length, 1);
    process.kill(pids()[0] ?? 0, 'SIGKILL');
    const [overUdp, [overTcp]] = await Promise.all([askOverUdp(server, QUERY), askOverTcp(server, QUERY)]);
    assert.equal(pids().length, 2);
    assert.deepEqual([overUdp.answers?.length, overTcp?.answers?.length], [1, 1]);
  });
});

test('queries that arrive between the stop of the server and the end of its process are answered by the next one', async () => {
  await withHolder(async (server, { output, pids }) => {
    assert.equal((await askOverUdp(server, QUERY)).answers?.length, 1);
    const [first = 0] = pids();
    process.kill(first, 'SIGUSR2');
    await until(() => output().includes('stopped'), { what: 'the stop' });
    const replies = Promise.all([askOverUdp(server, QUERY), askOverTcp(server, QUERY)]);
    await until(() => waitingBytes(server.port) > 0, { what: 'a query that waits in the kernel' });
    process.kill(first, 'SIGKILL');
    const [overUdp, [overTcp]] = await replies;
    assert.deepEqual([overUdp.answers?.length, overTcp?.answers?.length], [1, 1]);
  });
});
