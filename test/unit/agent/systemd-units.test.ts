/** Limits that the systemd units set for the two programs. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CLUSTER_DNS_ADDRESS, DNS_PORT } from '../../../shared/kube/services/cluster-dns.js';

const UNITS = readdirSync('systemd').filter((name) => name.endsWith('.service'));

test('there are units for the agent and the coordinator', () => {
  for (const name of ['everynode-agent.service', 'everynode-coordinator.service'])
    assert.ok(UNITS.includes(name));
});

for (const unit of UNITS) {
  test(`${unit} writes no core dump, which would contain keys and Secrets`, () => {
    const [, service = ''] = readFileSync(join('systemd', unit), 'utf8').split('\n[Service]\n');
    assert.match(service, /^LimitCORE=0$/m);
  });
}

test('the socket of the cluster DNS has the address that Pods are given, in the order that the agent expects', () => {
  const unit = readFileSync('systemd/everynode-agent-dns.socket', 'utf8');
  const listens = unit.split('\n').filter((line) => line.startsWith('Listen'));
  const address = `${CLUSTER_DNS_ADDRESS}:${DNS_PORT}`;
  assert.deepEqual(listens, [`ListenDatagram=${address}`, `ListenStream=${address}`]);
  assert.match(unit, /^FreeBind=yes$/m);
  assert.match(unit, /^Service=everynode-agent\.service$/m);
});

test('the agent may create the address of the cluster DNS and use its port', () => {
  const unit = readFileSync('systemd/everynode-agent.service', 'utf8');
  assert.doesNotMatch(unit, /CapabilityBoundingSet=~.*CAP_NET_(ADMIN|BIND_SERVICE)/);
  assert.match(unit, /^RestrictAddressFamilies=.*AF_NETLINK/m);
});
