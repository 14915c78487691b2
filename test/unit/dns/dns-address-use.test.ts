/** Whether another agent serves the cluster DNS, as the kernel lists sockets in /proc/net/udp. */
import assert from 'node:assert/strict';
import { endianness } from 'node:os';
import { test } from 'node:test';
import { isServedBy } from '../../../agent/dns/serving/host-network.js';

const ADDRESS = endianness() === 'LE' ? '3514FEA9' : 'A9FE1435';
const lineOf = (local: string): string =>
  `  sl  local_address rem_address   st\n  372: ${local} 00000000:0000 07 00000000:00000000 00:00000000\n`;

test('a socket at the address and port of the cluster DNS is found, others are not', () => {
  for (const [local, isServed] of [
    [`${ADDRESS}:0035`, true],
    [`${ADDRESS}:0036`, false],
    ['0100007F:0035', false],
    ['00000000:0035', false],
  ] as const)
    assert.equal(isServedBy(lineOf(local)), isServed, local);
});
