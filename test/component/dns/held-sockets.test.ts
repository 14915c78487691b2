/** Sockets that another process holds, like systemd: queries wait while the server is restarted. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
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

test('queries over UDP and TCP that arrive while the server does not run are answered by the next one', async () => {
  const udp = createSocket('udp4').bind(0, '127.0.0.1');
  await once(udp, 'listening');
  const server = udp.address();
  const tcp = createServer().listen(server.port, '127.0.0.1');
  await once(tcp, 'listening');
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
    const message = queryMessage('web.default.svc.cluster.local', 'A');
    assert.equal((await askOverUdp(server, message)).answers?.length, 1);
    process.kill(pids()[0] ?? 0, 'SIGKILL');
    const [overUdp, [overTcp]] = await Promise.all([
      askOverUdp(server, message),
      askOverTcp(server, message),
    ]);
    assert.equal(pids().length, 2);
    assert.deepEqual([overUdp.answers?.length, overTcp?.answers?.length], [1, 1]);
  } finally {
    // The holder ends with its second server.
    holder.kill('SIGKILL');
    for (const pid of pids().slice(1)) process.kill(pid, 'SIGKILL');
  }
});
