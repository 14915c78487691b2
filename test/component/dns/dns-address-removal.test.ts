/** The DNS server's address on the loopback device, in a network of its own: other agents of this machine use it too. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { CLUSTER_DNS_ADDRESS, DNS_PORT } from '../../../shared/kube/services/cluster-dns.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { whyNoNamespaces } from '../../harness/netfilter/namespace-network.js';

const MODULE = resolve(import.meta.dirname, '../../../agent/dns/serving/host-network.js');

/** Prints whether the address exists: after it was created, while a server uses it, and after the server has stopped. */
const PROGRAM = `
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { ensureDnsAddress, removeDnsAddress } from ${JSON.stringify(MODULE)};
const exists = () => (networkInterfaces().lo ?? []).some(({ address }) => address === '${CLUSTER_DNS_ADDRESS}');
await ensureDnsAddress();
const found = [exists()];
const server = createSocket('udp4');
server.bind(${DNS_PORT}, '${CLUSTER_DNS_ADDRESS}');
await once(server, 'listening');
found.push(await removeDnsAddress(), exists());
server.close();
await once(server, 'close');
found.push(await removeDnsAddress(), exists(), await removeDnsAddress());
console.log(JSON.stringify(found));
`;

test('the address of the DNS server is removed unless another agent serves there', (context) => {
  const why = whyNoNamespaces();
  if (why !== undefined) return leaveOut(context, 'the address of the DNS server', why);
  const node = [process.execPath, '--input-type=module', '--eval', PROGRAM];
  const command = ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...node];
  const printed = execFileSync('unshare', command, { encoding: 'utf8' });
  assert.deepEqual(JSON.parse(printed), [true, false, true, true, false, true]);
});
